import { cloudProviderSpec } from '../../../crds';
import { EligibleTargets } from '../../../operator/cloud/targets/eligible-targets';
import type { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { silentLogger } from '../../../operator/base/log';
import type { Node } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';
import { node } from '../loops/objects';
import { fakeRegistry } from './fake-registry';

const SPEC = cloudProviderSpec.parse({ custom: { kind: 'fake' } });

let registry: CloudRegistry;
let nodes: MemoryStore<Node>;
let targets: EligibleTargets;

beforeEach(async () => {
  registry = fakeRegistry();
  await registry.set('one', SPEC);
  nodes = new MemoryStore<Node>({}, silentLogger);
  targets = new EligibleTargets(nodes, registry);
});

function named(name: string, changes: Parameters<typeof node>[0] = {}): Node {
  return node({ ...changes, metadata: { name, uid: name, ...changes.metadata }, spec: { providerID: `fake://${name}`, ...changes.spec } });
}

const namesOf = (provider: string): string[] => targets.of(provider).map(({ nodeName }) => nodeName);

test('by name, without those that take no traffic, and the same array until something changes', () => {
  nodes.replace([named('b'), named('a'), named('c', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })]);
  expect(namesOf('one')).toEqual(['a', 'b']);
  expect(targets.of('one')).toBe(targets.of('one'));
  nodes.replace([named('b')]);
  expect(namesOf('one')).toEqual(['b']);
  expect(namesOf('two')).toEqual([]);
});

test('another cloud of the same kind: undecided until the clouds were asked', async () => {
  nodes.replace([named('a')]);
  expect(namesOf('one')).toEqual(['a']);
  await registry.set('two', SPEC);
  expect([namesOf('one'), targets.undecidedOf('one'), targets.undecidedOf('two')]).toEqual([[], ['a'], ['a']]);
  registry.owners.found({ name: 'a', providerID: 'fake://a', labels: {} }, 'one');
  expect([namesOf('one'), targets.undecidedOf('one'), targets.undecidedOf('two')]).toEqual([['a'], [], []]);
});

test('a Node of a cloud that can’t be asked is undecided for that one only, once the others have said that it is not theirs', async () => {
  await registry.set('two', SPEC);
  await registry.set('other', cloudProviderSpec.parse({ custom: { kind: 'elsewhere' } }));
  nodes.replace([named('a')]);
  const undecided = (): object => ['one', 'two', 'other'].map((provider) => targets.undecidedOf(provider));
  expect(undecided()).toEqual([['a'], ['a'], []]);
  registry.owners.denied({ name: 'a', providerID: 'fake://a', labels: {} }, 'one');
  expect(undecided()).toEqual([[], ['a'], []]);
  // Another machine of that name is asked for anew.
  nodes.replace([named('a', { metadata: { name: 'a', uid: 'a', resourceVersion: '2' }, spec: { providerID: 'fake://b' } })]);
  expect(undecided()).toEqual([['a'], ['a'], []]);
});

test('by labels: only those that have all of them, and a change of such a label counts', () => {
  const labelled = (name: string, labels: Record<string, string>): Node => named(name, { metadata: { name, uid: name, labels } });
  nodes.replace([labelled('a', { pool: 'edge', arch: 'arm' }), labelled('b', { pool: 'edge' }), labelled('c', { arch: 'arm' })]);
  const select = (labels: Record<string, string>): string[] => targets.of('one', { matchLabels: labels }).map(({ nodeName }) => nodeName);
  const change = (label: Record<string, string>): boolean =>
    targets.mayBeChangedBy({ key: 'c', previous: labelled('c', { arch: 'arm' }), current: labelled('c', { arch: 'arm', ...label }) }, true);
  expect(change({ pool: 'edge' })).toBe(false);
  targets.selections.hold('web', [{ matchLabels: { pool: 'edge' } }, undefined]);
  targets.selections.hold(
    'shop',
    [{ pool: 'core' }, { pool: 'edge', arch: 'arm' }, { pool: 'edge' }].map((matchLabels) => ({ matchLabels })),
  );
  expect([select({ pool: 'edge' }), select({ pool: 'edge', arch: 'arm' }), select({ pool: 'core' })]).toEqual([['a', 'b'], ['a'], []]);
  expect([change({ pool: 'edge' }), change({ team: 'shop' })]).toEqual([true, false]);
  nodes.replace([
    labelled('a', {}),
    labelled('b', {}),
    named('c', { metadata: { name: 'c', uid: 'c', resourceVersion: '2', labels: { pool: 'edge' } } }),
  ]);
  expect(select({ pool: 'edge' })).toEqual(['a', 'b', 'c']);
  expect(targets.setsOf('one').map((set) => set.length)).toEqual([3, 1, 0, 3]);
  // A tenant may write other labels each minute, and is gone one day.
  targets.selections.hold('shop', [{ matchExpressions: [{ key: 'arch', operator: 'Exists' }] }]);
  expect([targets.setsOf('one').length, [...targets.selections.keys]]).toEqual([3, ['arch', 'pool']]);
  targets.selections.drop('shop');
  targets.selections.hold('web', [undefined]);
  expect([targets.setsOf('one').length, change({ pool: 'edge' })]).toEqual([1, false]);
  // Before anybody has it, each answer is of now.
  expect(select({ team: 'shop' })).toEqual([]);
  nodes.set(named('a', { metadata: { name: 'a', uid: 'a', resourceVersion: '3', labels: { team: 'shop' } } }));
  expect(select({ team: 'shop' })).toEqual(['a']);
});

test('a Node without a providerID is nobody’s target, also where there is but one cloud and its selector has it (difference from upstream)', async () => {
  const labels = { cloud: 'one' };
  await registry.set('one', { ...SPEC, nodeSelector: labels });
  nodes.replace([
    named('a', { spec: { providerID: '' }, metadata: { name: 'a', uid: 'a', labels } }),
    named('b', { spec: { providerID: undefined } }),
  ]);
  expect([namesOf('one'), targets.undecidedOf('one')]).toEqual([[], []]);
});
