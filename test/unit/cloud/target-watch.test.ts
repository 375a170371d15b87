import { cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { mayChangeTargets } from '../../../operator/cloud/targets/eligible-targets';
import { MemberKeeper } from '../../../operator/cloud/targets/member-keeper';
import type { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { TargetWatch } from '../../../operator/cloud/targets/target-watch';
import type { Node, Taint } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';
import type { LeftOut, TargetGroup } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';
import { node, NOW } from '../loops/objects';
import { fakeRegistry } from './fake-registry';

const EXCLUDE = 'node.kubernetes.io/exclude-from-external-load-balancers';
const AUTOSCALER: Taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' };
const OTHER: Taint = { key: 'Other', effect: 'NoSchedule' };
const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const NOT_READY = { conditions: [{ type: 'Ready', status: 'False' }] };

type Changes = NonNullable<Parameters<typeof node>[0]>;
let versions = 100;

function named(name: string, changes: Changes = {}): Node {
  const metadata = { name, uid: name, resourceVersion: `${++versions}`, ...changes.metadata };
  return node({ ...changes, metadata, spec: { providerID: `fake://${name}`, ...changes.spec } });
}

/** Load balancers of cloud `one`, whose targets follow the Nodes; each write is `<group>: <names>`. */
class World {
  readonly writes: string[] = [];
  /** The next write is made, and its answer is lost. */
  lose = false;
  /** Nodes whose machines do not run. */
  readonly stopped = new Set<string>();
  readonly clock = new FakeClock();
  readonly nodes = new MemoryStore<Node>({}, silentLogger);
  readonly registry: CloudRegistry;
  private readonly keeper: MemberKeeper;

  constructor(
    private readonly groups: readonly string[],
    promptRemoval: boolean,
  ) {
    const members = {
      sync: ({ id }: TargetGroup, targets: { nodeName: string }[], _isValid: () => boolean, left?: LeftOut): Promise<number> => {
        const names = targets.map(({ nodeName }) => nodeName);
        this.writes.push(`${id}: ${names.filter((name) => !this.stopped.has(name)).join(' ')}`);
        names.filter((name) => this.stopped.has(name)).forEach((name) => left?.(name));
        const lost = this.lose;
        this.lose = false;
        return lost ? Promise.reject(new OperatorError('Transient', 'no answer')) : Promise.resolve(1);
      },
      hash: (_group: TargetGroup, targets: object[]): string => JSON.stringify(targets),
      observe: () => Promise.resolve(new Map<string, string>()),
    };
    this.registry = fakeRegistry({ members });
    this.keeper = new MemberKeeper({ nodes: this.nodes, registry: this.registry, isValid: () => true, logger: silentLogger });
    const watch = new TargetWatch({
      ...{ members: this.keeper, registry: this.registry, clock: this.clock, promptRemoval },
      changed: (provider) => void this.sync(provider).catch(() => undefined), // whoever retries it comes too late
    });
    this.nodes.onChange((change) => watch.onNode(change));
  }

  static async with(groups: readonly string[], nodes: Node[], promptRemoval = true): Promise<World> {
    const world = new World(groups, promptRemoval);
    await world.registry.set('one', cloudProviderSpec.parse({ custom: { kind: 'fake' } }));
    world.nodes.replace(nodes);
    await world.clock.advance(1_000);
    return world;
  }

  /** A load balancer is updated for a reason of its own, and settles with the Nodes of this moment. */
  async settle(): Promise<void> {
    await this.sync('one');
  }

  /** What a change writes. */
  async after(...changes: (Node | string)[]): Promise<string[]> {
    this.writes.length = 0;
    for (const change of changes) {
      if (typeof change === 'string') this.nodes.delete(change);
      else this.nodes.set(change);
    }
    await this.clock.advance(1_000);
    return this.writes;
  }

  private sync(provider: string): Promise<unknown> {
    return this.keeper.sync(
      provider,
      this.groups.map((id) => ({ id, stack: id }) as unknown as TargetGroup),
    );
  }
}

const two = (): Node[] => [named('node1', { status: READY }), named('node2', { status: READY })];

describe('node sync (contract 2.10)', () => {
  test('C-SVC-27 no load balancer: no call', async () => {
    const world = await World.with([], two());
    expect(await world.after(named('node3'))).toEqual([]);
  });

  test('C-SVC-28 nothing registered yet: one call with all Nodes', async () => {
    expect((await World.with(['a'], [...two(), named('node3')])).writes).toEqual(['a: node1 node2 node3']);
  });

  // That only Services of type LoadBalancer have groups: test/unit/loops/service/loop.test.ts.
  test('C-SVC-29 C-SVC-30 one call for each load balancer', async () => {
    expect((await World.with(['a', 'b'], two())).writes).toHaveLength(2);
    expect((await World.with(['a', 'b', 'c', 'd'], two())).writes).toHaveLength(4);
  });

  test.each<[string, (Node | string)[], string]>([
    ['C-SVC-31 a third Node', [named('node3')], 'node1 node2 node3'],
    ['three Nodes that come together', [named('node3'), named('node4'), named('node5')], 'node1 node2 node3 node4 node5'],
    ['C-SVC-34 a Node is deleted', ['node2'], 'node1'],
    [
      'C-SVC-36 both providerIDs change',
      [named('node1', { spec: { providerID: 'fake://x1' } }), named('node2', { spec: { providerID: 'fake://x2' } })],
      'node1 node2',
    ],
    ['another address', [named('node2', { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.9' }] } })], 'node1 node2'],
    ['C-SVC-42 no providerID any more', [named('node2', { spec: { providerID: '' } })], 'node1'],
    ['C-SVC-46 excluded by "true"; and not by "false"', [labelled('true', 'node1'), labelled('false')], 'node2'],
  ])('%s: one call for each of three load balancers', async (_name, changes, names) => {
    const world = await World.with(['a', 'b', 'c'], two());
    expect(await world.after(...changes)).toEqual([`a: ${names}`, `b: ${names}`, `c: ${names}`]);
  });

  test('a Node that comes and goes again before anybody looks: what was written with it is written again, and otherwise nothing is', async () => {
    const world = await World.with(['a', 'b'], two());
    expect(await world.after(named('node3'), 'node3')).toEqual([]);
    world.nodes.set(named('node3'));
    await world.settle();
    expect(world.writes).toEqual(['a: node1 node2 node3', 'b: node1 node2 node3']);
    expect(await world.after('node3')).toEqual(['a: node1 node2', 'b: node1 node2']);
    expect(await world.after(named('node3'), 'node3')).toEqual([]);
  });

  test.each<[string, Changes]>([
    ['C-SVC-32 NotReady', { status: NOT_READY }],
    ['C-SVC-35 an unrelated taint', { spec: { taints: [OTHER] } }],
    ['C-SVC-37 nothing but a heartbeat', {}],
    ['C-SVC-40 without the condition Ready', { status: { conditions: [] } }],
    ['a cordon', { spec: { unschedulable: true } }],
    ['a label', { metadata: { labels: { disk: 'ssd' } } }],
    ['another kind of address', { status: { addresses: [{ type: 'ExternalIP', address: '203.0.113.1' }] } }],
  ])('%s: no call, and none for the way back (C-SVC-33, C-SVC-39)', async (_name, changes) => {
    const world = await World.with(['a', 'b'], two());
    expect(await world.after(named('node2', changes))).toEqual([]);
    expect(await world.after(named('node2', { status: READY }))).toEqual([]);
  });

  test('a Node that joins while the answer is lost, and leaves again: a call that takes it out', async () => {
    const world = await World.with(['a'], two());
    world.lose = true;
    expect(await world.after(named('node3'))).toEqual(['a: node1 node2 node3']);
    expect(await world.after('node3')).toEqual(['a: node1 node2']);
  });

  test('a Node whose machine does not run when it is to become a target becomes one when it is ready', async () => {
    const world = await World.with(['a', 'b'], two());
    world.stopped.add('node3');
    expect(await world.after(named('node3', { status: NOT_READY }))).toEqual(['a: node1 node2', 'b: node1 node2']);
    expect(await world.after(named('node3', { status: NOT_READY }))).toEqual([]);
    // The cloud has not heard of it yet; the next heartbeat tries again.
    expect(await world.after(named('node3', { status: READY }))).toEqual(['a: node1 node2', 'b: node1 node2']);
    world.stopped.clear();
    expect(await world.after(named('node3', { status: READY }))).toEqual(['a: node1 node2 node3', 'b: node1 node2 node3']);
    expect(await world.after(named('node3', { status: READY }))).toEqual([]);
  });

  test('what waited for the word whose a Node is, is written as soon as that is known', async () => {
    const world = await World.with(['a'], two());
    const identity = (name: string) => ({ name, providerID: `fake://${name}`, labels: {} });
    for (const name of ['node1', 'node2']) world.registry.owners.found(identity(name), 'one');
    await world.registry.set('two', cloudProviderSpec.parse({ custom: { kind: 'fake' } }));
    await world.clock.advance(1_000);
    expect(await world.after(named('node3'), 'node2')).toEqual([]);
    world.registry.owners.denied(identity('node3'), 'one');
    await world.clock.advance(1_000);
    expect(world.writes).toEqual(['a: node1']);
  });

  describe('a Node that is about to go', () => {
    test.each<[string, Changes]>([
      ['C-SVC-41 deletionTimestamp', { metadata: { deletionTimestamp: NOW } }],
      ['C-SVC-45 not Ready, the autoscaler’s taint', { spec: { taints: [AUTOSCALER] }, status: NOT_READY }],
    ])('%s: at once; with upstream’s setting (--prompt-node-removal=false) at the next sync', async (_name, changes) => {
      const ours = await World.with(['a'], two());
      expect(await ours.after(named('node2', changes))).toEqual(['a: node1']);
      const upstream = await World.with(['a'], two(), false);
      expect(await upstream.after(named('node2', changes))).toEqual([]);
      expect(await upstream.after(named('node3'))).toEqual(['a: node1 node3']);
    });
  });
});

function labelled(value: string, name = 'node2', changes: Changes = {}): Node {
  return named(name, { ...changes, metadata: { labels: { [EXCLUDE]: value } } });
}

describe('node events (contract 2.9): whether the targets are looked at', () => {
  const plain = named('n');
  const excluded = labelled('');
  const tainted = named('n', { spec: { taints: [AUTOSCALER] } });

  test.each<[string, Node, Node, upstreamAndOurs: [boolean, boolean]]>([
    ['C-SVC-37 nothing changed', plain, named('n'), [false, false]],
    ['C-SVC-38 the exclude label goes', labelled('', 'n'), plain, [true, true]],
    ['C-SVC-39 an unrelated taint', plain, named('n', { spec: { taints: [OTHER] } }), [false, false]],
    ['C-SVC-39 its end', named('n', { spec: { taints: [OTHER] } }), plain, [false, false]],
    ['C-SVC-40 Ready False, then no condition', named('n', { status: NOT_READY }), named('n', { status: {} }), [false, false]],
    ['C-SVC-40 and back', named('n', { status: {} }), named('n', { status: NOT_READY }), [false, false]],
    ['C-SVC-41 deletionTimestamp', plain, named('n', { metadata: { deletionTimestamp: NOW } }), [false, true]],
    ['C-SVC-42 the providerID goes', plain, named('n', { spec: { providerID: '' } }), [true, true]],
    [
      'C-SVC-43 has the autoscaler’s taint; the exclude label comes',
      tainted,
      labelled('', 'n', { spec: { taints: [AUTOSCALER] } }),
      [true, true],
    ],
    [
      'C-SVC-44 excluded; the autoscaler’s taint comes',
      excluded,
      labelled('', 'node2', { spec: { taints: [AUTOSCALER] } }),
      [false, false],
    ],
    [
      'C-SVC-45 not Ready; the autoscaler’s taint comes',
      named('n', { status: NOT_READY }),
      named('n', { spec: { taints: [AUTOSCALER] }, status: NOT_READY }),
      [false, true],
    ],
    ['C-SVC-46 the exclude label with the value "false"', plain, labelled('false', 'n'), [false, false]],
  ])('%s', (_name, before, after, wanted) => {
    expect([mayChangeTargets(before, after, false), mayChangeTargets(before, after, true)]).toEqual(wanted);
  });
});
