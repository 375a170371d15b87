import { ArmClient, type ArmClientOptions } from '../../../providers/azure/client/arm-client';
import { AzureTokens } from '../../../providers/azure/client/tokens';
import { ArmServer, type ArmServerOptions } from './arm-server';
import type { ArmCloud } from './cloud';
import type { Application } from './identity';
import { partFrom } from './resource';

export const SUBSCRIPTION = '11111111-2222-4333-8444-555555555555';
export const GROUP = 'cluster';
export const LOCATION = 'westeurope';

/** Who calls in most tests. */
export const OPERATOR: Application = { tenantID: 'tenant', clientID: 'operator', secret: 'secret' };

/** The id of a network resource of the scene, or of a part of one. */
export function networkID(...path: string[]): string {
  return `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Network/${path.join('/')}`;
}

/** The id of a machine, or of what is below a scale set. */
export function computeID(...path: string[]): string {
  return `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Compute/${path.join('/')}`;
}

/** A subscription with a resource group, and in it a network of three subnets: `nodes` with room, `small` for three, and `links` for Private Link. */
export async function startScene(options: Partial<ArmServerOptions> = {}): Promise<ArmServer> {
  const server = new ArmServer({ resourceGroups: [GROUP], applications: [OPERATOR], ...options });
  await server.start();
  const subnets = [
    { name: 'nodes', properties: { addressPrefixes: ['10.0.0.0/24', 'fd00::/64'] } },
    { name: 'small', properties: { addressPrefix: '10.0.1.0/29' } },
    { name: 'links', properties: { addressPrefix: '10.0.2.0/24', privateLinkServiceNetworkPolicies: 'Disabled' } },
  ];
  server.cloud.seed(networkID('virtualNetworks', 'net'), { location: LOCATION, properties: { subnets } });
  return server;
}

/** Somebody's private endpoint connects to a Private Link Service. */
export function connect(cloud: ArmCloud, service: string, name = 'endpoint'): void {
  cloud.tamper(service, ({ properties }) => {
    properties.privateEndpointConnections = [partFrom(`${service}/privateEndpointConnections`, { name })] as never;
  });
}

/** A client as the operator makes it, with tokens for the scene's application. */
export function clientOf(server: ArmServer, options: Partial<ArmClientOptions> = {}): ArmClient {
  const { tenantID, clientID, secret: clientSecret = '' } = OPERATOR;
  const tokens = new AzureTokens({ credentials: { kind: 'ClientSecret', tenantID, clientID, clientSecret }, endpoints: server.endpoints });
  return new ArmClient({
    resourceManager: server.endpoints.resourceManager,
    token: async () => (await tokens.token()).value,
    refused: (token) => tokens.forget(token),
    ...options,
  });
}
