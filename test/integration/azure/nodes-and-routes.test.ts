import { NODES } from '../../../operator/kube/object';
import { partsIn } from '../../harness/arm/resource';
import { computeID, GROUP, LOCATION, networkID } from '../../harness/arm/scene';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { seedMachine } from './machines';
import { AzureScene } from './operator-scene';

const TABLE = networkID('routeTables', 'rt');
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const FIREWALL = { name: 'firewall', properties: { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' } };
/** What an earlier controller has left for a Node that comes. */
const EARLIER = {
  name: 'n1____198181024',
  properties: { addressPrefix: '198.18.1.0/24', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.3.1' },
};

describe('Nodes and routes of an operator with a subscription of Azure', () => {
  let azure: AzureScene;

  beforeAll(async () => {
    azure = await AzureScene.start(
      { resourceGroups: [GROUP, 'other'] },
      {
        flags: [
          ...['--cluster-cidr=198.18.0.0/16', '--route-reconciliation-period=1s'],
          ...['--node-monitor-period=500ms', '--node-deletion-grace=1s'],
        ],
        azureJson: { routeTableName: 'rt', routeUpdateWaitingInSeconds: 2 },
      },
    );
    azure.arm.cloud.seed(TABLE, { location: LOCATION, tags: { team: 'net' }, properties: { routes: [FIREWALL, EARLIER] } });
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => azure.stop());

  /** Destination → next hop of the table, without what is somebody else's. */
  const routes = (): Record<string, string> =>
    Object.fromEntries(
      partsIn(azure.arm.cloud.find(TABLE), 'routes')
        .filter(({ name }) => name !== FIREWALL.name)
        .map(({ properties }) => [properties.addressPrefix, properties.nextHopIpAddress]),
    ) as Record<string, string>;
  const tableWrites = (): number => azure.writes().filter((write) => write === 'PUT routeTables').length;

  async function addNode(name: string, address: string, podCIDR: string): Promise<void> {
    if (azure.arm.cloud.find(computeID('virtualMachines', name)) === undefined) seedMachine(azure.arm, { name, address });
    await azure.scene.addNodeObject(name, { podCIDR });
  }

  async function network(name: string): Promise<string> {
    const conditions = (await azure.scene.node(name))?.status?.conditions ?? [];
    const found = conditions.find(({ type }) => type === 'NetworkUnavailable');
    return `${found?.status}/${found?.reason}`;
  }

  const routed = (name: string): Promise<unknown> =>
    azure.scene.until(`${name} to be routed to`, async () => (await network(name)) === 'False/RouteCreated', 60_000);

  test('a route that is there already is taken up without a write, and its Node told at once', async () => {
    await addNode('n1', '10.0.3.1', '198.18.1.0/24');
    await routed('n1');
    expect(tableWrites()).toBe(0);
    expect(await azure.scene.node('n1')).toMatchObject({
      spec: {
        providerID: expect.stringMatching(/^azure:\/\/\/subscriptions\/.*\/resourceGroups\/cluster\/.*\/virtualMachines\/n1$/) as string,
      },
      metadata: {
        labels: {
          'topology.kubernetes.io/zone': 'westeurope-1',
          'topology.kubernetes.io/region': LOCATION,
          'node.kubernetes.io/instance-type': 'Standard_D2s_v5',
        },
      },
      status: {
        addresses: [
          { type: 'Hostname', address: 'n1' },
          { type: 'InternalIP', address: '10.0.3.1' },
        ],
      },
    });
  }, 90_000);

  test('Nodes that come together take few writes; each route works a while after it was written', async () => {
    azure.forgetCalls();
    const comers = [2, 3, 4, 5, 6];
    await Promise.all(comers.map((n) => addNode(`n${n}`, `10.0.3.${n}`, `198.18.${n}.0/24`)));
    await azure.scene.until(
      'all routes',
      () => Promise.resolve(comers.every((n) => routes()[`198.18.${n}.0/24`] === `10.0.3.${n}`)),
      60_000,
    );
    const waits = async (): Promise<string | undefined> =>
      (await azure.scene.route('n6-198.18.6.0-24'))?.status?.conditions?.find(({ reason }) => reason === 'RouteStarting')?.message;
    expect(await azure.scene.until('RouteStarting', waits)).toMatch(/works within [12] s/);
    for (const n of comers) await routed(`n${n}`);
    expect(tableWrites()).toBeLessThanOrEqual(2);
    expect(azure.arm.cloud.find(TABLE)).toMatchObject({ tags: { team: 'net' } });
    expect(partsIn(azure.arm.cloud.find(TABLE), 'routes').map(({ name }) => name)).toContain(FIREWALL.name);
  }, 120_000);

  test('with approval: Manual, a route beside others is written as its plan says, in one update', async () => {
    const { cluster, scene } = azure;
    const nextHop = { nodeName: 'n2', nodeAddresses: ['10.0.3.2'] };
    const spec = { provider: 'azure', ...nextHop, destinationCIDR: '198.18.20.0/24', updatePolicy: { approval: 'Manual' } };
    azure.forgetCalls();
    await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name: 'asked' }, spec });
    const { hash } = await scene.until('its plan', async () => {
      const stack = (await scene.route('asked'))?.status?.stack;
      return stack === undefined ? undefined : (await scene.stack(stack))?.status?.plans?.find(({ member }) => member === 'asked');
    });
    expect(tableWrites()).toBe(0);
    await cluster.kubectl(['annotate', 'cloudroute', 'asked', '--overwrite', `cloud-operator.dev/approve=${hash}`]);
    await scene.until('it to be Ready', async () =>
      (await scene.route('asked'))?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    expect([tableWrites(), routes()['198.18.20.0/24']]).toEqual([1, '10.0.3.2']);
    const told = (await scene.events('CloudRoute', 'asked')).map(({ reason }) => reason);
    expect(told.filter((reason) => reason !== 'Updated')).toEqual(['AwaitingApproval']);
    await cluster.kubectl(['delete', 'cloudroute', 'asked', '--timeout=30s']);
  }, 60_000);

  test('R-18 a Node that comes again with another PodCIDR: one write takes the old route out and puts the new one in', async () => {
    azure.forgetCalls();
    await azure.cluster.kube.remove(NODES, 'n1');
    await addNode('n1', '10.0.3.1', '198.18.7.0/24');
    await azure.scene.until(
      'the new route in place of the old one',
      () => Promise.resolve(routes()['198.18.7.0/24'] === '10.0.3.1' && routes()['198.18.1.0/24'] === undefined),
      30_000,
    );
    await routed('n1');
    expect(tableWrites()).toBeLessThanOrEqual(2);
  }, 90_000);

  test('a route that somebody has deleted, or led elsewhere, is put right; others’ are nobody’s business', async () => {
    azure.arm.cloud.tamper(TABLE, ({ properties }) => {
      const all = properties.routes as unknown as { properties: Record<string, string> }[];
      const changed = all.filter((route) => route.properties.addressPrefix !== '198.18.2.0/24');
      for (const route of changed) if (route.properties.addressPrefix === '198.18.3.0/24') route.properties.nextHopIpAddress = '10.9.9.9';
      properties.routes = [
        ...changed,
        { id: `${TABLE}/routes/theirs`, name: 'theirs', etag: 'x', properties: { addressPrefix: '192.0.2.0/24', nextHopType: 'None' } },
      ] as never;
    });
    await azure.scene.until(
      'both routes to be as before',
      () => Promise.resolve(routes()['198.18.2.0/24'] === '10.0.3.2' && routes()['198.18.3.0/24'] === '10.0.3.3'),
      30_000,
    );
    expect(partsIn(azure.arm.cloud.find(TABLE), 'routes').map(({ name }) => name)).toContain('theirs');
  }, 60_000);

  test('a Node whose machine is gone goes, with its route; a machine that ARM does not show yet keeps its Node', async () => {
    await addNode('n10', '10.0.3.10', '198.18.10.0/24');
    await routed('n10');
    await azure.scene.setReady('n10', false);
    await azure.cluster.kube.create(NODES, undefined, {
      metadata: { name: 'young' },
      spec: { providerID: `azure://${computeID('virtualMachines', 'young')}` },
    });
    azure.arm.cloud.vanish(computeID('virtualMachines', 'n10'));
    const young = async (): Promise<boolean> => (await azure.scene.node('young')) !== undefined;
    await azure.scene.until(
      'some looks of the lifecycle loop',
      () => Promise.resolve(azure.arm.calls.filter(({ verb }) => verb === 'list').length > 20),
      60_000,
    );
    // Both are younger than what Azure's lists may lag behind.
    expect([await young(), (await azure.scene.node('n10')) !== undefined]).toEqual([true, true]);
    await azure.cluster.kube.remove(NODES, 'young');
  }, 120_000);

  test('Nodes of another resource group are found there; those that upstream calls unmanaged are let alone', async () => {
    seedMachine(azure.arm, { name: 'far', address: '10.0.5.1' }, 'other');
    await azure.cluster.kube.create(NODES, undefined, {
      metadata: { name: 'far', labels: { 'kubernetes.azure.com/resource-group': 'other' } },
      spec: { taints: [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' }] },
    });
    expect((await azure.scene.initialized('far')).spec.providerID).toContain('/resourceGroups/other/');
    await azure.cluster.kube.create(NODES, undefined, {
      metadata: { name: 'cellar', labels: { 'kubernetes.azure.com/managed': 'false' } },
    });
    await azure.scene.setReady('cellar', false);
    const lists = azure.arm.calls.length;
    await azure.scene.until('some more looks', () => Promise.resolve(azure.arm.calls.length > lists + 10), 60_000);
    expect(await azure.scene.node('cellar')).toMatchObject({ metadata: { name: 'cellar' } });
  }, 120_000);
});
