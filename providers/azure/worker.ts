import { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import { OWN_PACKAGE } from '../resource-provider/own-package';
import type { ResourceProvider } from '../resource-provider/resource-provider';
import type { UpdateContext, WorkerModule } from '../worker-module';
import { ArmClient } from './client/arm-client';
import { pluginEndpoint } from './config/plugin-endpoint';
import { program } from './program';
import { resourceTypes } from './resources';
import { loadBalancersOf } from './served';
import { parseWorkerSettings } from './worker-settings';

/** Of the official package whose types are served; the state names it for every resource. */
export const AZURE_NATIVE_VERSION = '3.28.0';
const OWN_VERSION = '1.0.0';

/** The provider of Azure, the workers' half. */
export const workerModule: WorkerModule = { program, resourceProviders, loadBalancersOf, hasOfficialPlugin: true, pluginEndpoint };

/** A client for each update, with the token of that update. */
function resourceProviders(settings: JsonObject, context: UpdateContext): ResourceProvider[] {
  const { resourceManager, token, ...place } = parseWorkerSettings(settings);
  const arm = new ArmClient({
    resourceManager,
    token: () => {
      if (token !== undefined) return Promise.resolve(token);
      return Promise.reject(new OperatorError('Credentials', 'the update came without a token for Azure'));
    },
    onCall: (verb) => context.countCall(verb),
    ...(context.calls !== undefined && { calls: context.calls }),
  });
  const { official, own } = resourceTypes(arm, place, context);
  return [
    { package: 'azure-native', version: AZURE_NATIVE_VERSION, types: official },
    { package: OWN_PACKAGE, version: OWN_VERSION, types: own },
  ];
}
