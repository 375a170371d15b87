import { cloudLoadBalancerSpec } from '../../../crds/cloud-load-balancer';
import type { JsonObject } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { ExtraStacks, type SettledStack } from '../../../operator/cloud/stack/extra-stacks';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import type { StackRecord } from '../../../operator/cloud/stack/stack-record';
import { UpgradeRollout } from '../../../operator/cloud/stack/upgrade-rollout';
import type { Store, WorkQueue } from '../../../operator/kube/api';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
import type { Plan } from '../../../operator/updates/plan';
import type { StackState, StackUpdate, UpdateHooks, Updates } from '../../../operator/updates/update';
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
  /** Stacks that have changed to the slow lane. */
  readonly slow: string[] = [];
  /** Asked for in the other one. */
  added = 0;
  failure: OperatorError | undefined;
  /** Held until it resolves. */
  hanging: Promise<void> | undefined;
  /** What each update and preview got to reach the cloud with. */
  readonly reached: unknown[] = [];
  settings: JsonObject = {};
  /** What the cloud has for an update once it has prepared for it. */
  prepared: JsonObject | undefined;
  /** Stacks whose resources were marked as nobody's. */
  readonly released: string[] = [];
  object: Partial<StoredLoadBalancer['metadata']> = {};
  managementPolicy: 'Default' | 'Observe' = 'Default';
  approval: 'Auto' | 'Manual' = 'Auto';
  /** What a preview finds, and whether approvals are guarded. */
  operations: { op: string }[] = [{ op: 'create' }];
  unguarded: string | undefined;
  /** What waits, by stack, and what load balancers are told. */
  readonly waiting = new Map<string, unknown[]>();
  readonly events: string[] = [];
  readonly removed: string[] = [];
  /** Its state can't be read: lists leave it out. */
  damaged: string | undefined;
  updateDeadlineMs = 600_000;
  work: (stack: string) => Promise<void> = () => Promise.resolve();

  async operator(module: ExtensionModule | undefined): Promise<ExtraStacks> {
    const registry = fakeRegistry({
      workerSettings: () => this.settings,
      prepareUpdate: () => Promise.resolve(void (this.settings = this.prepared ?? this.settings)),
      release: (stack) => Promise.resolve(void this.released.push(stack)),
    });
    await registry.set('p', { local: { endpoint: 'http://127.0.0.1:1' } } as never);
    const updatePolicy = (): object => ({ approval: this.approval, replace: 'Never' });
    const get = (): object => ({
      metadata: { ...meta, ...this.object },
      spec: { ...spec, managementPolicy: this.managementPolicy, updatePolicy: updatePolicy() },
    });
    const store = { get };
    const queue = {
      add: () => void this.added++,
      addAfter: (_key: string, ms: number) => void this.waits.push(ms),
      run: (_workers: number, work: (key: string) => Promise<void>) => Promise.resolve(void (this.work = work)),
    };
    const slowQueue = { ...queue, add: (key: string) => void this.slow.push(key), run: () => Promise.resolve() };
    const record = {
      ...{
        started: () => undefined,
        succeeded: () => undefined,
        unchanged: () => undefined,
        failed: () => undefined,
        removed: (stack: string) => Promise.resolve(void this.removed.push(stack)),
      },
      providerOf: () => 'p',
      waiting: (stack: string, _spec: object, plans: unknown[]) => Promise.resolve(void this.waiting.set(stack, plans)),
    };
    const extras = new ExtraStacks({
      ...{ module, registry, isValid: () => true, clock: this.clock, changed: () => undefined, logger: silentLogger },
      events: { event: (_object, _type, reason) => void this.events.push(reason) },
      guard: { problem: () => Promise.resolve(this.unguarded) },
      exportsOf: () => Promise.resolve(['extra']),
      rollout: new UpgradeRollout(this.clock, () => 0.5),
      updates: this as unknown as Updates,
      store: store as unknown as Store<StoredLoadBalancer>,
      queue: queue as unknown as WorkQueue,
      slowQueue: slowQueue as unknown as WorkQueue,
      updateDeadlineMs: this.updateDeadlineMs,
      record: record as unknown as StackRecord,
    });
    await extras.run(new AbortController().signal);
    return extras;
  }

  async pass(extras: ExtraStacks, settled = settledStack()): Promise<void> {
    extras.settled(settled);
    await this.work('lb-web');
  }

  states = (): Promise<StackState[]> => Promise.resolve([...this.stored.values()].filter(({ stack }) => stack !== this.damaged));
  state = (stack: string): Promise<StackState | undefined> =>
    stack === this.damaged ? Promise.reject(new OperatorError('Invalid', 'not readable')) : Promise.resolve(this.stored.get(stack));
  preview = async (update: StackUpdate, hooks: UpdateHooks): Promise<Plan> => {
    this.reached.push((await hooks.settings?.()) ?? update.settings);
    const [, digest = ''] = update.programVersion.split(' ');
    return { hash: `plan-${digest}`, counts: {}, operations: this.operations } as unknown as Plan;
  };
  forget = (stack: string): Promise<void> => Promise.resolve(void this.stored.delete(stack));
  run = async (update: StackUpdate, hooks: UpdateHooks): Promise<object> => {
    this.reached.push((await hooks.settings?.()) ?? update.settings);
    this.ran.push(update.inputs === undefined ? '-' : (update.extension?.module?.digest ?? ''));
    await this.hanging;
    if (this.failure !== undefined) throw this.failure;
    if (update.inputs === undefined) this.stored.delete(update.stack);
    else this.stored.set(update.stack, { ...update, inputsHash: updateHash(update), open: false } as unknown as StackState);
    return { result: 'Updated', resources: [], changes: {} };
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

test('with its load balancers’ stack it is given up: what it has is marked as nobody’s before its state goes', async () => {
  const extras = await world.operator(OLD);
  await extras.forget('lb-web');
  expect(world.released).toEqual([]);
  await world.pass(extras);
  await extras.forget('lb-web');
  expect([world.released, world.removed, world.stored.size]).toEqual([['lb-web-extra'], ['lb-web-extra'], 0]);
});

test.each(['destroy', 'forget'] as const)('a state that can’t be read is no absence: %s waits, and goes on once it can', async (end) => {
  await world.pass(await world.operator(OLD));
  world.damaged = 'lb-web-extra';
  const extras = await world.operator(OLD);
  const { update } = settledStack();
  const go = (): Promise<void> => (end === 'destroy' ? extras.destroy(update) : extras.forget('lb-web'));
  await expect(go()).rejects.toThrow('not readable');
  expect([...world.stored.keys()]).toEqual(['lb-web-extra']);
  world.damaged = undefined;
  await go();
  expect([world.stored.size, world.removed]).toEqual([0, ['lb-web-extra']]);
});

test('plugins get the credentials of today, not those of when the load balancers’ stack settled', async () => {
  world.settings = { credentials: 'of the first day' };
  const extras = await world.operator(OLD);
  await world.pass(extras);
  world.settings = { credentials: 'of the second day' };
  await world.pass(extras, settledStack({ changed: true }));
  expect(world.reached).toEqual([{ credentials: 'of the first day' }, { credentials: 'of the second day' }]);
});

test.each([
  [600_000, 15_000],
  [8_000, 2_000],
])('where an update may take %i ms, the others wait for it for %i ms', async (updateDeadlineMs, patienceMs) => {
  world.updateDeadlineMs = updateDeadlineMs;
  const extras = await world.operator(OLD);
  world.hanging = new Promise(() => undefined);
  let free = false;
  void world.pass(extras).then(() => (free = true));
  await world.clock.advance(patienceMs - 1);
  expect([world.ran, world.slow, free]).toEqual([['old'], [], false]);
  await world.clock.advance(1);
  expect([world.slow, free]).toEqual([['lb-web'], true]);
});

describe('one whose state is too large', () => {
  const tooLarge = new OperatorError('Quota', 'too large', { reason: 'StateTooLarge', remedy: 'split it' });

  test('is not tried again by itself, and says so, until something changes or somebody asks', async () => {
    const extras = await world.operator(OLD);
    world.failure = tooLarge;
    await world.pass(extras);
    expect(extras.warningOf('lb-web')).toMatchObject({ type: 'ExtraFailed', reason: 'StateTooLarge' });
    expect(extras.warningOf('lb-web')?.message).toMatch(/^too large. split it. The same is not tried again by itself, /);
    const asked = (look: () => void): number => {
      const before = world.added;
      look();
      return world.added - before;
    };
    expect(asked(() => extras.settled(settledStack()))).toBe(0);
    expect(asked(() => extras.settled(settledStack({ changed: true })))).toBe(1);
    world.object = { annotations: { 'cloud-operator.dev/reconcile': 'now' } };
    expect(asked(() => extras.settled(settledStack()))).toBe(1);
    expect(asked(() => extras.ask('another'))).toBe(0);
    expect(asked(() => extras.ask('p'))).toBe(1);
    await world.work('lb-web');
    expect(world.ran).toEqual(['old', 'old']);
  });

  test('is deleted all the same, at each try of that', async () => {
    const extras = await world.operator(OLD);
    await world.pass(extras);
    world.failure = tooLarge;
    await expect(extras.destroy(settledStack().update)).rejects.toThrow('too large');
    world.failure = undefined;
    await extras.destroy(settledStack().update);
    expect(world.ran).toEqual(['old', '-', '-']);
  });

  test('what an extension of before has made goes at each try, too', async () => {
    await world.pass(await world.operator(OLD));
    const extras = await world.operator(undefined);
    await world.pass(extras);
    await world.clock.advance(500);
    world.failure = tooLarge;
    await expect(world.pass(extras)).rejects.toThrow('too large');
  });
});

const approve = (hash: string): void => void (world.object = { annotations: { 'cloud-operator.dev/approve': hash } });

test('a preview, a change and the end of the stack each have the cloud prepare for them: no update of the load balancers may have come before', async () => {
  world.prepared = { token: 'that lasts' };
  world.approval = 'Manual';
  const extras = await world.operator(OLD);
  const works = [
    () => world.pass(extras),
    () => {
      approve('plan-old');
      return world.pass(extras);
    },
    () => extras.destroy(settledStack().update),
  ];
  for (const work of works) {
    world.settings = {};
    await work();
  }
  expect([world.reached, world.ran]).toEqual([
    [world.prepared, world.prepared, world.prepared],
    ['old', '-'],
  ]);
});

describe('with approval: Manual of a member', () => {
  const WAITS = 'ExtraAwaitingApproval';

  test('it waits with its plan, which the load balancer tells once, until that is approved', async () => {
    world.approval = 'Manual';
    const extras = await world.operator(OLD);
    await world.pass(extras);
    await world.pass(extras);
    expect([world.ran, world.events]).toEqual([[], ['AwaitingApproval']]);
    expect(world.waiting.get('lb-web-extra')).toEqual([expect.objectContaining({ member: 'default/web', hash: 'plan-old' })]);
    expect(extras.warningOf('lb-web')).toMatchObject({ type: WAITS, reason: 'AwaitingApproval' });
    expect(extras.warningOf('lb-web')?.message).toContain('web --overwrite cloud-operator.dev/approve=plan-old');
    await extras.destroy(settledStack().update);
    expect(world.removed).toEqual(['lb-web-extra']);
    approve('plan-other');
    await world.pass(extras);
    expect(world.ran).toEqual([]);
    approve('plan-old');
    await world.pass(extras);
    expect([world.ran, world.waiting.get('lb-web-extra'), extras.warningOf('lb-web')]).toEqual([['old'], [], undefined]);
  });

  test('nobody is asked for what changes nothing, or is there', async () => {
    world.approval = 'Manual';
    world.operations = [];
    const extras = await world.operator(OLD);
    await world.pass(extras);
    world.operations = [{ op: 'delete' }];
    await world.pass(extras);
    // The second is for the engine, which finds it unchanged.
    expect([world.ran, world.events]).toEqual([['old', 'old'], []]);
  });

  test('an approval that anybody could give is none', async () => {
    world.approval = 'Manual';
    world.unguarded = 'there is no policy';
    approve('plan-old');
    const extras = await world.operator(OLD);
    await world.pass(extras);
    expect([world.ran, world.waits]).toEqual([[], [10_000]]);
    expect(extras.warningOf('lb-web')).toMatchObject({ type: WAITS, reason: 'ApprovalUnprotected' });
  });
});
