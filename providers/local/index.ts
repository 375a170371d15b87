import type { CloudProviderSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { Cloud, ConnectContext, ProviderModule } from '../provider';
import { adoptable } from './adopt';
import { compile } from './annotations';
import { LocalCloudClient } from './client';
import { discover } from './discover';
import { LocalInstances } from './instances';
import { LocalLoadBalancers } from './load-balancers';
import { LocalMembers } from './members';
import { PROVIDER_ID_SCHEME } from './provider-id';
import { LocalRoutes } from './routes';
import { release } from './release';
import { readToken } from './token';
import { LocalVolumes } from './volumes';

/** Name of the operator in the local cloud's call counts; the workers' is `cloud-operator-update`. */
const CALLER = 'cloud-operator';

/** The provider of the local cloud, the operator's half. */
export const localProvider: ProviderModule = {
  kind: 'local',
  providerIDScheme: PROVIDER_ID_SCHEME,
  programVersion: '1',
  compile,
  connect,
};

async function connect(spec: CloudProviderSpec, context: ConnectContext): Promise<Cloud> {
  const settings = spec.local;
  if (settings === undefined) throw new OperatorError('Invalid', 'the CloudProvider has no block spec.local', { field: 'spec.local' });
  let token = await readToken(settings, context);
  const renewToken = async (): Promise<string> => (token = await readToken(settings, context));
  const { calls } = context;
  const client = new LocalCloudClient({
    endpoint: settings.endpoint,
    token: renewToken,
    caller: CALLER,
    ...(calls !== undefined && { calls }),
  });
  return {
    loadBalancers: new LocalLoadBalancers(context),
    members: new LocalMembers(client, context.clusterID),
    instances: new LocalInstances(client, context.clusterID),
    routes: new LocalRoutes(context.clusterID),
    volumes: new LocalVolumes(client, context.clusterID),
    discover: (stacks) => discover(client, context.clusterID, stacks),
    // What was taken over is known here by its own mark alone (OwnedResource.keep).
    adoptable: (stack, input, from, id) =>
      adoptable(client, { clusterID: context.clusterID, stack, input, id, ...(from !== 'Itself' && { from }) }),
    release: (stack, isValid) => release(client, { clusterID: context.clusterID, stack }, isValid),
    workerSettings: () => ({ endpoint: settings.endpoint, token }),
    renewCredentials: async () => {
      const before = token;
      await renewToken();
      client.forgetToken();
      return token !== before;
    },
    close: () => client.close(),
  };
}
