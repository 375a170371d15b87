import type { JsonObject } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';
import type { PluginEndpoint, PluginVariable } from '../../worker-module';
import { endpointsOf } from '../client/clouds';
import { IdentityEndpoint } from '../client/identity-endpoint';
import { parseWorkerSettings, type WorkerSettings } from '../worker-settings';

/** The plugin's own names of clouds (pulumi.com, Azure Native, Installation & Configuration: `environment`), by their resource managers. */
const ENVIRONMENTS = new Map([
  [endpointsOf('AzurePublicCloud').resourceManager, 'public'],
  [endpointsOf('AzureChinaCloud').resourceManager, 'china'],
  [endpointsOf('AzureUSGovernmentCloud').resourceManager, 'usgovernment'],
]);

/**
 * WorkerModule.pluginEndpoint: the official plugin takes no token, but it asks a managed identity for one. It is told that the operator has such an identity,
 * and gets the token of the update there: whatever the operator's own credentials are, they come neither into this process nor into the plugin's.
 * @throws OperatorError Credentials without a token
 */
export async function pluginEndpoint(settings: JsonObject): Promise<PluginEndpoint> {
  const { token, expiresAt, resourceManager, audience, networkSubscriptionID } = parseWorkerSettings(settings);
  if (token === undefined || expiresAt === undefined) throw new OperatorError('Credentials', 'the update came without a token for Azure');
  const resources = [resourceManager, ...(audience === undefined ? [] : [audience])];
  const identity = new IdentityEndpoint({ token: { value: token, expiresAt }, resources });
  const url = await identity.listen();
  const variables: PluginVariable[] = [
    { name: 'ARM_SUBSCRIPTION_ID', value: networkSubscriptionID },
    { name: 'ARM_USE_MSI', value: 'true' },
    cloudOf(resourceManager),
    { name: 'IDENTITY_ENDPOINT', value: url },
    { name: 'IDENTITY_HEADER', value: identity.header, secret: true },
  ];
  return { variables, secrets: [token], close: () => identity.close() };
}

/** Another cloud than the plugin knows by name says itself where everything is. */
function cloudOf(resourceManager: WorkerSettings['resourceManager']): PluginVariable {
  const environment = ENVIRONMENTS.get(resourceManager);
  if (environment !== undefined) return { name: 'ARM_ENVIRONMENT', value: environment };
  return { name: 'ARM_METADATA_HOSTNAME', value: new URL(resourceManager).host };
}
