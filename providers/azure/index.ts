import type { CloudProviderSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import { canonicalJson } from '../../operator/base/json';
import type { Cloud, ConnectContext, DiscoveredResource, ProviderModule } from '../provider';
import { kindsOf } from '../stack-kinds';
import { AzureAdoption } from './adopt';
import { compile } from './annotations/annotations';
import { ArmClient } from './client/arm-client';
import { AzureAccount } from './config/account';
import { discover, release, type DiscoveryScope } from './discover';
import { AzureLoadBalancers } from './load-balancers/load-balancers';
import { locationOf, networkSubscriptionOf, securityGroupIDOf, type AzureScope } from './load-balancers/scope';
import { AzureInstances } from './nodes/instances';
import { PROVIDER_ID_SCHEME } from './nodes/provider-id';
import { linkGroupsOf } from './private-links/links';
import { loadBalancer } from './resources/load-balancer';
import { LINK_SERVICE, privateLinkService } from './resources/private-link-service';
import { publicIPAddress } from './resources/public-ip-address';
import { discoverRoutes } from './routes/discover-routes';
import { AzureRoutes, routeTableIDOf } from './routes/routes';
import { discoverRules } from './security-groups/discover-rules';
import { overruledKeys, reservedKeys, twinKeys } from './tags';
import { AzureVolumes } from './volumes';
import type { WorkerSettings } from './worker-settings';

/** The provider of Azure, the operator's half. Load balancers have no members path: their stacks carry the Nodes. */
export const azureProvider: ProviderModule = {
  kind: 'azure',
  providerIDScheme: PROVIDER_ID_SCHEME,
  programVersion: '1',
  compile,
  accountOf,
  connect,
};

/** Azure counts calls of a subscription by who makes them. */
function accountOf({ azure }: CloudProviderSpec): string | undefined {
  if (azure === undefined) return undefined;
  const { cloud, resourceManagerEndpoint: endpoint = cloud, tenantID = '', networkTenantID = '', subscriptionID, credentials = {} } = azure;
  return canonicalJson([
    endpoint,
    tenantID,
    networkTenantID,
    subscriptionID.toLowerCase(),
    networkSubscriptionOf(azure).toLowerCase(),
    credentials,
  ]);
}

async function connect(spec: CloudProviderSpec, context: ConnectContext): Promise<Cloud> {
  const { azure: settings, region } = spec;
  if (settings === undefined) throw new OperatorError('Invalid', 'the CloudProvider has no block spec.azure', { field: 'spec.azure' });
  if (region === undefined) {
    const remedy = 'Set spec.region, such as westeurope (azure.json: location).';
    throw new OperatorError('Invalid', `nothing says in which region the cluster is. ${remedy}`, { field: 'spec.region', remedy });
  }
  const [problem] = [
    ...reservedKeys(settings.tags).map((key) => `the key ${key} is reserved. Remove it.`),
    ...twinKeys(settings.tags).map(({ message }) => message),
  ];
  if (problem !== undefined) throw new OperatorError('Invalid', `spec.azure.tags: ${problem}`, { field: 'spec.azure.tags' });
  const account = await AzureAccount.open(settings, context);
  const arm = new ArmClient(account.clientOptions());
  const scope: AzureScope = { clusterID: context.clusterID, location: locationOf(region), settings };
  const adoption = new AzureAdoption(arm, scope);
  const { subscriptionID, resourceGroup, nodeResourceGroups = [], clusterName, preConfiguredPools } = settings;
  return {
    withoutEffect: overruledKeys(settings.tags).map(({ message }) => `spec.azure.tags: ${message}`),
    loadBalancers: new AzureLoadBalancers(scope),
    instances: new AzureInstances(arm, { subscriptionID, resourceGroups: [resourceGroup, ...nodeResourceGroups] }),
    routes: new AzureRoutes(scope),
    volumes: new AzureVolumes(arm, subscriptionID),
    adoptable: (stack, input, from, id) => adoption.adoptable({ stack, input, from, id }),
    discover: (stacks) => discoverAll(arm, scope, stacks),
    release: (stack, isValid) =>
      release(arm, discoveryScope(scope), stack, () => {
        if (!isValid()) throw new OperatorError('Canceled', `stack ${stack} is not released: nothing may be written to the cloud now`);
      }),
    workerSettings: () => {
      const { resourceManager, audience, token } = account;
      const worker = {
        resourceManager,
        audience,
        networkSubscriptionID: networkSubscriptionOf(settings),
        clusterName,
      } satisfies WorkerSettings;
      return {
        ...worker,
        ...(preConfiguredPools !== undefined && { preConfiguredPools }),
        ...(token !== undefined && { token: token.value, expiresAt: token.expiresAt }),
      };
    },
    prepareUpdate: () => account.ensure(),
    renewCredentials: () => account.renew(),
    close: () => arm.close(),
  };
}

/** What bears marks, and the route table and the security group with what is ours in them, as far as the stacks can be about it. */
async function discoverAll(
  arm: ArmClient,
  scope: AzureScope,
  stacks: readonly string[] | undefined,
): Promise<Map<string, DiscoveredResource[]>> {
  const { loadBalancers, routes } = kindsOf(stacks);
  const [found, ...parts] = await Promise.all([
    loadBalancers ? discover(arm, discoveryScope(scope), stacks) : new Map<string, DiscoveredResource[]>(),
    routes ? discoverRoutes(arm, routeTableIDOf(scope.settings), stacks ?? []) : [],
    loadBalancers ? discoverRules(arm, securityGroupIDOf(scope.settings), stacks ?? []) : [],
  ]);
  for (const { stack, resource } of parts.flat()) found.set(stack, [...(found.get(stack) ?? []), resource]);
  return found;
}

function discoveryScope({ clusterID, settings }: AzureScope): DiscoveryScope {
  const subscriptionID = networkSubscriptionOf(settings);
  const { resourceGroup, loadBalancerResourceGroup = resourceGroup } = settings;
  return {
    subscriptionID,
    clusterID,
    types: [
      { description: publicIPAddress(subscriptionID), armType: 'Microsoft.Network/publicIPAddresses', resourceGroups: [resourceGroup] },
      {
        description: loadBalancer(subscriptionID, settings),
        armType: 'Microsoft.Network/loadBalancers',
        resourceGroups: [loadBalancerResourceGroup],
      },
      // Where all pools are ours there can't be any: who has none needs no permission for them either.
      ...(settings.preConfiguredPools === undefined
        ? []
        : [{ description: privateLinkService(subscriptionID), armType: LINK_SERVICE, resourceGroups: linkGroupsOf(settings) }]),
    ],
  };
}
