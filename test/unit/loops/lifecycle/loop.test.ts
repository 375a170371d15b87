import { Registry } from 'prom-client';
import { silentLogger } from '../../../../operator/base/log';
import { OperatorError, type ErrorCode } from '../../../../operator/base/errors';
import type { Node } from '../../../../operator/kube/object';
import { MemoryStore } from '../../../../operator/kube/store';
import { confirmationRule } from '../../../../operator/loops/lifecycle/confirmations';
import { LIFECYCLE_LOOP_DEFAULTS, LifecycleLoop } from '../../../../operator/loops/lifecycle/loop';
import { ControllerMetrics } from '../../../../operator/server/controller-metrics';
import type { Instance } from '../../../../providers/provider';
import { FakeClock } from '../../kube/fake-clock';
import { FakeInstances } from '../fake-instances';
import { node } from '../objects';
import { RecordingApi } from '../recording-api';

const SHUTDOWN = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
/** Says whose a Node without a providerID is. */
const OURS = { cloud: 'one' };
const DELETED = ['Normal DeletingNode: Deleting node n1 because it does not exist in the cloud provider', 'remove nodes/n1'];

function unready(status: 'False' | 'Unknown', providerID?: string): Node {
  return node({ metadata: { labels: OURS }, spec: { providerID }, status: { conditions: [{ type: 'Ready', status }] } });
}

interface World {
  api: RecordingApi;
  instances: FakeInstances;
  clock: FakeClock;
  nodes: MemoryStore<Node>;
  loop: LifecycleLoop;
  counted: Registry;
  /** How often a write was tried that failed. */
  counts: number;
}

async function world(of: Node, graceMs: number, nodeSelector?: Record<string, string>): Promise<World> {
  const api = new RecordingApi();
  const instances = new FakeInstances();
  const clock = new FakeClock();
  const nodes = new MemoryStore<Node>({}, silentLogger);
  nodes.replace([of]);
  const directory = await instances.directory(clock, nodeSelector);
  const counted = new Registry();
  const metrics = new ControllerMetrics([counted]);
  const settings = { ...LIFECYCLE_LOOP_DEFAULTS, workers: 5, confirmation: confirmationRule(graceMs) };
  const loop = new LifecycleLoop({
    api,
    nodes,
    instances: directory,
    observes: () => false,
    events: api,
    metrics,
    clock,
    logger: silentLogger,
    settings,
  });
  return { api, instances, clock, nodes, loop, counted, counts: 0 };
}

const tainted = { body: { spec: { taints: [SHUTDOWN] } } };

// Upstream asks about one machine by two interfaces (v1, V2); here one listing answers both questions.
const CASES: [name: string, of: Node, machine: Partial<Instance> | undefined, log: string[]][] = [
  ['C-LIFE-01 False, no providerID, does not exist', unready('False'), undefined, DELETED],
  ['C-LIFE-02 False, exists', unready('False', 'fake://n1'), {}, []],
  ['C-LIFE-03 Unknown, found by name, not shut down', unready('Unknown'), { providerID: 'fake://12345' }, []],
  ['C-LIFE-07 False, shut down', unready('False', 'fake://n1'), { state: 'Stopped' }, ['patch nodes/n1']],
  ['C-LIFE-09 False, does not exist, whatever the machine’s state was', unready('False', 'fake://n1'), undefined, DELETED],
  ['C-LIFE-10 Unknown, shut down and gone', unready('Unknown', 'fake://n1'), { state: 'Terminated' }, DELETED],
];

describe.each<[string, number]>([
  ['with upstream’s setting (--node-deletion-grace=0)', 0],
  ['with ours', 15_000],
])('a Node that is not Ready, %s', (_setting, graceMs) => {
  test.each(CASES)('%s', async (_name, of, machine, log) => {
    const { api, instances, loop, clock } = await world(of, graceMs, OURS);
    if (machine !== undefined) instances.add('n1', machine);
    await loop.pass();
    if (graceMs > 0 && log === DELETED) {
      expect(api.log).toEqual([]);
      for (let pass = 0; pass < 2; pass++) {
        await clock.advance(5_000);
        await loop.pass();
      }
      expect(api.log).toEqual([]);
      await clock.advance(5_000);
      await loop.pass();
    }
    expect(api.log).toEqual(log);
    for (const write of api.writes) expect(write).toMatchObject(write.verb === 'patch' ? tainted : { body: { uid: 'node-1' } });
  });

  test('C-LIFE-08 a cloud that can’t be asked: kept, no taint, no Event', async () => {
    const { api, instances, loop, clock } = await world(unready('False'), graceMs, OURS);
    instances.failure = new OperatorError('Transient', '503');
    for (let pass = 0; pass < 5; pass++) {
      await loop.pass();
      await clock.advance(5_000);
    }
    expect(api.log).toEqual([]);
  });

  test('C-LIFE-13 a cloud that answers “not found” to the listing itself has not said that the machine is gone', async () => {
    const { api, instances, loop, clock } = await world(unready('False'), graceMs, OURS);
    instances.failure = new OperatorError('NotFound', '404 instance not found');
    for (let pass = 0; pass < 5; pass++) {
      await loop.pass();
      await clock.advance(5_000);
    }
    expect(api.log).toEqual([]);
  });

  test.each<[string, ErrorCode]>([
    ['(a) 401', 'Credentials'],
    ['(b) 403', 'Credentials'],
    ['(c) nothing in time', 'Transient'],
    ['(d) 500', 'Transient'],
    ['(e) the page of a login', 'Unknown'],
  ])('R-12 %s for two minutes, then the truth: no write until then, one question a period, and the taint', async (_what, code) => {
    const { api, instances, loop, clock } = await world(unready('Unknown', 'fake://n1'), graceMs, OURS);
    instances.failure = new OperatorError(code, 'no answer that says anything');
    const stop = new AbortController();
    const running = loop.run(stop.signal);
    await clock.advance(120_000);
    expect(api.log).toEqual([]);
    expect(instances.listings).toBeLessThanOrEqual(120_000 / LIFECYCLE_LOOP_DEFAULTS.periodMs + 1);
    instances.failure = undefined;
    instances.add('n1', { state: 'Stopped' });
    await clock.advance(15_000);
    expect(api.log[0]).toBe('patch nodes/n1');
    expect(api.writes[0]).toMatchObject(tainted);
    expect(new Set(api.log)).toEqual(new Set(['patch nodes/n1']));
    stop.abort(new Error('the test is over'));
    await running;
  });

  test('a Node of which nobody can say whose it is is never deleted (difference from upstream)', async () => {
    const { api, loop, clock } = await world(unready('False'), graceMs);
    for (let pass = 0; pass < 5; pass++) {
      await loop.pass();
      await clock.advance(5_000);
    }
    expect(api.log).toEqual([]);
  });
});

describe('whose machine it is', () => {
  const lookup = async (of: { name: string; providerID?: string }): Promise<unknown> => {
    const instances = new FakeInstances();
    instances.add('n1', { providerID: 'fake://12345' });
    instances.add('n2', { providerID: 'fake://n2', names: ['n1', 'n2'], state: 'Terminated' });
    const directory = await instances.directory(new FakeClock());
    return directory.lookup({ ...of, labels: {} }, 0);
  };

  test.each<[string, { name: string; providerID?: string }]>([
    ['C-LIFE-11 by the providerID of the spec, whatever the name', { name: 'other', providerID: 'fake://12345' }],
    ['C-LIFE-12 by name, with the cloud’s providerID', { name: 'n1' }],
  ])('%s', async (_name, of) => {
    expect(await lookup(of)).toMatchObject({ state: 'Found', metadata: { providerID: 'fake://12345' } });
  });

  test('C-LIFE-13 a machine that the listing doesn’t have is Missing, not an error', async () => {
    expect(await lookup({ name: 'n1', providerID: 'fake://gone' })).toMatchObject({ state: 'Missing', provider: 'one', lateMs: 0 });
  });
});

describe('deleting', () => {
  test('C-LIFE-16 the Event is about a v1 Node with its UID; a failure is told, and tried again in the next pass', async () => {
    const { api, loop } = await world(unready('False', 'fake://n1'), 0);
    api.failures.set('remove nodes/n1', new OperatorError('Transient', '503 no leader'));
    await loop.pass();
    api.failures.clear();
    expect(api.log).toEqual([...DELETED, 'Warning DeletingNodeFailed: Failed deleting node n1: 503 no leader']);
    expect(api.targets.every(({ apiVersion, kind, metadata }) => apiVersion === 'v1' && kind === 'Node' && metadata.uid === 'node-1')).toBe(
      true,
    );
    await loop.pass();
    expect(api.log.slice(3)).toEqual(DELETED);
  });

  test('the cloud is not asked while all Nodes are Ready, and once for all that are not', async () => {
    const { nodes, instances, loop, clock } = await world(node(), 0);
    await loop.pass();
    expect(instances.listings).toBe(0);
    nodes.replace(
      ['n1', 'n2', 'n3'].map((name) => node({ metadata: { name, uid: name }, spec: { providerID: `fake://${name}` }, status: {} })),
    );
    for (const name of ['n1', 'n2', 'n3']) instances.add(name);
    await loop.pass();
    expect(instances.listings).toBe(1);
    await clock.advance(5_000);
    await loop.pass();
    expect(instances.listings).toBe(2);
  });

  test('passes and questions are counted under upstream’s names', async () => {
    const { instances, loop, counted, clock } = await world(unready('False', 'fake://n1'), 15_000);
    const calls = async (): Promise<unknown> =>
      (await counted.getSingleMetric('cloud_node_lifecycle_controller_cloud_provider_calls_total')?.get())?.values;
    const call = (operation: string, result: string, value: number): object => ({ labels: { operation, result }, value });
    await loop.pass();
    instances.add('n1');
    await clock.advance(5_000);
    await loop.pass();
    instances.failure = new OperatorError('Transient', '503');
    await clock.advance(5_000);
    await loop.pass();
    expect(await calls()).toEqual([
      call('instance_exists', 'instance_not_found', 1),
      call('instance_exists', 'success', 1),
      call('instance_shutdown', 'success', 1),
      call('instance_exists', 'error', 1),
    ]);
    expect(await counted.metrics()).toContain('cloud_node_lifecycle_controller_monitor_nodes_duration_seconds_count 3');
  });

  test('a Node that no cloud says is its own counts as an error: nobody has said that it does not exist (difference from upstream)', async () => {
    const { loop, counted } = await world(unready('False', 'nobody://n1'), 0);
    await loop.pass();
    const text = await counted.metrics();
    expect(text).toContain('cloud_provider_calls_total{operation="instance_exists",result="error"} 1');
    expect(text).not.toContain('instance_not_found');
  });

  test('C-LIFE-14 workers', () => {
    const settings = (workers: number): LifecycleLoop =>
      new LifecycleLoop({ settings: { ...LIFECYCLE_LOOP_DEFAULTS, workers } } as ConstructorParameters<typeof LifecycleLoop>[0]);
    expect(() => settings(5)).not.toThrow();
    expect(() => settings(0)).toThrow('concurrent-node-lifecycle-syncs must be at least 1, but got 0');
  });
});

test('several workers share the limit of deletions', async () => {
  const of = (index: number): Node =>
    node({
      metadata: { name: `n${index}`, uid: `uid-${index}`, labels: OURS },
      spec: { providerID: `fake://n${index}` },
      status: { conditions: [{ type: 'Ready', status: 'False' }] },
    });
  const { api, nodes, loop } = await world(of(0), 0, OURS);
  nodes.replace(Array.from({ length: 6 }, (_, index) => of(index)));
  await loop.pass();
  expect(api.writes.filter(({ verb }) => verb === 'remove')).toHaveLength(3);
  expect(api.events.filter((event) => event.includes('DeletingNodeHeldBack'))).toHaveLength(3);
});

describe('an API server that refuses every write for an hour', () => {
  const PASSES = 3_600_000 / LIFECYCLE_LOOP_DEFAULTS.periodMs;

  async function hour(of: Node, machine: Partial<Instance> | undefined, write: string, code: ErrorCode): Promise<World> {
    const at = await world(of, 15_000, OURS);
    if (machine !== undefined) at.instances.add('n1', machine);
    at.api.stored.set('nodes/n1', of);
    at.api.failures.set(write, new OperatorError(code, 'refused'));
    const stop = new AbortController();
    const running = at.loop.run(stop.signal);
    await at.clock.advance(3_600_000);
    expect(at.instances.listings).toBeLessThanOrEqual(PASSES + 1);
    at.counts = at.api.log.filter((entry) => entry === write).length;
    at.api.failures.clear();
    at.api.log.length = 0;
    await at.clock.advance(LIFECYCLE_LOOP_DEFAULTS.periodMs);
    stop.abort(new Error('the test is over'));
    await running;
    return at;
  }

  // Contract 4: a Node that changed meanwhile is read and patched anew five times within a pass.
  test.each<[string, ErrorCode, perPass: number]>([
    ['401 or 403', 'Credentials', 1],
    ['409', 'Conflict', 6],
    ['410', 'NotFound', 1],
    ['429', 'Throttled', 1],
    ['500, or nothing', 'Transient', 1],
  ])('with %s: one try in each pass, and done once it takes them', async (_what, code, perPass) => {
    const deleting = await hour(unready('False', 'fake://n1'), undefined, 'remove nodes/n1', code);
    expect(deleting.counts).toBeGreaterThan(PASSES / 2);
    expect(deleting.counts).toBeLessThanOrEqual(PASSES);
    expect(deleting.api.log).toEqual(DELETED);
    const tainting = await hour(unready('False', 'fake://n1'), { state: 'Stopped' }, 'patch nodes/n1', code);
    expect(tainting.counts).toBeGreaterThan(PASSES / 2);
    expect(tainting.counts).toBeLessThanOrEqual(perPass * PASSES + 1);
    expect(tainting.api.log).toEqual(['patch nodes/n1']);
  });
});
