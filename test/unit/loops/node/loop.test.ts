import { Registry } from 'prom-client';
import { sleep } from '../../../../operator/base/clock';
import { OperatorError, type ErrorCode } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import type { Node } from '../../../../operator/kube/object';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import { NODE_LOOP_DEFAULTS, NODE_RETRY, NodeLoop } from '../../../../operator/loops/node/loop';
import { ControllerMetrics } from '../../../../operator/server/controller-metrics';
import type { Instance } from '../../../../providers/provider';
import { FakeClock } from '../../kube/fake-clock';
import { FakeInstances } from '../fake-instances';
import { node } from '../objects';
import { RecordingApi } from '../recording-api';

const TAINT = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const JOINING = node({ spec: { providerID: undefined, taints: [TAINT] } });

interface World {
  api: RecordingApi;
  instances: FakeInstances;
  clock: FakeClock;
  nodes: MemoryStore<Node>;
  queue: KeyedQueue;
  loop: NodeLoop;
  counted: Registry;
}

async function world(...of: Node[]): Promise<World> {
  const api = new RecordingApi();
  const instances = new FakeInstances();
  const clock = new FakeClock();
  const nodes = new MemoryStore<Node>({}, silentLogger);
  nodes.replace(of);
  const queue = new KeyedQueue({ name: 'Nodes', logger: silentLogger, clock, backOff: NODE_RETRY });
  const directory = await instances.directory(clock);
  const counted = new Registry();
  const metrics = new ControllerMetrics([counted]);
  const observes = (): boolean => false;
  const dependencies = { api, nodes, instances: directory, observes, events: api, metrics, queue, clock, logger: silentLogger };
  return { api, instances, clock, nodes, queue, counted, loop: new NodeLoop({ ...dependencies, settings: NODE_LOOP_DEFAULTS }) };
}

describe('initialization (contract 3.2, 3.3)', () => {
  // Upstream's v1 interfaces are one listing here: what it doesn't know of a machine is empty.
  test.each<[string, Partial<Instance>, object]>([
    ['C-NODE-11 no zone: no label, not even an empty one', { providerID: 'fake://12345' }, { resourceVersion: '20' }],
    [
      'C-NODE-12 the cloud’s providerID as it is',
      { providerID: 'fake://12345', zone: 'z' },
      {
        resourceVersion: '20',
        labels: { 'failure-domain.beta.kubernetes.io/zone': 'z', 'topology.kubernetes.io/zone': 'z' },
      },
    ],
  ])('%s', async (_name, machine, metadata) => {
    const { api, instances, loop, counted, clock } = await world(JOINING);
    instances.add('n1', machine);
    await loop.sync('n1');
    expect(api.writes).toEqual([
      { verb: 'patch', path: 'nodes/n1', body: { metadata, spec: { providerID: 'fake://12345', taints: [] } } },
      { verb: 'patch', path: 'nodes/n1/status', body: { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } } },
    ]);
    expect(api.log.at(-1)).toBe('Normal Synced: Node synced successfully');
    const age = (clock.now() - Date.parse(JOINING.metadata.creationTimestamp)) / 1000;
    for (const name of ['cloud_provider_taint_removal_delay', 'initial_node_sync_delay'])
      expect(await counted.metrics()).toContain(`node_controller_${name}_seconds_sum ${age}\n`);
  });

  test('addresses that could not be written (contract 3.2, 3.4): Synced and both delays come all the same, and they are written later', async () => {
    const { api, instances, loop, nodes, queue, counted } = await world(JOINING);
    instances.add('n1');
    api.failures.set('patch nodes/n1/status', new OperatorError('Transient', '500'));
    await loop.sync('n1');
    const initialized = ['patch nodes/n1', 'patch nodes/n1/status', 'Normal Synced: Node synced successfully'];
    expect(api.log).toEqual(initialized);
    for (const name of ['cloud_provider_taint_removal_delay', 'initial_node_sync_delay'])
      expect(await counted.metrics()).toContain(`node_controller_${name}_seconds_count 1\n`);
    expect(queue.failuresOf('n1')).toBe(1);
    api.failures.clear();
    nodes.set(node({ metadata: { resourceVersion: '21' }, spec: { providerID: 'fake://n1' } }));
    await loop.sync('n1');
    await loop.sync('n1');
    expect(api.log).toEqual([...initialized, 'patch nodes/n1/status']);
    queue.close();
  });

  test('C-NODE-07 a cloud without providerIDs: the taint stays, as with upstream’s V2', async () => {
    const { api, instances, loop } = await world(JOINING);
    instances.add('n1', { providerID: '' });
    const message = 'cloud provider does not set node provider ID for node n1';
    for (let times = 0; times < 2; times++) await expect(loop.sync('n1')).rejects.toThrow(message);
    expect(api.log).toEqual([`Warning NodeNotInitialized: ${message}`]);
  });

  test('C-NODE-08 a cloud that can’t be asked: an error, and the Node stays as it is', async () => {
    const { api, instances, loop } = await world(JOINING);
    instances.failure = new OperatorError('Transient', '503 no answer');
    await expect(loop.sync('n1')).rejects.toThrow('failed to get instance metadata for node n1: 503 no answer');
    expect(api.log).toEqual([]);
  });

  test('a Node that is gone, and one without the taint: no cloud call', async () => {
    const { api, instances, loop } = await world(node());
    await loop.sync('n1');
    await loop.sync('n2');
    expect([api.log, instances.listings]).toEqual([[], 0]);
  });
});

describe('when the loop looks (contract 3.1, 3.4)', () => {
  async function run({ loop, clock, queue }: World, during: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const running = loop.run(stop.signal);
    await clock.advance(0);
    await during();
    stop.abort(new Error('the test is over'));
    await clock.advance(0);
    await running;
    queue.close();
  }

  test('addresses: once the store is filled, then a period after the end of each look', async () => {
    const of = node({ status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } });
    const at = await world(of);
    at.instances.add('1');
    await run(at, async () => {
      expect(at.instances.listings).toBe(1);
      await at.clock.advance(NODE_LOOP_DEFAULTS.statusUpdateMs - 1);
      expect(at.instances.listings).toBe(1);
      await at.clock.advance(1);
      expect(at.instances.listings).toBe(2);
      expect(at.api.log).toEqual([]);
    });
  });

  test('addresses only: neither labels nor providerID, and a cloud that forgets a machine changes nothing', async () => {
    const of = node({ status: { addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] } });
    const at = await world(of);
    at.instances.add('1', { zone: 'z', type: 't' });
    await run(at, async () => {
      expect(at.api.log).toEqual(['patch nodes/n1/status']);
      at.instances.list.length = 0;
      await at.clock.advance(NODE_LOOP_DEFAULTS.statusUpdateMs);
      expect(at.api.log).toHaveLength(1);
    });
  });

  test('Nodes that joined before a listing was taken are initialized from it, however long that takes; later ones are not', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `joining-${index}`);
    const joining = (name: string): Node => node({ metadata: { name, uid: name }, spec: { providerID: undefined, taints: [TAINT] } });
    const at = await world(...names.map(joining));
    [...names, 'late'].forEach((name) => at.instances.add(name));
    const patch = at.api.patch.bind(at.api);
    at.api.patch = async (...args: Parameters<typeof patch>): Promise<never> => {
      await sleep(at.clock, 500);
      return patch(...args);
    };
    await run(at, async () => {
      await at.clock.advance(10_000);
      at.nodes.set(joining('late'));
      await at.clock.advance(12_000);
      const seen = [new Set(at.api.targets.map(({ metadata }) => metadata.name)).size, at.instances.listings];
      await at.clock.advance(60_000);
      expect(seen).toEqual([21, 2]);
    });
  });

  test('labels: whenever the Node’s change, and not at a heartbeat', async () => {
    const labels = { 'beta.kubernetes.io/instance-type': 't', 'node.kubernetes.io/instance-type': 't' };
    const at = await world(node({ metadata: { labels } }));
    at.instances.add('1');
    await run(at, async () => {
      at.api.log.length = 0;
      at.nodes.set(node({ metadata: { labels, resourceVersion: '21' } }));
      await at.clock.advance(0);
      expect(at.api.log).toEqual([]);
      at.nodes.set(node({ metadata: { labels: { ...labels, 'node.kubernetes.io/instance-type': 'edited' }, resourceVersion: '22' } }));
      await at.clock.advance(0);
      expect(at.api.writes.at(-1)).toEqual({
        verb: 'patch',
        path: 'nodes/n1',
        body: { metadata: { labels: { 'node.kubernetes.io/instance-type': 't' } } },
      });
    });
  });

  test.each<[string, ErrorCode, perHour: number]>([
    ['401 or 403', 'Credentials', 40],
    // Its back-off grows from 5 ms to 1000 s, and every 5 minutes all Nodes are looked at. Contract 3.1: the Node is read and written anew 20 times within each try.
    ['409', 'Conflict', 40 * 21],
    ['410', 'NotFound', 40],
    ['422', 'Invalid', 40],
    ['429', 'Throttled', 40],
    ['500, or nothing', 'Transient', 40],
  ])('an API server that answers %s to every write: tried ever more seldom, and done once it takes them', async (_what, code, perHour) => {
    const at = await world(JOINING);
    at.instances.add('n1');
    at.api.stored.set('nodes/n1', JOINING);
    at.api.failures.set('patch nodes/n1', new OperatorError(code, 'refused'));
    await run(at, async () => {
      await at.clock.advance(3_600_000);
      const patches = at.api.writes.filter(({ path }) => path === 'nodes/n1').length;
      expect(patches).toBeGreaterThan(10);
      expect(patches).toBeLessThanOrEqual(perHour);
      at.api.failures.clear();
      await at.clock.advance(1_000_000);
      expect(at.api.events.at(-1)).toBe('Normal Synced: Node synced successfully');
    });
  });

  test('a cloud that can’t be asked is tried again after 5 ms, doubling', async () => {
    const at = await world(JOINING);
    at.instances.failure = new OperatorError('Transient', '503');
    await run(at, async () => {
      expect(at.queue.failuresOf('n1')).toBeGreaterThan(0);
      await at.clock.advance(60_000);
      const asked = at.instances.listings;
      expect(asked).toBeLessThan(20);
      at.instances.failure = undefined;
      at.instances.add('n1');
      await at.clock.advance(60_000);
      expect(at.api.log.at(-1)).toBe('Normal Synced: Node synced successfully');
    });
  });
});
