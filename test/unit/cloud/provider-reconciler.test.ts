import { cloudProviderSpec } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import type { Verdict } from '../../../operator/cloud/conditions';
import { InstanceDirectory } from '../../../operator/cloud/instances/instance-directory';
import type { ObjectWriter } from '../../../operator/cloud/object-writer';
import { ProviderReconciler, usersText, type StoredProvider } from '../../../operator/cloud/providers/provider-reconciler';
import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { Store } from '../../../operator/kube/api';
import type { Cloud, Instance, ProviderModule } from '../../../providers/provider';

/** A CloudProvider whose cloud lists its instances by `list`, and what is written of it. */
function providerWith(list: () => Promise<Instance[]>, status?: StoredProvider['status']) {
  const cloud = { instances: { list }, workerSettings: () => ({}), close: () => Promise.resolve() } as Cloud;
  const module = { kind: 'local', providerIDScheme: 'local', connect: () => Promise.resolve(cloud) } as unknown as ProviderModule;
  const registry = new CloudRegistry({
    loadModule: () => Promise.resolve(module),
    clusterID: 'c',
    readSecret: () => Promise.resolve(['']),
  });
  const object = {
    metadata: { name: 'home', uid: 'u', generation: 1 },
    spec: cloudProviderSpec.parse({ local: { endpoint: 'http://127.0.0.1:1' } }),
    ...(status === undefined ? {} : { status }),
  } as unknown as StoredProvider;
  const written: string[] = [];
  const told: string[] = [];
  const directory = new InstanceDirectory(registry, systemClock, (provider) => void told.push(provider));
  const reconciler = new ProviderReconciler({
    store: { get: () => object } as unknown as Store<StoredProvider>,
    registry,
    writer: {
      addFinalizer: () => Promise.resolve(),
      writeStatus: (_object: unknown, _fields: unknown, verdict: Verdict) => void written.push(`${verdict.state} ${verdict.reason ?? ''}`),
    } as unknown as ObjectWriter,
    clusterID: 'c',
    use: () => ({ nodes: 0, loadBalancers: [], routes: [], stacks: [] }),
    health: (provider) => directory.problem(provider),
    hasAnswered: (provider) => directory.hasAnswered(provider),
    ask: (provider) => directory.ask(provider),
    awaitSecret: () => undefined,
    sweep: () => undefined,
    handledReconcile: () => undefined,
    clock: systemClock,
    logger: silentLogger,
  });
  return { reconciler, written, told };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a cloud is connected once it has answered, which is asked for', async () => {
  let answer: (instances: Instance[]) => void = () => undefined;
  const { reconciler, written, told } = providerWith(() => new Promise((resolve) => (answer = resolve)));
  await reconciler.reconcile('home');
  expect([written, told]).toEqual([['Reconciling Connecting'], []]);
  answer([]);
  await turn();
  expect(told).toEqual(['home']);
  await reconciler.reconcile('home');
  expect(written.at(-1)).toBe('Ready ');
});

test('one that does not answer says why, and is asked again', async () => {
  let asked = 0;
  const { reconciler, written, told } = providerWith(() => Promise.reject(new OperatorError('Transient', `nobody there ${++asked}`)));
  await reconciler.reconcile('home');
  await turn();
  expect(told).toEqual(['home']);
  await expect(reconciler.reconcile('home')).rejects.toThrow('nobody there 1');
  expect(written).toEqual(['Reconciling Connecting', 'Reconciling CloudUnavailable']);
});

test('after a restart, what was Ready stays so until the cloud says otherwise', async () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;
  const { reconciler, written } = providerWith(() => Promise.resolve([]), { observedGeneration: 1, conditions: [ready] });
  await reconciler.reconcile('home');
  expect(written).toEqual([]);
  await turn();
  await reconciler.reconcile('home');
  expect(written).toEqual(['Ready ']);
});

test('who still uses one that is being deleted is said by number, and the first by name', () => {
  const loadBalancers = ['d', 'b', 'a', 'c'].map((name) => `default/${name}`);
  expect(usersText({ nodes: 1, loadBalancers, routes: [], stacks: ['lb-a'] })).toBe(
    '4 load balancers (default/a, default/b, default/c, …), 0 routes, 1 stack (lb-a)',
  );
});
