import type { JsonObject } from '../../../operator/base/json';
import { azureProviderSettings } from '../../../crds';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { discover } from '../../../providers/azure/discover';
import { AzureLoadBalancers } from '../../../providers/azure/load-balancers/load-balancers';
import type { RenderedStack } from '../../../providers/azure/load-balancers/render';
import type { RenderedLink } from '../../../providers/azure/private-links/links';
import { OwnedResource, type CommonInputs, type OwnedDescription } from '../../../providers/azure/resources/owned-resource';
import { PartOfResource } from '../../../providers/azure/resources/part-of-resource';
import { LINK_SERVICE, privateLinkService, type PrivateLinkServiceInputs } from '../../../providers/azure/resources/private-link-service';
import { StandingLinks } from '../../../providers/azure/resources/standing-links';
import { subnetPolicy } from '../../../providers/azure/resources/subnet-policy';
import { TAG } from '../../../providers/azure/tags';
import type { UpdateContext } from '../../../providers/worker-module';
import type { ArmServer } from '../../harness/arm/arm-server';
import { partsIn } from '../../harness/arm/resource';
import { clientOf, connect, GROUP, LOCATION, networkID, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { balancer } from '../../unit/azure/balancer-scene';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const BALANCER = networkID('loadBalancers', 'kubernetes-internal');
const update: UpdateContext = { stack: 's', clusterID: CLUSTER, countCall: () => undefined, assertValid: () => undefined };
const contextOf = (name: string) => ({ urn: `urn:${name}`, name, signal: new AbortController().signal });
const serviceID = (name: string): string => networkID('privateLinkServices', name);
const ALL = {
  subnetName: 'links',
  addressCount: 3,
  addresses: ['10.0.2.20', '10.0.2.10'],
  fqdns: ['b.example', 'a.example'],
  proxyProtocol: true,
  visibility: ['*'],
  autoApproval: ['aaaaaaaa-0000-4000-8000-000000000000'],
};

/** As the program of a stack gets them, with the load balancer that they stand on. */
function rendered(...privateLinks: object[]): RenderedLink[] {
  const settings = azureProviderSettings.parse({
    subscriptionID: SUBSCRIPTION,
    resourceGroup: GROUP,
    vnetName: 'net',
    subnetName: 'links',
    preConfiguredPools: 'All',
  });
  const loadBalancers = new AzureLoadBalancers({ clusterID: CLUSTER, location: LOCATION, settings });
  const inputs = privateLinks.map((privateLink, index) => balancer(index + 1, { scheme: 'Internal' }, { privateLink }));
  const stack = loadBalancers.render('s', inputs) as unknown as RenderedStack;
  return stack.balancers[0]?.links?.services ?? [];
}

function inputsOf({ name, subnetID: _subnetID, tags, ...inputs }: RenderedLink): JsonObject {
  const wanted: PrivateLinkServiceInputs = { ...inputs, tags: { ...tags, [TAG.resource]: name } };
  return wanted as unknown as JsonObject;
}

describe('azure-native:network:PrivateLinkService', () => {
  let server: ArmServer;
  let client: ArmClient;

  beforeEach(async () => {
    server = await startScene();
    client = clientOf(server, { budgetMs: 5_000 });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const type = () => new OwnedResource(privateLinkService(SUBSCRIPTION), client, update);
  const standing = () => new StandingLinks(type(), client, SUBSCRIPTION, update);

  /** Makes the frontends of them. */
  function seedFrontends(links: readonly RenderedLink[]): void {
    const names = links.flatMap((one) => one.loadBalancerFrontendIpConfigurations.map(({ id }) => id.split('/').at(-1)));
    const subnet = { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') };
    const frontendIPConfigurations = names.map((name) => ({ name, properties: { subnet } }));
    server.cloud.seed(BALANCER, { location: LOCATION, sku: { name: 'Standard' }, properties: { frontendIPConfigurations } });
  }

  async function make(...privateLinks: object[]): Promise<{ name: string; id: string; inputs: JsonObject; outputs: JsonObject }[]> {
    const links = rendered(...privateLinks);
    seedFrontends(links);
    const made = [];
    for (const link of links) {
      const inputs = inputsOf(link);
      made.push({ name: link.name, inputs, ...(await type().create(inputs, contextOf(link.name))) });
    }
    return made;
  }

  test.each<[string, object]>([
    ['one of which nothing is said', {}],
    ['one of which all is said', { ...ALL, name: 'shop' }],
  ])('%s: made, read and discovered as it was set, and right as it is', async (_name, privateLink) => {
    const [made] = await make(privateLink);
    const { name, id, inputs, outputs } = made!;
    expect(outputs).toEqual({ ...inputs, alias: expect.stringContaining(`${LOCATION}.azure.privatelinkservice`) as string });
    expect(await type().read(id, contextOf(name))).toEqual({ inputs, outputs });
    const description = privateLinkService(SUBSCRIPTION) as unknown as OwnedDescription<CommonInputs>;
    const types = [{ description, armType: LINK_SERVICE, resourceGroups: [GROUP] }];
    const found = await discover(client, { subscriptionID: SUBSCRIPTION, clusterID: CLUSTER, types });
    expect(found.get('s')).toMatchObject([{ name, id, inputs, outputs }]);
    server.calls.length = 0;
    await type().update(id, outputs, inputs, contextOf(name));
    expect(server.calls.map(({ method }) => method)).toEqual(['GET']);
    await type().delete(id, contextOf(name), outputs);
    expect(server.cloud.find(id)).toBeUndefined();
  });

  test('a change is one write, which leaves the connections to it, and what others have set', async () => {
    const [made] = await make({});
    const { name, id, outputs } = made!;
    connect(server.cloud, id);
    server.cloud.tamper(id, ({ properties }) => void (properties.accessMode = 'Restricted'));
    server.calls.length = 0;
    const wanted = inputsOf({ ...rendered(ALL)[0]!, name });
    await type().update(id, outputs, wanted, contextOf(name));
    expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    expect(partsIn(server.cloud.find(id), 'privateEndpointConnections')).toHaveLength(1);
    expect(server.cloud.find(id)?.properties.accessMode).toBe('Restricted');
    const written = Object.keys((server.calls.at(-1)?.body?.properties ?? {}) as JsonObject);
    expect(written.filter((key) => ['alias', 'privateEndpointConnections', 'provisioningState'].includes(key))).toEqual([]);
  });

  test('cloud-provider-azure#2125: connections to it go before it', async () => {
    const [made] = await make({});
    connect(server.cloud, made!.id);
    server.calls.length = 0;
    await type().delete(made!.id, contextOf(made!.name), made!.outputs);
    expect(server.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
      `${made!.id}/privateEndpointConnections/endpoint`,
      made!.id,
    ]);
    expect(server.cloud.find(made!.id)).toBeUndefined();
  });

  test('somebody else’s is let alone', async () => {
    const [link] = rendered({ name: 'shop' });
    seedFrontends([link!]);
    server.cloud.seed(serviceID('shop'), { location: LOCATION, tags: { 'k8s-azure-owner-service': 'demo/other' }, properties: {} });
    const refused = type().create(inputsOf(link!), contextOf('shop'));
    await expect(refused).rejects.toMatchObject({ code: 'Conflict', message: expect.stringContaining('Service demo/other') as string });
  });

  describe('those that stand on a load balancer', () => {
    const inputs = (...links: { name: string; id: string }[]): JsonObject => ({
      loadBalancerId: BALANCER,
      links: links.map(({ name, id }) => ({ name, id })),
      resourceGroups: [GROUP],
    });
    const names = () => server.cloud.all().flatMap(({ type: of, name }) => (/privateLinkServices$/i.test(of) ? [name] : []));

    test('one that leaves is deleted, with what is connected to it; what stays is not looked at', async () => {
      const [stays, leaves] = await make({ name: 'stays' }, { name: 'leaves' });
      const { id, outputs } = await standing().create(inputs(stays!, leaves!), contextOf('links'));
      connect(server.cloud, leaves!.id);
      server.calls.length = 0;
      const wanted = inputs({ ...stays!, id: stays!.id.toUpperCase() });
      expect(await standing().update(id, outputs, wanted, contextOf('links'))).toEqual({ outputs: wanted });
      expect(names()).toEqual(['stays']);
      expect(server.calls.filter(({ path }) => path.endsWith('/stays'))).toEqual([]);
      await standing().delete();
      await standing().update(id, wanted, inputs(), contextOf('links'));
      expect(names()).toEqual([]);
    });

    test('of a stack without a state, those that are not wanted go too; others’ and those on other load balancers stay', async () => {
      const [stays] = await make({ name: 'stays' }, { name: 'leaves' }, { name: 'theirs' }, { name: 'elsewhere' });
      server.cloud.tamper(serviceID('theirs'), ({ tags = {} }) => void (tags[TAG.stack] = 't'));
      server.cloud.tamper(serviceID('elsewhere'), ({ properties }) => {
        const [frontend] = properties.loadBalancerFrontendIpConfigurations as { id: string }[];
        frontend!.id = frontend!.id.replace('kubernetes-internal', 'other');
      });
      await standing().create(inputs(stays!), contextOf('links'));
      expect(names()).toEqual(['stays', 'theirs', 'elsewhere']);
    });
  });

  describe('the policy of a subnet', () => {
    const nodes = networkID('virtualNetworks', 'net', 'subnets', 'nodes');
    const policy = () => new PartOfResource(subnetPolicy, client, update);
    const switchOff = (subnetId: string) => policy().create({ subnetId }, contextOf('policy'));
    const policyOf = (name: string): unknown =>
      partsIn(server.cloud.find(networkID('virtualNetworks', 'net')), 'subnets').find((one) => one.name === name)?.properties
        .privateLinkServiceNetworkPolicies;

    test('is switched off where it is on, beside everything else of the subnet, and stays so', async () => {
      await switchOff(nodes);
      expect(policyOf('nodes')).toBe('Disabled');
      const [subnet] = partsIn(server.cloud.find(networkID('virtualNetworks', 'net')), 'subnets').filter(({ name }) => name === 'nodes');
      expect(subnet?.properties.addressPrefixes).toEqual(['10.0.0.0/24', 'fd00::/64']);
      server.calls.length = 0;
      await switchOff(nodes);
      await policy().delete(nodes, contextOf('policy'), { subnetId: nodes });
      expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'GET']);
      expect(policyOf('nodes')).toBe('Disabled');
    });

    test('of a subnet that is not there, or that may not be written, is theirs who name it', async () => {
      const isTheirs = { code: 'Invalid', message: expect.stringContaining('spec.azure.privateLink.subnetName') as string };
      await expect(switchOff(networkID('virtualNetworks', 'net', 'subnets', 'absent'))).rejects.toMatchObject(isTheirs);
      server.cloud.locks.set(GROUP, 'ReadOnly');
      await expect(switchOff(nodes)).rejects.toMatchObject(isTheirs);
    });
  });
});
