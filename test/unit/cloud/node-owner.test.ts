import type { CloudProviderSpec } from '../../../crds';
import { CloudRegistry } from '../../../operator/cloud/registry';
import type { Cloud, ProviderModule } from '../../../providers/provider';

/** A registry with clouds of the given kinds: name → kind and selector. */
async function registryOf(clouds: Record<string, { kind: string; nodeSelector?: Record<string, string> }>): Promise<CloudRegistry> {
  const registry = new CloudRegistry({ loadModule: moduleOf, clusterID: 'c', readSecret: () => Promise.resolve('') });
  for (const [name, { kind, nodeSelector }] of Object.entries(clouds)) {
    const spec: CloudProviderSpec = {
      default: false,
      driftInterval: '10m',
      driftPolicy: 'Heal',
      retireAfter: '5m',
      routePeriod: '10s',
      freeze: false,
      custom: { kind, parameters: {} },
    };
    await registry.set(name, nodeSelector === undefined ? spec : { ...spec, nodeSelector });
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
  expect(registry.forNode({ labels, ...(providerID === undefined ? {} : { providerID }) })).toBe(owner);
});

test('two clouds of one form without selectors: neither owns the Node', async () => {
  const registry = await registryOf({ one: { kind: 'alpha' }, two: { kind: 'alpha' } });
  expect(registry.forNode({ providerID: 'alpha:///1', labels: {} })).toBeUndefined();
});
