import { cloudLoadBalancerSpec } from '../../../crds/cloud-load-balancer';
import type { JsonObject } from '../../../operator/base/json';
import { silentLogger } from '../../../operator/base/log';
import { ExtraStacks, type SettledStack } from '../../../operator/cloud/extra-stacks';
import type { StoredLoadBalancer } from '../../../operator/cloud/load-balancer-stacks';
import type { StackRecord } from '../../../operator/cloud/stack-record';
import { UpgradeRollout } from '../../../operator/cloud/upgrade-rollout';
import type { Store, WorkQueue } from '../../../operator/kube/api';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { StackState, StackUpdate, Updates } from '../../../operator/updates/update';
import { updateHash } from '../../../operator/updates/update-hash';
import { FakeClock } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const OLD: ExtensionModule = { path: '/x.ts', digest: 'old' };
const NEW: ExtensionModule = { path: '/x.ts', digest: 'new' };
const spec = cloudLoadBalancerSpec.parse({
  provider: 'p',
  listeners: [{ name: 'a', protocol: 'TCP', port: 80, nodePort: 30080 }],
  local: {},
});
const meta = { uid: 'u', name: 'web', namespace: 'default', resourceVersion: '1', creationTimestamp: '' };

function settledStack(outputs = {}): SettledStack {
  const update = {
    stack: 'lb-web',
    project: 'x',
    providerName: 'p',
    providerKind: 'local',
    programVersion: '1',
    clusterID: 'c',
    settings: {},
  };
  return { update: { ...update, inputs: {} }, loadBalancers: [{ uid: 'u', name: 'web', namespace: 'default', spec }], outputs };
}

/** Extra stacks of one load balancer; `stored` outlives the operators. */
class World {
  readonly clock = new FakeClock();
  readonly stored = new Map<string, StackState>();
  /** What the engine was asked for, by the digest of the extension; `-` = the end of the stack. */
  readonly ran: string[] = [];
  waits: number[] = [];
  /** What each update got to reach the cloud with. */
  readonly reached: unknown[] = [];
  settings: JsonObject = {};
  object: Partial<StoredLoadBalancer['metadata']> = {};
  managementPolicy: 'Default' | 'Observe' = 'Default';
  private work: (stack: string) => Promise<void> = () => Promise.resolve();

  async operator(module: ExtensionModule | undefined): Promise<ExtraStacks> {
    const registry = fakeRegistry({ workerSettings: () => this.settings });
    await registry.set('p', { local: { endpoint: 'http://127.0.0.1:1' } } as never);
    const store = { get: () => ({ metadata: { ...meta, ...this.object }, spec: { ...spec, managementPolicy: this.managementPolicy } }) };
    const queue = {
      add: () => undefined,
      addAfter: (_key: string, ms: number) => void this.waits.push(ms),
      run: (_workers: number, work: (key: string) => Promise<void>) => Promise.resolve(void (this.work = work)),
    };
    const record = { started: () => undefined, succeeded: () => undefined, unchanged: () => undefined, removed: () => Promise.resolve() };
    const extras = new ExtraStacks({
      ...{ module, registry, events: { event: () => undefined }, isValid: () => true, changed: () => undefined, logger: silentLogger },
      exportsOf: () => Promise.resolve(['extra']),
      rollout: new UpgradeRollout(this.clock, () => 0.5),
      updates: this as unknown as Updates,
      store: store as unknown as Store<StoredLoadBalancer>,
      queue: queue as unknown as WorkQueue,
      record: record as unknown as StackRecord,
    });
    await extras.run(new AbortController().signal);
    return extras;
  }

  async pass(extras: ExtraStacks, settled = settledStack()): Promise<void> {
    extras.settled(settled);
    await this.work('lb-web');
  }

  states = (): Promise<StackState[]> => Promise.resolve([...this.stored.values()]);
  state = (stack: string): Promise<StackState | undefined> => Promise.resolve(this.stored.get(stack));
  run = (update: StackUpdate): Promise<object> => {
    this.reached.push(update.settings);
    this.ran.push(update.inputs === undefined ? '-' : (update.extension?.module?.digest ?? ''));
    if (update.inputs === undefined) this.stored.delete(update.stack);
    else this.stored.set(update.stack, { ...update, inputsHash: updateHash(update), open: false } as unknown as StackState);
    return Promise.resolve({ result: 'Updated', resources: [], changes: {} });
  };
}

let world: World;
beforeEach(() => {
  world = new World();
});

test('the first one is made at once, and so is what the load balancers’ own change asks for', async () => {
  const extras = await world.operator(OLD);
  await world.pass(extras);
  await world.pass(extras, settledStack({ changed: true }));
  expect([world.ran, world.waits]).toEqual([['old', 'old'], []]);
});

test.each<[string, ExtensionModule | undefined, string]>([
  ['another extension', NEW, 'new'],
  ['no extension any more', undefined, '-'],
])('%s: each stack waits for its turn', async (_what, module, expected) => {
  await world.pass(await world.operator(OLD));
  const extras = await world.operator(module);
  await world.pass(extras);
  expect([world.ran, world.waits]).toEqual([['old'], [500]]);
  await world.clock.advance(500);
  await world.pass(extras);
  expect(world.ran).toEqual(['old', expected]);
});

test.each<[string, () => void, () => void]>([
  ['pause: Updates', () => (world.object = { annotations: { 'cloud-operator.dev/pause': 'Updates' } }), () => (world.object = {})],
  ['pause: All', () => (world.object = { annotations: { 'cloud-operator.dev/pause': 'All' } }), () => (world.object = {})],
  ['Observe', () => (world.managementPolicy = 'Observe'), () => (world.managementPolicy = 'Default')],
])('%s of a member holds it; it goes on when the lever goes', async (_what, pull, release) => {
  const extras = await world.operator(OLD);
  pull();
  await world.pass(extras);
  expect(world.ran).toEqual([]);
  release();
  await world.pass(extras);
  expect(world.ran).toEqual(['old']);
});

test('plugins get the credentials of today, not those of when the load balancers’ stack settled', async () => {
  world.settings = { credentials: 'of the first day' };
  const extras = await world.operator(OLD);
  await world.pass(extras);
  world.settings = { credentials: 'of the second day' };
  await world.pass(extras, settledStack({ changed: true }));
  expect(world.reached).toEqual([{ credentials: 'of the first day' }, { credentials: 'of the second day' }]);
});
