import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { NODES } from '../../../operator/kube/object';
import { partsIn } from '../../harness/arm/resource';
import { computeID, GROUP, LOCATION, networkID } from '../../harness/arm/scene';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { seedMachine } from './machines';
import { AzureScene } from './operator-scene';
import { bodiesOf, partsWritten } from './written';

const TABLE = networkID('routeTables', 'rt');
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const FIREWALL = { name: 'firewall', properties: { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' } };
/** What an earlier controller has left for a Node that comes. */
const EARLIER = {
  name: 'n1____198181024',
  properties: { addressPrefix: '198.18.1.0/24', nextHopType: 'VirtualAppliance', nextHopIpAddress: '10.0.3.1' },
};

const CLOCK = resolve(__dirname, '../../faults/clock-preload.mjs');
/** What --route-reconciliation-period is where nobody says it. */
const PERIOD_MS = 10_000;
/** Longer than Azure's lists may lag behind. */
const LATE_MS = 6 * 60_000;

describe('Nodes and routes of an operator with a subscription of Azure', () => {
  const directory = mkdtempSync(join(tmpdir(), 'azure-clock-'));
  const clockFile = join(directory, 'offset');
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
        environment: { ...minimalEnvironment(), NODE_OPTIONS: `--import ${CLOCK}`, FAULTS_CLOCK: clockFile },
      },
    );
    azure.arm.cloud.seed(TABLE, { location: LOCATION, tags: { team: 'net' }, properties: { routes: [FIREWALL, EARLIER] } });
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(async () => {
    await azure.stop();
    rmSync(directory, { recursive: true });
  });

  /** The operator's clock is ahead: what has just been made is old to it. */
  const ahead = (ms: number): void => {
    writeFileSync(clockFile, String(ms));
    process.kill(azure.cluster.operatorPid, 'SIGUSR2');
  };
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

  test('R-18 a Node that comes again with another PodCIDR: the old route goes as it was listed, the new one is there within a period, and none of the others’ is touched', async () => {
    azure.forgetCalls();
    /** When Azure was asked for which write of the table. */
    const askedAt: number[] = [];
    azure.arm.meanwhile = ({ method, path }) => {
      if (method === 'PUT' && path === TABLE) askedAt.push(performance.now());
    };
    await azure.cluster.kube.remove(NODES, 'n1');
    await addNode('n1', '10.0.3.1', '198.18.7.0/24');
    await azure.scene.until(
      'the new route in place of the old one',
      () => Promise.resolve(routes()['198.18.7.0/24'] === '10.0.3.1' && routes()['198.18.1.0/24'] === undefined),
      30_000,
    );
    await routed('n1');
    expect(tableWrites()).toBeLessThanOrEqual(2);
    const written = bodiesOf(azure.arm.calls, TABLE).map((body) =>
      partsWritten(body, 'routes').map(
        ({ properties }) => `${properties.addressPrefix as string} ${properties.nextHopIpAddress as string}`,
      ),
    );
    azure.arm.meanwhile = undefined;
    expect(written).toHaveLength(askedAt.length);
    const [before, after] = ['198.18.1.0/24 10.0.3.1', '198.18.7.0/24 10.0.3.1'];
    // Never both in one table, and neither of them only between two writes that follow each other.
    const has = written.map((all) => `${all.includes(before) ? 'old' : ''}${all.includes(after) ? 'new' : ''}`);
    expect([['new'], ['', 'new']]).toContainEqual(has);
    expect((askedAt.at(-1) ?? 0) - (askedAt[0] ?? 0)).toBeLessThan(PERIOD_MS);
    const others = [2, 3, 4, 5, 6].map((n) => `198.18.${n}.0/24 10.0.3.${n}`);
    for (const all of written) expect(all).toEqual(expect.arrayContaining(others));
    // The route was taken out as it was listed: by the name that an earlier controller gave it.
    const names = partsIn(azure.arm.cloud.find(TABLE), 'routes').map(({ name }) => name);
    expect([names.includes(EARLIER.name), names.includes('n1____198187024')]).toEqual([false, true]);
  }, 90_000);

  test('a table that is full: the Node that is one too many is told so with the figures, the others’ routes are made, and all is well once there is room', async () => {
    const { cluster, scene, arm } = azure;
    const limit = (routesPerTable: number | null): Promise<string> => {
      const limits = routesPerTable === null ? null : { routesPerTable };
      return cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type=merge', '-p', JSON.stringify({ spec: { azure: { limits } } })]);
    };
    const conditionOf = async (route: string, type: string) =>
      (await scene.route(route))?.status?.conditions?.find((condition) => condition.type === type);
    const full = partsIn(arm.cloud.find(TABLE), 'routes').length + 1;
    await limit(full);
    await addNode('n20', '10.0.3.20', '198.18.20.0/24');
    await routed('n20');
    azure.forgetCalls();
    await addNode('n21', '10.0.3.21', '198.18.21.0/24');
    const said = await scene.until(
      'the route that is one too many to say so',
      async () => {
        const stalled = await conditionOf('n21-198.18.21.0-24', 'Stalled');
        if (stalled?.status === 'True') return stalled;
        throw new Error(JSON.stringify((await scene.route('n21-198.18.21.0-24'))?.status));
      },
      60_000,
    );
    expect(said).toMatchObject({
      reason: 'QuotaExceeded',
      message: expect.stringContaining(`the route table would have ${full + 1} routes, and may have ${full}`) as string,
    });
    expect(tableWrites()).toBe(0);
    expect(await network('n21')).not.toBe('False/RouteCreated');
    expect(await conditionOf('n20-198.18.20.0-24', 'Ready')).toMatchObject({ status: 'True' });

    // Others go on.
    arm.cloud.tamper(TABLE, ({ properties }) => {
      const all = properties.routes as unknown as { properties: Record<string, string> }[];
      for (const route of all) if (route.properties.addressPrefix === '198.18.20.0/24') route.properties.nextHopIpAddress = '10.9.9.9';
    });
    await scene.until('another one to be put right', () => Promise.resolve(routes()['198.18.20.0/24'] === '10.0.3.20'), 60_000);
    expect(routes()['198.18.21.0/24']).toBeUndefined();
    await limit(null);
    await cluster.kubectl(['annotate', 'cloudroute', 'n21-198.18.21.0-24', 'cloud-operator.dev/reconcile=now']);
    await routed('n21');
    expect(routes()['198.18.21.0/24']).toBe('10.0.3.21');
    await cluster.kube.remove(NODES, 'n20');
    await cluster.kube.remove(NODES, 'n21');
    await scene.until('both routes to be gone', () =>
      Promise.resolve(routes()['198.18.20.0/24'] === undefined && routes()['198.18.21.0/24'] === undefined),
    );
  }, 180_000);

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

  test('a Node whose machine is gone goes, with its route; one that ARM may not show yet keeps its Node', async () => {
    const gone = async (name: string): Promise<boolean> => (await azure.scene.node(name)) === undefined;
    for (const n of [10, 11]) {
      await addNode(`n${n}`, `10.0.3.${n}`, `198.18.${n}.0/24`);
      await routed(`n${n}`);
      await azure.scene.setReady(`n${n}`, false);
    }
    await azure.cluster.kube.create(NODES, undefined, {
      metadata: { name: 'young' },
      spec: { providerID: `azure://${computeID('virtualMachines', 'young')}` },
    });
    // One that is being deleted is gone, whatever its age.
    azure.arm.cloud.tamper(computeID('virtualMachines', 'n11'), ({ properties }) => (properties.provisioningState = 'Deleting'));
    azure.arm.cloud.vanish(computeID('virtualMachines', 'n10'));
    azure.forgetCalls();
    await azure.scene.until('the Node of the machine that is deleted to go', () => gone('n11'), 60_000);
    await azure.scene.until('its route to go', () => Promise.resolve(routes()['198.18.11.0/24'] === undefined), 60_000);
    await azure.scene.until(
      'some looks of the lifecycle loop',
      () => Promise.resolve(azure.arm.calls.filter(({ verb }) => verb === 'list').length > 20),
      60_000,
    );
    // Both are younger than what Azure's lists may lag behind.
    expect([await gone('young'), await gone('n10'), routes()['198.18.10.0/24']]).toEqual([false, false, '10.0.3.10']);
    ahead(LATE_MS);
    await azure.scene.until('both Nodes to go', async () => (await gone('young')) && (await gone('n10')), 60_000);
    await azure.scene.until('the route to go', () => Promise.resolve(routes()['198.18.10.0/24'] === undefined), 60_000);
    expect([await gone('n2'), routes()['198.18.2.0/24']]).toEqual([false, '10.0.3.2']);
    ahead(0);
  }, 240_000);

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
    // Looks at the routes, one a second here: nothing is read for them but the table.
    const read = azure.arm.calls.slice(lists).map(({ path }) => path);
    expect(read.filter((path) => path === TABLE)).not.toEqual([]);
    expect(read.filter((path) => /loadBalancers|publicIPAddresses|networkSecurityGroups/.test(path))).toEqual([]);
  }, 120_000);
});
