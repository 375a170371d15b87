import { cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import { InstanceMirror, type StoredInstance } from '../../../operator/cloud/instances/instance-mirror';
import type { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { KubeObject, Node } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import { MemoryStore } from '../../../operator/kube/store';
import { fakeRegistry } from './fake-registry';
import { FakeClock } from '../kube/fake-clock';
import { FakeInstances } from '../loops/fake-instances';
import { waitFor } from '../../harness/wait-for';
import { node } from '../loops/objects';
import { RecordingApi } from '../loops/recording-api';

const MINUTE = 60_000;

interface World {
  api: RecordingApi;
  clock: FakeClock;
  instances: FakeInstances;
  registry: CloudRegistry;
  change: (changes: Parameters<typeof node>[0]) => void;
  end: () => Promise<void>;
}

async function world(): Promise<World> {
  const [api, clock, instances] = [new RecordingApi(), new FakeClock(), new FakeInstances()];
  instances.add('n1');
  const nodes = new MemoryStore<Node>({}, silentLogger);
  let version = 1;
  const change = (changes: Parameters<typeof node>[0] = {}): void =>
    nodes.set(node({ spec: { providerID: 'fake://n1' }, ...changes, metadata: { ...changes.metadata, resourceVersion: `${++version}` } }));
  change({});
  const queue = new KeyedQueue({ name: 'cloudinstances', logger: silentLogger, clock });
  const store = new MemoryStore<StoredInstance>({}, silentLogger);
  const directory = await instances.directory(clock);
  const registry = fakeRegistry();
  const mirror = new InstanceMirror({ api, nodes, store, directory, registry, maxAgeMs: MINUTE, queue, clock });
  nodes.onChange((told) => mirror.onNode(told));
  const stop = new AbortController();
  const running = mirror.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    queue.close();
  };
  await clock.advance(0);
  return { api, clock, instances, registry, change, end };
}

test('heartbeats ask the cloud for nothing; every five minutes all machines are looked at', async () => {
  const { api, clock, instances, change, end } = await world();
  expect([instances.listings, api.log]).toEqual([1, ['apply cloudinstances/n1', 'apply cloudinstances/n1']]);
  for (let beat = 0; beat < 24; beat++) {
    change({ status: { conditions: [{ type: 'Ready', status: 'False', lastHeartbeatTime: `${beat}` }] } });
    await clock.advance(MINUTE / 2 - 1);
  }
  expect(instances.listings).toBe(3);
  await end();
});

test('another CloudProvider, which may have the Nodes of one that is gone: all machines are looked at', async () => {
  const { clock, instances, registry, end } = await world();
  await clock.advance(2 * MINUTE);
  await registry.set('another', cloudProviderSpec.parse({ custom: { kind: 'fake' } }));
  await clock.advance(0);
  expect(instances.listings).toBe(2);
  await end();
});

test.each<[string, Parameters<typeof node>[0]]>([
  ['kubelet is not ready any more', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }],
  ['the lifecycle loop’s taint', { spec: { providerID: 'fake://n1', taints: [{ key: 'shutdown', effect: 'NoSchedule' }] } }],
  ['another machine', { spec: { providerID: 'fake://n2' } }],
  ['a label, which selectors may name', { metadata: { labels: { cloud: 'one' } } }],
  ['another address', { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] } }],
])('%s: looked at once more', async (_what, changes) => {
  const { clock, instances, change, end } = await world();
  await clock.advance(2 * MINUTE);
  change(changes);
  await clock.advance(0);
  expect(instances.listings).toBe(2);
  await end();
});

test('of another machine, the status speaks of the generation that the API server gave it', async () => {
  const { api, instances, change, end } = await world();
  instances.add('n2');
  api.stored.set('cloudinstances/n1', { metadata: { name: 'n1', generation: 2 } } as KubeObject);
  change({ spec: { providerID: 'fake://n2' } });
  await waitFor(() => api.writes.length === 4, { what: 'the mirror of the other machine', timeoutMs: 5_000 });
  expect(api.writes.at(-1)?.body).toMatchObject({ status: { observedGeneration: 2, state: expect.any(String) as string } });
  await end();
});
