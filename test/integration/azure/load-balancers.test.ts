import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { type AzureInput, balancerID, loadBalancerArguments, publicIPID } from '../../../providers/azure/load-balancers/arguments';
import { entriesOf } from '../../../providers/azure/load-balancers/entries';
import { frontendNameOf } from '../../../providers/azure/load-balancers/names';
import { loadBalancer, type LoadBalancerInputs } from '../../../providers/azure/resources/load-balancer';
import { OwnedResource } from '../../../providers/azure/resources/owned-resource';
import { TAG } from '../../../providers/azure/tags';
import type { Target } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';
import type { ArmServer } from '../../harness/arm/arm-server';
import { partsIn, type Resource } from '../../harness/arm/resource';
import { clientOf, LOCATION, networkID, startScene } from '../../harness/arm/scene';
import { balancer, HTTP, HTTPS, NODES, place } from '../../unit/azure/balancer-scene';

const UDP = { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 };
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] };
const INTERNAL = { scheme: 'Internal' };

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const MARKS = { [TAG.clusterID]: CLUSTER, [TAG.resource]: 'kubernetes', [TAG.stack]: 's' };
const remarks: string[] = [];
const update: UpdateContext = {
  stack: 's',
  clusterID: CLUSTER,
  countCall: () => undefined,
  assertValid: () => undefined,
  remark: (text) => remarks.push(text),
};
const context = { urn: 'urn:x', name: 'kubernetes', signal: new AbortController().signal };

describe('azure-native:network:LoadBalancer', () => {
  let server: ArmServer;
  let client: ArmClient;

  beforeEach(async () => {
    server = await startScene();
    client = clientOf(server);
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const rows: [string, AzureInput[]][] = [
    ['one', [balancer(1)]],
    ['several with the same ports', [balancer(1, { listeners: [HTTP, HTTPS] }), balancer(2, { listeners: [HTTP, HTTPS] }), balancer(3)]],
    ['two protocols on one port', [balancer(1, { listeners: [UDP, { ...HTTP, port: 53 }] })]],
    ['both families', [balancer(1, DUAL), balancer(2, DUAL)]],
    ['without floating IP', [balancer(1, {}, { floatingIP: false }), balancer(2)]],
    [
      'trafficPolicy Local',
      [balancer(1, { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 31000 }, listeners: [HTTP, UDP] })],
    ],
    [
      'internal ones',
      [balancer(1, INTERNAL), balancer(2, { ...INTERNAL, ...DUAL }), balancer(3, { ...INTERNAL, addresses: ['10.0.0.77'] })],
    ],
    ['all ports', [balancer(1, { ...INTERNAL, listeners: [HTTP, HTTPS] }, { allPorts: true })]],
    ['SCTP', [balancer(1, { ...INTERNAL, listeners: [{ name: 's', protocol: 'SCTP', port: 9, nodePort: 30009 }] })]],
    [
      'a long idle timeout and slow probes',
      [balancer(1, {}, { idleTimeoutMinutes: 100, probe: { intervalSeconds: 59, threshold: 2, protocol: 'HTTPS' } })],
    ],
    ['two generations of one', [balancer(1), { ...balancer(1), generation: 1 }]],
  ];

  test.each(rows)('%s: made, read as it was set, and right as it is', async (_name, inputs) => {
    await makeAddresses(inputs);
    const wanted = wantedOf(inputs);
    const { id, outputs } = await type().create(wanted, context);
    expect(id).toBe(balancerID(place()));
    expect(await type().read(id, context)).toEqual({ inputs: wanted, outputs });
    server.calls.length = 0;
    await type().update(id, outputs, wanted, context);
    expect(server.calls.map(({ method }) => method)).toEqual(['GET']);
    await type().delete(id, context, outputs);
    expect(server.cloud.find(id)).toBeUndefined();
  });

  test('one Service more, less or otherwise is one write; the others keep every byte', async () => {
    const [first, second] = [balancer(1), balancer(2, INTERNAL)];
    await makeAddresses([first]);
    const { id, outputs } = await type().create(wantedOf([first]), context);
    server.calls.length = 0;
    const more = await type().update(id, outputs, wantedOf([first, second]), context);
    expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    const address = partsIn(server.cloud.find(id), 'frontendIPConfigurations').at(-1)?.properties.privateIPAddress;
    const third = balancer(3, INTERNAL);
    await type().update(id, more.outputs, wantedOf([third, second]), context);
    const frontends = partsIn(server.cloud.find(id), 'frontendIPConfigurations');
    expect(frontends.map(({ name }) => name)).toEqual([frontendNameOf(second, 'IPv4'), frontendNameOf(third, 'IPv4')]);
    expect(frontends[0]?.properties.privateIPAddress).toBe(address);
  });

  test('one Node more is one write, and nothing but its pool', async () => {
    const wanted = wantedOf([balancer(1, INTERNAL)]);
    const { id, outputs } = await type().create(wanted, context);
    const before = server.cloud.find(id)?.properties;
    const node = { nodeName: 'node-3', providerID: 'azure:///node-3', addresses: ['10.0.0.3'] };
    server.calls.length = 0;
    await type().update(id, outputs, wantedOf([balancer(1, INTERNAL)], [...NODES, node]), context);
    expect(server.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    const after = server.cloud.find(id);
    expect(partsIn(after, 'backendAddressPools')[0]?.properties.loadBalancerBackendAddresses).toHaveLength(3);
    expect(partsIn(after, 'loadBalancingRules').map(({ properties }) => properties)).toEqual(
      (before?.loadBalancingRules as unknown as { properties: object }[]).map(({ properties }) => properties),
    );
  });

  test('parts of others stay, whatever becomes of ours, and with them the load balancer', async () => {
    const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]), context);
    const subnet = { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') };
    server.cloud.tamper(id, (resource) => {
      add(resource, 'frontendIPConfigurations', {
        name: 'theirs',
        properties: { subnet, privateIPAllocationMethod: 'Dynamic', privateIPAddress: '10.0.0.200' },
      });
      add(resource, 'backendAddressPools', { name: 'theirs', properties: {} });
    });
    const fewer = await type().update(id, outputs, wantedOf([balancer(2, INTERNAL)]), context);
    expect(partsIn(server.cloud.find(id), 'frontendIPConfigurations').map(({ name }) => name)).toEqual([
      'theirs',
      frontendNameOf(balancer(2, INTERNAL), 'IPv4'),
    ]);
    expect((await type().read(id, context))?.inputs).toEqual(wantedOf([balancer(2, INTERNAL)]));
    await type().delete(id, context, fewer.outputs);
    const left = server.cloud.find(id);
    expect(partsIn(left, 'frontendIPConfigurations')).toMatchObject([{ name: 'theirs', properties: { privateIPAddress: '10.0.0.200' } }]);
    expect(partsIn(left, 'loadBalancingRules')).toEqual([]);
    expect(left?.tags).toEqual({});
  });

  test('one that is there without any marks is joined: its parts and tags stay, and it stays when ours go, also with none', async () => {
    const id = balancerID(place());
    const theirs = { location: LOCATION, sku: { name: 'Standard' }, tags: { team: 'net' } };
    await client.put(id, { ...theirs, properties: { backendAddressPools: [{ name: 'outbound', properties: {} }] } });
    const { outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
    expect(server.cloud.find(id)?.tags).toMatchObject({ team: 'net', [TAG.clusterID]: CLUSTER });
    expect(await type().read(id, context)).toEqual({ inputs: wantedOf([balancer(1, INTERNAL)]), outputs });
    const more = await type().update(id, outputs, wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]), context);
    expect(partsIn(server.cloud.find(id), 'backendAddressPools').map(({ name }) => name)).toEqual(['outbound', 'kubernetes']);
    server.cloud.tamper(id, ({ properties }) => {
      properties.backendAddressPools = (properties.backendAddressPools as JsonObject[]).filter(({ name }) => name !== 'outbound');
    });
    await type().delete(id, context, more.outputs);
    const left = server.cloud.find(id);
    expect(left?.tags).toEqual({ team: 'net' });
    expect(
      ['frontendIPConfigurations', 'backendAddressPools', 'loadBalancingRules', 'probes'].flatMap((list) => partsIn(left, list)),
    ).toEqual([]);
    await type().delete(id, context, more.outputs);
    expect(server.cloud.find(id)).toBeDefined();
  });

  test('the tags of one that is joined stay where ours have more keys than one value lists, at every write', async () => {
    const id = balancerID(place());
    const ours = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a-rather-long-key-of-a-tag-${index}`, 'x']));
    const wanted = (...inputs: AzureInput[]): JsonObject => ({ ...wantedOf(inputs), tags: { ...MARKS, ...ours } });
    await client.put(id, { location: LOCATION, sku: { name: 'Standard' }, tags: { team: 'net' }, properties: {} });
    let { outputs } = await type().create(wanted(balancer(1, INTERNAL)), context);
    for (const number of [2, 3]) {
      ({ outputs } = await type().update(id, outputs, wanted(balancer(1, INTERNAL), balancer(number, INTERNAL)), context));
      expect(server.cloud.find(id)?.tags).toMatchObject({ team: 'net', ...ours });
      expect((await type().read(id, context))?.inputs.tags).toEqual({ ...MARKS, ...ours });
    }
    await type().delete(id, context, outputs);
    expect(server.cloud.find(id)?.tags).toEqual({ team: 'net' });
  });

  test('of rules that lead to somebody’s pool one goes, though Azure names them all in that pool', async () => {
    const theirs = { preConfiguredPools: 'All' as const };
    const wanted = (...numbers: number[]): JsonObject => {
      const inputs = numbers.map((number) => balancer(number, INTERNAL));
      return { ...(JSON.parse(JSON.stringify(loadBalancerArguments(inputs, [], place(theirs)))) as JsonObject), tags: MARKS };
    };
    const balancers = new OwnedResource(loadBalancer(place().subscriptionID, { clusterName: 'kubernetes', ...theirs }), client, update);
    const properties = { backendAddressPools: [{ name: 'kubernetes', properties: {} }] };
    await client.put(balancerID(place()), { location: LOCATION, sku: { name: 'Standard' }, properties });
    const { id, outputs } = await balancers.create(wanted(1, 2), context);
    const fewer = await balancers.update(id, outputs, wanted(1), context);
    expect(partsIn(server.cloud.find(id), 'loadBalancingRules')).toHaveLength(1);
    await balancers.delete(id, context, fewer.outputs);
    expect(partsIn(server.cloud.find(id), 'backendAddressPools').map(({ name }) => name)).toEqual(['kubernetes']);
  });

  test('two who write at the same time lose nothing of each other', async () => {
    const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
    const both = wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]);
    server.cloud.operations.takesMs = 20;
    await Promise.all([type().update(id, outputs, both, context), ...['x', 'y'].map((name) => addPool(id, name))]);
    expect(server.calls.some(({ status }) => status === 412)).toBe(true);
    expect(remarks.every((text) => text.includes(`has written ${id} at the same time`))).toBe(true);
    const found = server.cloud.find(id);
    expect(
      partsIn(found, 'backendAddressPools')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['kubernetes', 'x', 'y']);
    expect(partsIn(found, 'frontendIPConfigurations')).toHaveLength(2);
  });

  test('a delete that leaves parts of others survives lost answers, and is done once', async () => {
    const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
    await addPool(id, 'theirs');
    server.lost = { verb: 'update', times: 1 };
    await type().delete(id, context, outputs);
    await type().delete(id, context, outputs);
    expect(partsIn(server.cloud.find(id), 'backendAddressPools').map(({ name }) => name)).toEqual(['theirs']);
  });

  describe('what others, or upstream, have set', () => {
    const outbound = (id: string) => ({
      name: 'theirs',
      properties: {
        protocol: 'All',
        backendAddressPool: { id: `${id}/backendAddressPools/kubernetes` },
        frontendIPConfigurations: [{ id: `${id}/frontendIPConfigurations/theirs` }],
      },
    });
    const theirFrontend = {
      name: 'theirs',
      properties: { subnet: { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') }, privateIPAllocationMethod: 'Dynamic' },
    };
    const names = (id: string, list: string): string[] => partsIn(server.cloud.find(id), list).map(({ name }) => name);
    const addresses = (id: string): unknown =>
      partsIn(server.cloud.find(id), 'backendAddressPools').map(({ properties }) =>
        (properties.loadBalancerBackendAddresses as JsonObject[]).map(({ properties: one }) => (one as JsonObject).ipAddress),
      );

    test('of our own parts stays when they are written: zones of frontends, another load balancer before them, states of addresses', async () => {
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
      const network = { id: networkID('virtualNetworks', 'net') };
      server.cloud.tamper(id, (resource) => {
        const [frontend] = partsIn(resource, 'frontendIPConfigurations');
        Object.assign(frontend!, { zones: ['1', '2', '3'] });
        Object.assign(frontend!.properties, { gatewayLoadBalancer: { id: frontend!.id } });
        const [pool] = partsIn(resource, 'backendAddressPools');
        const all = ['10.0.0.1', '10.0.0.2'].map((ipAddress) => ({
          name: `their ${ipAddress}`,
          properties: { ipAddress, adminState: 'Down' },
        }));
        Object.assign(pool!.properties, { virtualNetwork: network, loadBalancerBackendAddresses: all });
      });
      await type().update(id, outputs, wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]), context);
      const [frontend, another] = partsIn(server.cloud.find(id), 'frontendIPConfigurations');
      expect(frontend).toMatchObject({ zones: ['1', '2', '3'], properties: { gatewayLoadBalancer: { id: frontend?.id } } });
      expect(another).not.toHaveProperty('zones');
      expect(partsIn(server.cloud.find(id), 'backendAddressPools')).toMatchObject([
        {
          properties: {
            virtualNetwork: network,
            loadBalancerBackendAddresses: [
              { name: 'node-1', properties: { ipAddress: '10.0.0.1', adminState: 'Down' } },
              { name: 'node-2', properties: { ipAddress: '10.0.0.2', adminState: 'Down' } },
            ],
          },
        },
      ]);
      expect((await type().read(id, context))?.inputs).toEqual(wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]));
    });

    test('stays also where nobody keeps to If-None-Match: what is there is read before it is made', async () => {
      const id = balancerID(place());
      const theirs = {
        location: LOCATION,
        sku: { name: 'Standard' },
        properties: { backendAddressPools: [{ name: 'outbound', properties: {} }] },
      };
      await client.put(id, theirs);
      server.calls.length = 0;
      await type().create(wantedOf([balancer(1, INTERNAL)]), context);
      expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    });

    test('but what we have set of it goes when it is not wanted any more', async () => {
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
      await type().update(id, outputs, wantedOf([balancer(1, INTERNAL, { ports: [{ port: 80, probe: false }] })]), context);
      expect(partsIn(server.cloud.find(id), 'loadBalancingRules')[0]?.properties).not.toHaveProperty('probe');
    });

    test('of the load balancer stays: pools of NAT rules', async () => {
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
      const pool = {
        name: 'ssh',
        properties: { protocol: 'Tcp', frontendPortRangeStart: 50000, frontendPortRangeEnd: 50010, backendPort: 22 },
      };
      server.cloud.tamper(id, (resource) => add(resource, 'inboundNatPools', pool));
      const more = await type().update(id, outputs, wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]), context);
      expect(names(id, 'inboundNatPools')).toEqual(['ssh']);
      await type().delete(id, context, more.outputs);
      expect(names(id, 'inboundNatPools')).toEqual(['ssh']);
    });

    test('a pool that an outbound rule of somebody’s leads to stays with its Nodes, and with it the load balancer', async () => {
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL)]), context);
      server.cloud.tamper(id, (resource) => {
        add(resource, 'frontendIPConfigurations', theirFrontend);
        add(resource, 'outboundRules', outbound(id));
      });
      await type().delete(id, context, outputs);
      expect(
        ['frontendIPConfigurations', 'backendAddressPools', 'loadBalancingRules', 'outboundRules'].map((list) => names(id, list)),
      ).toEqual([['theirs'], ['kubernetes'], [], ['theirs']]);
      expect(addresses(id)).toEqual([['10.0.0.1', '10.0.0.2']]);
      await type().delete(id, context, outputs);
      expect(names(id, 'backendAddressPools')).toEqual(['kubernetes']);
    });

    test('likewise while others of ours stay; a pool that nobody needs any more goes, though no state has it', async () => {
      const six = balancer(2, { ...INTERNAL, ipFamilies: ['IPv6'] });
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL), six]), context);
      server.cloud.tamper(id, (resource) => {
        add(resource, 'frontendIPConfigurations', theirFrontend);
        add(resource, 'outboundRules', outbound(id));
      });
      const fewer = await type().update(id, outputs, wantedOf([six]), context);
      expect(names(id, 'backendAddressPools')).toEqual(['kubernetes', 'kubernetes-IPv6']);
      expect(addresses(id)).toEqual([
        ['10.0.0.1', '10.0.0.2'],
        ['fd00::1', 'fd00::2'],
      ]);
      server.cloud.tamper(id, ({ properties }) => {
        properties.outboundRules = [];
      });
      await type().update(
        id,
        fewer.outputs,
        wantedOf([six, balancer(3, { ...INTERNAL, ipFamilies: ['IPv6'], listeners: [HTTPS] })]),
        context,
      );
      expect(names(id, 'backendAddressPools')).toEqual(['kubernetes-IPv6']);
    });

    test('a frontend of ours that a NAT rule of somebody’s leads from stays while that does', async () => {
      const { id, outputs } = await type().create(wantedOf([balancer(1, INTERNAL), balancer(2, INTERNAL)]), context);
      const frontend = frontendNameOf(balancer(1, INTERNAL), 'IPv4');
      const frontendIPConfiguration = { id: `${id}/frontendIPConfigurations/${frontend}` };
      server.cloud.tamper(id, (resource) =>
        add(resource, 'inboundNatRules', {
          name: 'ssh',
          properties: { protocol: 'Tcp', frontendPort: 22, backendPort: 22, frontendIPConfiguration },
        }),
      );
      await type().update(id, outputs, wantedOf([balancer(2, INTERNAL)]), context);
      expect(names(id, 'frontendIPConfigurations')).toContain(frontend);
      expect(names(id, 'loadBalancingRules')).toHaveLength(1);
    });
  });

  /** Somebody else, who also writes under the etag. */
  async function addPool(id: string, name: string): Promise<void> {
    for (;;) {
      const has = await client.get<{ etag: string; sku: object; tags: object; properties: JsonObject }>(id);
      const pools = (has?.properties.backendAddressPools ?? []) as JsonObject[];
      const properties = { ...has?.properties, backendAddressPools: [...pools, { name, properties: {} }] };
      const body = { location: LOCATION, sku: has?.sku, tags: has?.tags, properties };
      const done = await client.put(id, body, { only: { etag: has?.etag ?? '' } }).then(
        () => true,
        () => false,
      );
      if (done || partsIn(server.cloud.find(id), 'backendAddressPools').some((pool) => pool.name === name)) return;
    }
  }

  function type(): OwnedResource<LoadBalancerInputs> {
    return new OwnedResource(loadBalancer(place().subscriptionID, { clusterName: 'kubernetes' }), client, update);
  }

  function wantedOf(inputs: AzureInput[], nodes: Target[] = NODES): JsonObject {
    return { ...(JSON.parse(JSON.stringify(loadBalancerArguments(inputs, nodes, place()))) as JsonObject), tags: MARKS };
  }

  async function makeAddresses(inputs: AzureInput[]): Promise<void> {
    for (const entry of inputs.flatMap((input) => entriesOf(input, place()))) {
      if (entry.kind === 'Private') continue;
      const properties = { publicIPAddressVersion: entry.family };
      await client.put(publicIPID(entry, place()), { location: LOCATION, sku: { name: 'Standard' }, properties });
    }
  }
});

function add(resource: Resource, list: string, part: { name: string; properties: JsonObject }): void {
  const whole = { id: `${resource.id}/${list}/${part.name}`, etag: 'x', ...part };
  resource.properties[list] = [...(resource.properties[list] as JsonObject[]), whole];
}
