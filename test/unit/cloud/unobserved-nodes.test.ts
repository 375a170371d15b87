import { UnobservedNodes } from '../../../operator/cloud/instances/unobserved-nodes';
import { cloudProviderSpec } from '../../../crds';
import type { Store, StoreChange } from '../../../operator/kube/api';
import type { Node } from '../../../operator/kube/object';
import { fakeRegistry } from './fake-registry';

const node = (name: string, providerID?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
  spec: { ...(providerID !== undefined && { providerID }) },
});

/** Two clouds, of which `beta` is observed or not. */
async function made(observed: boolean) {
  const registry = fakeRegistry();
  const spec = (kind: string, more: object = {}) => cloudProviderSpec.parse({ custom: { kind }, ...more });
  await registry.set('a', spec('alpha'));
  const set = (observe: boolean) => registry.set('b', spec('beta', observe ? { managementPolicy: 'Observe' } : {}));
  await set(observed);
  const all = [node('one', 'alpha:///1'), node('two', 'beta:///2'), node('new')];
  let listener: (change: StoreChange<Node>) => void = () => undefined;
  const store: Store<Node> = {
    synced: true,
    whenSynced: () => Promise.resolve(),
    get: (key) => all.find(({ metadata }) => metadata.name === key),
    list: () => all,
    byIndex: () => all,
    onChange: (told) => {
      listener = told;
      return () => undefined;
    },
  };
  return { nodes: new UnobservedNodes(store, registry), registry, set, change: (change: StoreChange<Node>) => listener(change) };
}

const names = (all: Node[]): string[] => all.map(({ metadata }) => metadata.name);

test('Nodes of a CloudProvider that is only observed are not seen by the loops; those of others, and of nobody yet, are', async () => {
  const { nodes, registry } = await made(true);
  expect(names(nodes.list())).toEqual(['one', 'new']);
  expect(names(nodes.byIndex('any', 'x'))).toEqual(['one', 'new']);
  expect(nodes.get('two')).toBeUndefined();
  expect(registry.isFrozen('b')).toBe(true);
  expect(registry.isFrozen('a')).toBe(false);
});

test('where all are observed, so is every Node', async () => {
  const { nodes, registry } = await made(true);
  await registry.remove('a');
  expect(nodes.list()).toEqual([]);
});

test('all are told of when it is not observed any more; until then only that one is gone', async () => {
  const { nodes, set, change } = await made(true);
  const told: string[] = [];
  const stop = nodes.onChange(({ key, current }) => void told.push(`${key}${current === undefined ? ' gone' : ''}`));
  change({ key: 'two', current: node('two', 'beta:///2') });
  change({ key: 'two', previous: node('two', 'beta:///2') });
  expect(told).toEqual(['two gone']);
  await set(false);
  expect(told.slice(1)).toEqual(['one', 'two', 'new']);
  stop();
});
