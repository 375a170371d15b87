import { silentLogger } from '../../../../operator/base/log';
import type { Node, Taint } from '../../../../operator/kube/object';
import { MemoryStore } from '../../../../operator/kube/store';
import type { InstanceLookup } from '../../../../operator/loops/instances';
import { confirmationRule } from '../../../../operator/loops/lifecycle/confirmations';
import { DeletionLimit } from '../../../../operator/loops/lifecycle/deletion-limit';
import { evaluateLookup, evaluateReady, mustAsk } from '../../../../operator/loops/lifecycle/evaluate';
import { node } from '../objects';

const SHUTDOWN: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
const OTHER: Taint = { key: 'other', effect: 'NoExecute' };
const UPSTREAM = confirmationRule(0);
const CAREFUL = confirmationRule(15_000);
const MISSING = missingAt(0);

function unready(status: 'False' | 'Unknown', taints: Taint[] = []): Node {
  return node({ spec: { taints }, status: { conditions: [{ type: 'Ready', status }] } });
}

function missingAt(listedAt: number, lateMs = 0): InstanceLookup {
  return { state: 'Missing', provider: 'fake', listedAt, lateMs };
}

function found(shutdown: boolean): InstanceLookup {
  const metadata = { providerID: 'fake://1', instanceType: '', zone: '', region: '', addresses: [], additionalLabels: {} };
  return { state: 'Found', provider: 'fake', shutdown, metadata };
}

describe('a Node that is not Ready (contract 4)', () => {
  const taintPatch = (taints: Taint[]): object => ({ kind: 'PatchNode', patch: { metadata: { resourceVersion: '20' }, spec: { taints } } });

  test.each<[string, Node, InstanceLookup, object]>([
    ['C-LIFE-04 False, gone', unready('False'), MISSING, { kind: 'Delete' }],
    ['C-LIFE-05 False, exists', unready('False'), found(false), { kind: 'None' }],
    ['C-LIFE-06 Unknown, exists', unready('Unknown'), found(false), { kind: 'None' }],
    ['C-LIFE-07 False, shut down', unready('False', [OTHER]), found(true), taintPatch([OTHER, SHUTDOWN])],
    ['shut down and tainted', unready('False', [SHUTDOWN]), found(true), { kind: 'None' }],
    [
      'C-LIFE-15 the key with another effect is no match',
      unready('False', [{ ...SHUTDOWN, effect: 'NoExecute' }]),
      found(true),
      taintPatch([{ ...SHUTDOWN, effect: 'NoExecute' }, SHUTDOWN]),
    ],
    ['running and tainted: the taint stays until Ready', unready('False', [SHUTDOWN]), found(false), { kind: 'None' }],
    ['no machine of its cloud', unready('False'), { state: 'Unmanaged', message: '' }, { kind: 'None' }],
    ['C-LIFE-08 nobody can say', unready('False'), { state: 'Unclaimed', message: '' }, { kind: 'None' }],
    ['two clouds claim it', unready('False'), { state: 'Ambiguous', message: '' }, { kind: 'None' }],
  ])('%s', (_name, of, lookup, wanted) => {
    expect(evaluateLookup(of, lookup, undefined, { rule: UPSTREAM, now: 0, wallNow: 0 }).action).toEqual(wanted);
  });

  test('the cloud is asked about Nodes that are not Ready, and about none that is on its way out', () => {
    expect(mustAsk(unready('Unknown'))).toBe(true);
    expect(mustAsk(node({ status: {} }))).toBe(true);
    expect(mustAsk(node())).toBe(false);
    expect(mustAsk(node({ metadata: { deletionTimestamp: 'x' }, status: {} }))).toBe(false);
  });

  test('Ready: only our taint goes', () => {
    expect(evaluateReady(node({ spec: { taints: [OTHER, SHUTDOWN] } }))).toEqual(taintPatch([OTHER]));
    expect(evaluateReady(node({ spec: { taints: [OTHER] } }))).toEqual({ kind: 'None' });
  });
});

describe('confirmation', () => {
  function listings(of: (index: number) => { node: Node; lookup: InstanceLookup }, times: readonly number[]): string[] {
    let misses: ReturnType<typeof evaluateLookup>['misses'];
    return times.map((now, index) => {
      const { node: at, lookup } = of(index);
      const listed = lookup.state === 'Missing' ? missingAt(now) : lookup;
      const judgement = evaluateLookup(at, listed, misses, { rule: CAREFUL, now, wallNow: 0 });
      misses = judgement.misses;
      return judgement.action.kind;
    });
  }

  test('two listings over 15 s', () => {
    const gone = { node: unready('False'), lookup: MISSING };
    expect(listings(() => gone, [0, 5_000, 10_000, 15_000])).toEqual(['None', 'None', 'None', 'Delete']);
    expect(listings(() => gone, [0])).toEqual(['None']);
  });

  test('one listing that serves several passes counts once', () => {
    const first = evaluateLookup(unready('False'), missingAt(0), undefined, { rule: CAREFUL, now: 0, wallNow: 0 });
    const again = evaluateLookup(unready('False'), missingAt(0), first.misses, { rule: CAREFUL, now: 20_000, wallNow: 0 });
    expect(again.action.kind).toBe('None');
    expect(evaluateLookup(unready('False'), missingAt(20_000), again.misses, { rule: CAREFUL, now: 21_000, wallNow: 0 }).action.kind).toBe(
      'Delete',
    );
  });

  test('a cloud whose listings lag behind takes no Node away that is younger than that', () => {
    const at = unready('False');
    const bornAt = Date.parse(at.metadata.creationTimestamp);
    const judged = (ageMs: number): string =>
      evaluateLookup(at, missingAt(0, 300_000), undefined, { rule: UPSTREAM, now: 0, wallNow: bornAt + ageMs }).action.kind;
    expect([judged(0), judged(299_999), judged(300_000)]).toEqual(['None', 'None', 'Delete']);
  });

  test('a listing that has the machine again starts it afresh', () => {
    const at = (index: number): { node: Node; lookup: InstanceLookup } => ({
      node: unready('False'),
      lookup: index === 1 ? found(false) : MISSING,
    });
    expect(listings(at, [0, 5_000, 15_000, 20_000, 30_000])).toEqual(['None', 'None', 'None', 'None', 'Delete']);
  });

  test('R-14 a Node that registers anew under the name starts afresh', () => {
    const anew = node({ metadata: { uid: 'node-2' }, spec: { providerID: 'fake://2' }, status: {} });
    const at = (index: number): { node: Node; lookup: InstanceLookup } => ({ node: index < 2 ? unready('False') : anew, lookup: MISSING });
    expect(listings(at, [0, 10_000, 20_000, 30_000, 35_000])).toEqual(['None', 'None', 'None', 'None', 'Delete']);
  });
});

describe('the limit of deletions', () => {
  /** Nodes of which each is still there for a moment after its deletion. */
  function limited(count: number, settings: { share: number; windowMs: number }) {
    const nodes = new MemoryStore<Node>({}, silentLogger);
    const all = Array.from({ length: count }, (_, index) => node({ metadata: { name: `n${index}`, uid: `uid-${index}` } }));
    nodes.replace(all);
    const limit = new DeletionLimit(settings, nodes);
    const leave = (...gone: (Node | undefined)[]): void => nodes.replace(nodes.list().filter((one) => !gone.includes(one)));
    return { all, limit, leave };
  }

  test('a share of the Nodes per window, at least one', () => {
    const { all, limit, leave } = limited(4, { share: 0.5, windowMs: 1_000 });
    const tryAt = (now: number): boolean => {
      const next = all[0]!;
      if (!limit.take(next, now)) return false;
      leave(all.shift());
      return true;
    };
    expect([0, 0, 0].map(tryAt)).toEqual([true, true, false]);
    expect([999, 1_000, 1_000].map(tryAt)).toEqual([false, true, false]);
    const one = limited(1, { share: 0, windowMs: 1 });
    expect(one.limit.take(one.all[0]!, 0)).toBe(true);
  });

  test('those that are being deleted count, and are not counted twice', () => {
    const { all, limit, leave } = limited(10, { share: 0.5, windowMs: 1_000 });
    expect(all.filter((one) => limit.take(one, 0))).toHaveLength(5);
    leave(all[0], all[1]);
    expect([limit.take(all[9]!, 0), limit.take(all[2]!, 0)]).toEqual([false, true]);
    limit.giveBack(all[2]!);
    expect([limit.take(all[9]!, 0), limit.take(all[2]!, 0)]).toEqual([true, false]);
  });

  test('share 1 = no limit', () => {
    const { all, limit } = limited(10, { share: 1, windowMs: 1_000 });
    expect(all.every((one) => limit.take(one, 0))).toBe(true);
  });
});
