import { Registry } from 'prom-client';
import { CLOUD_ROUTES, type Condition } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { hasTaint, TAINT_SHUTDOWN, TAINT_UNINITIALIZED } from '../../../operator/kube/node';
import { type KubeCondition, type Node, NODES } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import type { StoredCloudRoute } from '../../../operator/loops/kinds';
import { LifecycleLoop } from '../../../operator/loops/lifecycle/loop';
import { NodeLoop } from '../../../operator/loops/node/loop';
import { RouteLoop } from '../../../operator/loops/route/loop';
import { ControllerMetrics } from '../../../operator/server/controller-metrics';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';
import { CLOUDS } from './cloud-side';
import { LoopCluster } from './cluster';
import { Fleet } from './fleet';

const TAINT = { key: TAINT_UNINITIALIZED, value: 'true', effect: 'NoSchedule' };
const PERIOD_MS = 50;

describe('the node loops against a real API server', () => {
  const stop = new AbortController();
  const fleet = new Fleet();
  let loops: LoopCluster;
  let nodeLoop: NodeLoop;
  let running: Promise<unknown>[] = [];
  const queues: KeyedQueue[] = [];

  function queue(name: string): KeyedQueue {
    const made = new KeyedQueue({ name, logger: silentLogger, backOff: { baseMs: 50, maxMs: 500 } });
    queues.push(made);
    return made;
  }

  beforeAll(async () => {
    loops = await LoopCluster.start();
    const metrics = new ControllerMetrics([new Registry()]);
    const observes = (): boolean => false;
    const common = {
      api: loops.api,
      nodes: loops.nodes.store,
      instances: fleet,
      observes,
      metrics,
      clock: systemClock,
      logger: silentLogger,
    };
    nodeLoop = new NodeLoop({
      ...common,
      events: loops.recorder('cloud-node-controller'),
      queue: queue('Nodes'),
      settings: { workers: 2, statusUpdateWorkers: 1, statusUpdateMs: 600_000, listingMaxAgeMs: 100, laterListingMaxAgeMs: 100 },
    });
    const lifecycle = new LifecycleLoop({
      ...common,
      events: loops.recorder('cloud-node-lifecycle-controller'),
      settings: {
        periodMs: PERIOD_MS,
        workers: 2,
        confirmation: { listings: 3, graceMs: 300 },
        deletionLimit: { share: 1, windowMs: 1_000 },
      },
    });
    const route = new RouteLoop({
      ...common,
      cloudRoutes: loops.routes.store,
      clouds: CLOUDS,
      events: loops.recorder('route_controller'),
      queue: queue('Routes'),
      owners: { onChange: () => () => undefined },
      clusterCidrs: ['10.244.0.0/16'],
      workers: 1,
    });
    running = [nodeLoop.run(stop.signal), lifecycle.run(stop.signal), route.run(stop.signal)];
  }, CLUSTER_START_MS);

  afterAll(async () => {
    stop.abort(new Error('the test is over'));
    await Promise.all(running);
    queues.forEach((made) => made.close());
    await loops?.stop();
  });

  const read = (name: string): Promise<Node | undefined> => loops.client.get<Node>(NODES, name);

  /** A Node as the kubelet registers it; Ready unless said otherwise. */
  async function register(name: string, changes: { metadata?: object; spec?: object; status?: object } = {}): Promise<Node> {
    const node = await loops.client.create<Node>(NODES, undefined, {
      metadata: { name, ...changes.metadata },
      spec: { taints: [TAINT], ...changes.spec },
    });
    await setReady(name, 'True', changes.status);
    return node;
  }

  async function setReady(name: string, status: KubeCondition['status'], more: object = {}): Promise<void> {
    const at = new Date().toISOString();
    const ready = { type: 'Ready', status, reason: 'Test', message: '', lastHeartbeatTime: at, lastTransitionTime: at };
    await loops.client.patch(NODES, name, 'strategic', { status: { conditions: [ready], ...more } }, { subresource: 'status' });
  }

  function when(name: string, what: string, holds: (node: Node) => boolean | undefined): Promise<Node> {
    return waitFor(
      async () => {
        const node = await read(name);
        return node !== undefined && holds(node) === true ? node : undefined;
      },
      { timeoutMs: 15_000, what: `${what} of ${name}` },
    );
  }

  const initialized = (name: string): Promise<Node> =>
    when(name, 'the end of the taint', (node) => !hasTaint(node, TAINT_UNINITIALIZED) && (node.status?.addresses ?? []).length > 0);

  /** Waits for so many more lifecycle passes that a wrong decision would have been acted on. */
  async function passes(): Promise<void> {
    const from = fleet.lookups;
    await waitFor(() => fleet.lookups >= from + 15, { timeoutMs: 15_000, what: 'fifteen lookups' });
  }

  describe('cloud-node', () => {
    test('a Node that joins gets providerID, labels and addresses, and loses the taint', async () => {
      const other = { key: 'example.com/other', effect: 'NoExecute' };
      const { metadata } = await register('joins', {
        spec: { taints: [other] },
        status: { addresses: [{ type: 'Hostname', address: 'joins' }] },
      });
      fleet.add('joins', {
        addresses: [
          { type: 'InternalIP', address: '192.0.2.21' },
          { type: 'InternalIP', address: '2001:db8::21' },
        ],
        additionalLabels: { 'example.com/rack': 'r1', 'node.kubernetes.io/no': 'x' },
      });
      // The taint comes once the kubelet's part is written: the loop writes the addresses once, from what it sees then.
      await loops.client.patch(NODES, 'joins', 'merge', { spec: { taints: [other, TAINT] } });
      const node = await initialized('joins');
      expect(node.spec.providerID).toBe('fake://joins');
      expect(node.spec.taints?.map(({ key }) => key)).toContain('example.com/other');
      expect(node.metadata.labels).toMatchObject({
        'topology.kubernetes.io/zone': 'zone-a',
        'failure-domain.beta.kubernetes.io/region': 'region-a',
        'node.kubernetes.io/instance-type': 'small',
        'example.com/rack': 'r1',
      });
      expect(node.metadata.labels).not.toHaveProperty('node.kubernetes.io/no');
      const addresses = await when('joins', 'all addresses', ({ status }) => status?.addresses?.length === 3);
      expect(addresses.status?.addresses).toEqual([
        { type: 'InternalIP', address: '192.0.2.21' },
        { type: 'InternalIP', address: '2001:db8::21' },
        { type: 'Hostname', address: 'joins' },
      ]);
      await loops.expectSaid(metadata.uid, [/^Synced: Node synced successfully$/]);
    });

    test('it is found by its providerID whatever its name, while the kubelet keeps writing (R-16 d)', async () => {
      fleet.add('i-0aaaaaaaaaaaaaaa1');
      await register('worker-7', { spec: { providerID: 'fake://i-0aaaaaaaaaaaaaaa1' } });
      const heartbeats = (async (): Promise<void> => {
        for (let beat = 0; beat < 20; beat++)
          await loops.client.patch(NODES, 'worker-7', 'merge', { metadata: { annotations: { 'example.com/beat': `${beat}` } } });
      })();
      const node = await initialized('worker-7');
      await heartbeats;
      expect(node.spec.providerID).toBe('fake://i-0aaaaaaaaaaaaaaa1');
    });

    test('a machine that no cloud lists yet: the taint stays, one event says why, and it is found later', async () => {
      const { metadata } = await register('late');
      await loops.expectSaid(metadata.uid, [/^InstanceUnclaimed: no CloudProvider has an instance named late; the taint .* stays$/]);
      expect(hasTaint((await read('late'))!, TAINT_UNINITIALIZED)).toBe(true);
      fleet.add('late');
      await initialized('late');
      await loops.expectSaid(metadata.uid, ['InstanceUnclaimed', 'Synced']);
    });

    test('addresses follow the cloud, without a write when nothing changed', async () => {
      const machine = fleet.add('moves', { addresses: [{ type: 'InternalIP', address: '192.0.2.31' }] });
      await register('moves');
      await initialized('moves');
      await waitFor(() => loops.nodes.store.get('moves')?.status?.addresses?.[0]?.address === '192.0.2.31', {
        timeoutMs: 5_000,
        what: 'the store',
      });
      const before = loops.writes.filter((write) => write.endsWith('/moves')).length;
      await nodeLoop.refreshAddresses();
      expect(loops.writes.filter((write) => write.endsWith('/moves'))).toHaveLength(before);
      machine.addresses = [{ type: 'InternalIP', address: '192.0.2.32' }];
      await nodeLoop.refreshAddresses();
      expect((await read('moves'))?.status?.addresses).toEqual([{ type: 'InternalIP', address: '192.0.2.32' }]);
    });

    test('an edited topology label is brought back', async () => {
      fleet.add('labelled');
      await register('labelled');
      await initialized('labelled');
      await loops.client.patch(NODES, 'labelled', 'merge', { metadata: { labels: { 'topology.kubernetes.io/zone': 'elsewhere' } } });
      await when('labelled', 'the zone', ({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'] === 'zone-a');
    });
  });

  describe('cloud-node-lifecycle', () => {
    test('a stopped machine taints its Node, a Ready one loses the taint', async () => {
      const machine = fleet.add('stops');
      await register('stops');
      await initialized('stops');
      machine.shutdown = true;
      await setReady('stops', 'Unknown');
      await when('stops', 'the shutdown taint', (node) => hasTaint(node, TAINT_SHUTDOWN, 'NoSchedule'));
      machine.shutdown = false;
      await passes();
      expect(hasTaint((await read('stops'))!, TAINT_SHUTDOWN)).toBe(true);
      await setReady('stops', 'True');
      await when('stops', 'no shutdown taint', (node) => !hasTaint(node, TAINT_SHUTDOWN));
    });

    test('R-12 a cloud that can’t be asked deletes nothing', async () => {
      const machine = fleet.add('unasked');
      const { metadata } = await register('unasked');
      await initialized('unasked');
      await setReady('unasked', 'Unknown');
      fleet.machines.delete(machine.providerID);
      fleet.failure = new OperatorError('Credentials', '401');
      await passes();
      expect((await read('unasked'))?.metadata.uid).toBe(metadata.uid);
      expect(hasTaint((await read('unasked'))!, TAINT_SHUTDOWN)).toBe(false);
      machine.shutdown = true;
      fleet.machines.set(machine.providerID, machine);
      fleet.failure = undefined;
      await when('unasked', 'the shutdown taint', (node) => hasTaint(node, TAINT_SHUTDOWN));
      expect(loops.saidOf(metadata.uid).filter((text) => text.startsWith('DeletingNode'))).toEqual([]);
    });

    test('C-LIFE-16 a machine that is gone for good takes its Node along; one that is missed for a moment does not', async () => {
      const machine = fleet.add('gone');
      const { metadata } = await register('gone');
      await initialized('gone');
      fleet.machines.delete(machine.providerID);
      await passes();
      expect(await read('gone')).toBeDefined();
      await setReady('gone', 'False');
      await waitFor(async () => (await read('gone')) === undefined, { timeoutMs: 15_000, what: 'the end of the Node' });
      await loops.expectSaid(metadata.uid, [
        'Synced',
        /^DeletingNode: Deleting node gone because it does not exist in the cloud provider$/,
      ]);
      const found = async () => (await loops.events(metadata.uid)).find(({ reason }) => reason === 'DeletingNode');
      const event = await waitFor(found, { timeoutMs: 15_000, what: 'its Event' });
      expect(event.involvedObject.apiVersion).toBe('v1');
    });

    test('R-14 a Node that registers anew under the name is not deleted for the old one', async () => {
      const machine = fleet.add('twice', { providerID: 'fake://old' });
      await register('twice');
      await initialized('twice');
      await setReady('twice', 'Unknown');
      fleet.machines.delete(machine.providerID);
      fleet.add('twice', { providerID: 'fake://new' });
      await loops.client.remove(NODES, 'twice');
      const anew = await register('twice', { spec: { providerID: 'fake://new' } });
      await setReady('twice', 'False');
      await passes();
      expect((await read('twice'))?.metadata.uid).toBe(anew.metadata.uid);
      expect(loops.saidOf(anew.metadata.uid).filter((text) => text.startsWith('DeletingNode'))).toEqual([]);
    });
  });

  describe('route', () => {
    const network = (node: Node): KubeCondition | undefined => node.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
    const routesOf = async (name: string): Promise<StoredCloudRoute[]> =>
      (await loops.client.list<StoredCloudRoute>(CLOUD_ROUTES)).filter(({ spec }) => spec.nodeName === name);

    async function member(name: string, podCIDRs: string[]): Promise<Node> {
      if (!fleet.machines.has(`fake://${name}`)) fleet.add(name);
      await register(name, { spec: { podCIDR: podCIDRs[0], podCIDRs } });
      return initialized(name);
    }

    async function report(name: string, conditions: Omit<Condition, 'lastTransitionTime'>[]): Promise<void> {
      const route = await waitFor(() => loops.client.get<StoredCloudRoute>(CLOUD_ROUTES, name), {
        timeoutMs: 10_000,
        what: `CloudRoute ${name}`,
      });
      const at = new Date().toISOString();
      const status = {
        observedGeneration: route.metadata.generation,
        conditions: conditions.map((one) => ({ ...one, lastTransitionTime: at })),
      };
      const body = { apiVersion: route.apiVersion, kind: route.kind, metadata: { name }, status };
      await loops.client.apply(CLOUD_ROUTES, name, body, { fieldManager: 'cloud-operator-cloud', force: true, subresource: 'status' });
    }

    const ready = [{ type: 'Ready', status: 'True' as const, reason: 'Ready', message: 'routed' }];
    const failed = [
      { type: 'Ready', status: 'False' as const, reason: 'QuotaExceeded', message: 'the table is full' },
      { type: 'Stalled', status: 'True' as const, reason: 'QuotaExceeded', message: 'the table is full' },
    ];

    test('one CloudRoute for each PodCIDR; the condition follows the cloud', async () => {
      const { metadata } = await member('routed', ['10.244.1.0/24']);
      await report('routed-10.244.1.0-24', failed);
      await when('routed', 'NetworkUnavailable', (node) => network(node)?.status === 'True' && network(node)?.reason === 'NoRouteCreated');
      await loops.expectSaid(metadata.uid, [
        'Synced',
        new RegExp(
          `^FailedToCreateRoute: Could not create route ${metadata.uid} 10\\.244\\.1\\.0/24 for node routed after [0-9.]+m?s: the table is full$`,
        ),
      ]);
      await report('routed-10.244.1.0-24', ready);
      await when('routed', 'NetworkUnavailable', (node) => network(node)?.status === 'False' && network(node)?.reason === 'RouteCreated');
      const [route] = await routesOf('routed');
      expect(route?.spec).toEqual({
        provider: 'cloud-a',
        destinationCIDR: '10.244.1.0/24',
        nodeName: 'routed',
        nodeUID: metadata.uid,
        providerID: 'fake://routed',
        nodeAddresses: ['192.0.2.11'],
      });
      await loops.client.remove(NODES, 'routed');
      await waitFor(async () => (await routesOf('routed')).length === 0, { timeoutMs: 15_000, what: 'the end of the route' });
    });

    test('R-18 made anew with another PodCIDR', async () => {
      await member('again', ['10.244.2.0/24']);
      await report('again-10.244.2.0-24', ready);
      await loops.client.remove(NODES, 'again');
      const anew = await member('again', ['10.244.7.0/24']);
      await report('again-10.244.7.0-24', ready);
      await when('again', 'NetworkUnavailable', (node) => network(node)?.reason === 'RouteCreated');
      const routes = await waitFor(
        async () => {
          const all = await routesOf('again');
          return all.length === 1 ? all : undefined;
        },
        { timeoutMs: 15_000, what: 'one route' },
      );
      expect(routes[0]?.spec).toMatchObject({ destinationCIDR: '10.244.7.0/24', nodeUID: anew.metadata.uid });
    });

    test('made anew with the same PodCIDR: the CloudRoute belongs to the new Node', async () => {
      await member('same', ['10.244.3.0/24']);
      await report('same-10.244.3.0-24', ready);
      await loops.client.remove(NODES, 'same');
      const anew = await member('same', ['10.244.3.0/24']);
      await waitFor(
        async () => {
          const [route, ...more] = await routesOf('same');
          return more.length === 0 && route?.spec.nodeUID === anew.metadata.uid && route.metadata.deletionTimestamp === undefined;
        },
        { timeoutMs: 15_000, what: 'a route of the new Node' },
      );
    });

    test('a PodCIDR outside of the cluster’s gets no route, and says so', async () => {
      const { metadata } = await member('outside', ['10.9.9.0/24']);
      await when('outside', 'NetworkUnavailable', (node) => network(node)?.status === 'True');
      const failures = loops.saidOf(metadata.uid).filter((text) => text.startsWith('FailedToCreateRoute'));
      expect(failures).toEqual([expect.stringContaining('PodCIDR 10.9.9.0/24 is outside of the cluster CIDRs')]);
      expect(await routesOf('outside')).toEqual([]);
    });
  });
});
