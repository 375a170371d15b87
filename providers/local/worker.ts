import type { JsonObject } from '../../operator/base/json';
import { OperatorError } from '../../operator/base/errors';
import type { ResourceProvider } from '../resource-provider/resource-provider';
import type { UpdateContext, WorkerModule } from '../worker-module';
import { LocalCloudClient } from './client';
import { program } from './program';
import { resourceTypes } from './resources';
import { loadBalancersOf } from './served';

/** Name of the workers in the local cloud's call counts. */
const CALLER = 'cloud-operator-update';
/** Of the Pulumi package; the state names it for every resource. */
const PACKAGE_VERSION = '1.0.0';

/** The provider of the local cloud, the workers' half. */
export const workerModule: WorkerModule = { program, resourceProviders, loadBalancersOf };

/** One client for each update, with the credentials of that update. */
function resourceProviders(settings: JsonObject, context: UpdateContext): ResourceProvider[] {
  const { endpoint, token } = settings;
  if (typeof endpoint !== 'string' || typeof token !== 'string') {
    throw new OperatorError('Invalid', 'the settings of the local cloud must have endpoint and token');
  }
  const client = new LocalCloudClient({
    endpoint,
    token: () => Promise.resolve(token),
    caller: CALLER,
    onCall: (verb) => context.countCall(verb),
    ...(context.calls !== undefined && { calls: context.calls }),
  });
  return [{ package: 'local', version: PACKAGE_VERSION, types: resourceTypes(client, context) }];
}
