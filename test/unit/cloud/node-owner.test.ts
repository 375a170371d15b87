import { cloudProviderSpec } from '../../../crds';
import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { Cloud, ProviderModule } from '../../../providers/provider';

/** A registry with clouds of the given kinds: name → kind and selector. */
async function registryOf(
  clouds: Record<string, { kind: string; nodeSelector?: Record<string, string> }>,
  recordedOwner: (name: string) => { provider: string; providerID: string } | undefined = () => undefined,
): Promise<CloudRegistry> {
  const registry = new CloudRegistry({ loadModule: moduleOf, clusterID: 'c', readSecret: () => Promise.resolve(['']), recordedOwner });
  for (const [name, { kind, nodeSelector }] of Object.entries(clouds)) {
    const selector = nodeSelector === undefined ? {} : { nodeSelector };
    await registry.set(name, cloudProviderSpec.parse({ custom: { kind }, ...selector }));
  }
  return registry;
}

function moduleOf(kind: string): Promise<ProviderModule> {
  const cloud: Cloud = { workerSettings: () => ({}), close: () => Promise.resolve() };
  return Promise.resolve({
    kind,
    providerIDScheme: kind,
    programVersion: '1',
    compile: () => ({ block: {}, problems: [] }),
    connect: () => Promise.resolve(cloud),
  });
}

test.each<[string, string | undefined, { providerID?: string; labels?: Record<string, string> }]>([
  ['the only cloud of its form', 'a', { providerID: 'alpha:///1' }],
  ['the one whose selector fits, of several clouds of its form', 'b-east', { providerID: 'beta:///1', labels: { place: 'east' } }],
  ['the one without a selector, when no selector fits', 'b', { providerID: 'beta:///1', labels: { place: 'south' } }],
  ['nobody, when several selectors fit', undefined, { providerID: 'beta:///1', labels: { place: 'east', pool: 'gpu' } }],
  ['nobody, when the form is unknown', undefined, { providerID: 'gamma:///1', labels: { place: 'east' } }],
  ['by selector alone, without a providerID', 'b-east', { labels: { place: 'east' } }],
  ['nobody, without a providerID and a selector that fits', undefined, { labels: {} }],
])('a Node belongs to %s', async (_what, owner, { providerID, labels = {} }) => {
  const registry = await registryOf({
    a: { kind: 'alpha' },
    b: { kind: 'beta' },
    'b-east': { kind: 'beta', nodeSelector: { place: 'east' } },
    'b-gpu': { kind: 'beta', nodeSelector: { pool: 'gpu' } },
  });
  expect(registry.forNode({ name: 'n', labels, ...(providerID === undefined ? {} : { providerID }) })).toBe(owner);
});

describe('two clouds of one form without selectors', () => {
  const node = { name: 'n', providerID: 'alpha:///1', labels: {} };

  test('nobody is said to own the Node before the clouds were asked', async () => {
    const { owners } = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' } });
    expect(owners.of(node)).toBe('Undecided');
    owners.found(node, undefined);
    expect(owners.of(node)).toBe('Nobody');
  });

  test('a cloud that does not have it is no candidate any more, until the Node is another machine or gone', async () => {
    const { owners } = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' }, other: { kind: 'beta' } });
    const told: string[] = [];
    const stop = owners.onChange((nodeName) => told.push(nodeName));
    expect(owners.candidates(node)).toEqual(['one', 'two']);
    owners.denied(node, 'one');
    owners.denied(node, 'one');
    expect([owners.candidates(node), owners.of(node), told]).toEqual([['two'], 'Undecided', ['n']]);
    expect(owners.candidates({ ...node, providerID: 'alpha:///2' })).toEqual(['one', 'two']);
    owners.forget('n');
    expect(owners.candidates(node)).toEqual(['one', 'two']);
    owners.found(node, 'two');
    stop();
    owners.found(node, 'one');
    expect(told).toEqual(['n', 'n']);
  });

  test('what was found stays true, until the Node is gone, is another machine, or its cloud is removed', async () => {
    const registry = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' }, three: { kind: 'alpha' } });
    registry.owners.found(node, 'two');
    expect(registry.owners.of(node)).toEqual({ owner: 'two' });
    expect(registry.owners.of({ ...node, providerID: 'alpha:///2' })).toBe('Undecided');
    await registry.remove('two');
    expect(registry.owners.of(node)).toBe('Nobody');
    registry.owners.forget('n');
    expect(registry.owners.of(node)).toBe('Undecided');
  });

  test('after a restart, what was recorded', async () => {
    const recorded = { n: { provider: 'one', providerID: 'alpha:///1' } } as Record<string, { provider: string; providerID: string }>;
    const registry = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' } }, (name) => recorded[name]);
    expect(registry.forNode(node)).toBe('one');
  });

  test('a cloud that comes later takes no Node away', async () => {
    const registry = await registryOf({ one: { kind: 'alpha' } });
    expect(registry.forNode(node)).toBe('one');
    const recorded = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' } }, () => ({
      provider: 'one',
      providerID: 'alpha:///1',
    }));
    expect(recorded.forNode(node)).toBe('one');
  });

  test('of the Node of one that is not there (yet), another one says nothing until it was asked, and then only that it has it', async () => {
    const registry = await registryOf({ one: { kind: 'alpha' } }, () => ({ provider: 'two', providerID: 'alpha:///1' }));
    expect(registry.owners.of(node)).toBe('Undecided');
    registry.owners.found(node, undefined);
    expect(registry.owners.of(node)).toBe('Nobody');
    registry.owners.found(node, 'one');
    expect(registry.forNode(node)).toBe('one');
    expect(registry.owners.of({ ...node, providerID: 'alpha:///2' })).toEqual({ owner: 'one' });
  });

  test('one that is only declared may have the Node', async () => {
    const registry = await registryOf({ one: { kind: 'alpha' } });
    await registry.declare('two', cloudProviderSpec.parse({ custom: { kind: 'alpha' }, managementPolicy: 'Observe' }));
    expect(registry.owners.of(node)).toBe('Undecided');
    expect(registry.observes('two')).toBe(true);
    expect(() => registry.connected('two')).toThrow('not connected yet');
  });
});
