import { ANNOTATIONS, CLEANUP_FINALIZER, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { ChangeBook } from '../../../operator/base/change-book';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import type { Verdict } from '../../../operator/cloud/conditions';
import { StackController, type StackControllerOptions } from '../../../operator/cloud/stack/stack-controller';
import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import { StackReconciler } from '../../../operator/cloud/stack/stack-reconciler';
import type { StackReconcilerOptions } from '../../../operator/cloud/stack/stack-reconciler-options';
import { StackRetries } from '../../../operator/cloud/stack/stack-retries';
import { UpgradeRollout } from '../../../operator/cloud/stack/upgrade-rollout';
import type { StoreChange } from '../../../operator/kube/api';
import { KeyedQueue } from '../../../operator/kube/queue';
import type { Plan } from '../../../operator/updates/plan';
import { resultOf, type StackState, type StackUpdate, type Updates } from '../../../operator/updates/update';
import { updateHash } from '../../../operator/updates/update-hash';
import { FakeClock, settle } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const STACK = 'lb-web';
const PAUSE_MS = 4_000;
/** What the names of members begin with that were never made. */
const NEW = 'new-';
/** A version for which there is no room, which its rendering finds out. */
const TOO_MUCH = 'too much';

type Versioned = Member & { spec: { version: string; updatePolicy?: { approval: 'Manual' } } };

const kind: Partial<StackKind<Versioned>> = {
  ...{ kind: 'LoadBalancer', crd: 'cloudloadbalancers' },
  problems: () => [],
  inputOf: ({ metadata: { uid, name }, spec: { version } }) => ({ uid, name, namespace: 'default', version }) as never,
  claims: () => [],
  updatePolicy: ({ spec }) => spec.updatePolicy,
  render: (_stack, inputs) => {
    if (inputs.some((input) => (input as unknown as { version: string }).version === TOO_MUCH)) throw new OperatorError('Quota', 'no room');
    return { inputs } as never;
  },
  attribute: () => [],
  lossBy: ({ op, name }) => (op === 'replace' ? `replaces ${name}` : undefined),
  settle: () => Promise.resolve({ fields: {}, verdict: { state: 'Ready', message: '' } }),
  keep: () => Promise.resolve(),
  keptFields: () => ({}),
  serving: ({ metadata }, { state }) => state !== undefined && !metadata.name.startsWith(NEW),
};

interface Asked {
  approved?: string;
  manual?: boolean;
  name?: string;
  provider?: string;
}

/** A stack with one member or more, of which some versions fail. The queue of the passes over it is the operator's. */
class World {
  readonly clock = new FakeClock();
  readonly retries = new StackRetries(this.clock, () => ({ delayMs: PAUSE_MS, exhausted: false }));
  readonly queue = new KeyedQueue({
    name: 'stacks',
    logger: silentLogger,
    clock: this.clock,
    delayOf: () => this.retries.of(STACK)?.delayMs,
  });
  /** Versions for which the engine ran. */
  readonly ran: string[] = [];
  readonly failing = new Set<string>();
  /** Versions whose state does not fit; what its status says, without the time. */
  readonly outgrowing = new Set<string>();
  said = '';
  /** The same by member. */
  readonly saidOf = new Map<string, string>();
  reconciler: StackReconciler<Versioned> | undefined;
  /** What an update would do by now, and how often that was asked. */
  plan = 'plan-1';
  op: 'update' | 'replace' = 'update';
  previews = 0;
  /** Versions of which an approved update becomes something else halfway. */
  readonly departing = new Set<string>();
  readonly events: string[] = [];
  readonly index = new StackIndex();
  /** What the stack's own record says. */
  rests: Verdict | undefined;
  /** The lease allows cloud writes. */
  leads = true;
  /** Whom its record names as its members while an update runs, and when one has failed. */
  readonly recordedMembers: string[][] = [];
  /** The CloudProvider that its record names. */
  recorded: string | undefined = 'p';
  readonly registry = fakeRegistry();
  readonly store = {
    get: (key: string) => this.objects.get(key),
    list: () => [...this.objects.values()],
    whenSynced: () => Promise.resolve(),
    onChange: (listener: (change: StoreChange<Versioned>) => void) => {
      this.listeners.push(listener);
      return () => undefined;
    },
  };
  private readonly listeners: ((change: StoreChange<Versioned>) => void)[] = [];
  private readonly end = new AbortController();
  private work = Promise.resolve();
  private stored: StackState | undefined;
  private readonly objects = new Map<string, Versioned>();

  async start(): Promise<void> {
    const { registry, store } = this;
    await registry.set('p', { local: { endpoint: 'http://127.0.0.1:1' } } as never);
    const { index } = this;
    const nothing = (): undefined => undefined;
    const names = (_stack: string, _spec: object, members: string[]): void => void this.recordedMembers.push(members);
    const reports = {
      started: names,
      carriedOut: nothing,
      unchanged: nothing,
      succeeded: nothing,
      failed: names,
      missing: nothing,
      removed: nothing,
    };
    const told = { providerOf: () => this.recorded, released: () => new Set(), leftover: nothing, drift: () => [], waiting: nothing };
    const rests = (_stack: string, verdict: Verdict): void => void (this.rests = verdict);
    const reconciler = (this.reconciler = new StackReconciler<Versioned>({
      ...{
        kind,
        registry,
        index,
        changes: new ChangeBook(),
        retries: this.retries,
        clock: this.clock,
        clusterID: 'c',
        logger: silentLogger,
      },
      store,
      updates: this as unknown as Updates,
      extend: (update: StackUpdate) => update,
      writer: {
        writeStatus: ({ metadata }: Versioned, _fields: object, { state, reason, message }: Verdict) => {
          this.said = `${state}: ${message}`;
          this.saidOf.set(metadata.name, `${state} ${reason}: ${message}`);
          return Promise.resolve(true);
        },
        addFinalizer: nothing,
      },
      record: { ...reports, ...told, rests },
      events: { event: (_object: unknown, _type: string, reason: string) => void this.events.push(reason) },
      ...{ isValid: () => this.leads, isKindDeleted: () => Promise.resolve(false), onUpdate: nothing, reported: nothing },
      guard: { problem: () => Promise.resolve(undefined) },
      again: (stack: string, afterMs: number) => this.queue.addAfter(stack, afterMs),
      retryPlan: () => ({ delayMs: PAUSE_MS, exhausted: false }),
      rollout: new UpgradeRollout(this.clock, () => 0.5),
    } as unknown as StackReconcilerOptions<Versioned>));
    this.work = this.queue.run(1, (stack) => reconciler.reconcile(stack), this.end.signal);
  }

  async stop(): Promise<void> {
    this.end.abort();
    this.queue.close();
    await this.work;
  }

  /** Somebody asks for a version. */
  async ask(version: string, { approved, manual = approved !== undefined, name = 'web', provider = 'p' }: Asked = {}): Promise<void> {
    const metadata = {
      uid: name === 'web' ? 'u' : name,
      name,
      namespace: 'default',
      resourceVersion: '1',
      creationTimestamp: '',
      finalizers: [CLEANUP_FINALIZER],
      annotations: { ...(approved !== undefined && { [ANNOTATIONS.approve]: approved }) },
    };
    const spec = { provider, version, ...(manual && { updatePolicy: { approval: 'Manual' } }) };
    this.objects.set(`default/${name}`, { kind: 'CloudLoadBalancer', metadata, spec } as unknown as Versioned);
    this.index.assign(`default/${name}`, STACK);
    this.queue.add(STACK);
    await settle();
  }

  /** The object goes, whatever the stack has of it. */
  async vanish(name: string): Promise<void> {
    const key = `default/${name}`;
    const previous = this.objects.get(key);
    this.objects.delete(key);
    this.index.forget(key);
    this.listeners.forEach((listen) => listen({ key, ...(previous && { previous }) }));
    this.queue.add(STACK);
    await settle();
  }

  /** The controller of the members' kind, without its queues. */
  controller(): StackController<Versioned> {
    const { index, store, registry, reconciler } = this;
    const none = { add: () => undefined, run: () => Promise.resolve() };
    return new StackController<Versioned>({
      ...{
        kind: { ...kind, stackOf: () => STACK },
        index,
        store,
        registry,
        reconciler,
        providerOf: () => this.recorded,
        records: () => [],
      },
      ...{ resource: CLOUD_LOAD_BALANCERS, queue: none, stacks: none, logger: silentLogger },
    } as unknown as StackControllerOptions<Versioned>);
  }

  /** The version that the stack was last brought to of a member. */
  made(uid: string): string | undefined {
    return (this.stored?.accepted as Record<string, { version: string }> | undefined)?.[uid]?.version;
  }

  /** An older program has made what there is. */
  upgrade(): void {
    if (this.stored !== undefined) this.stored = { ...this.stored, programVersion: '0', inputsHash: 'before' };
  }

  /** … and this one would replace it; the stack is looked at. */
  async upgradeByReplacement(): Promise<void> {
    this.upgrade();
    this.op = 'replace';
    this.queue.add(STACK);
    await this.clock.advance(PAUSE_MS);
  }

  readonly state = (): Promise<StackState | undefined> => Promise.resolve(this.stored);

  preview(): Promise<Plan> {
    this.previews++;
    const operations = [{ op: this.op, type: 'x', name: 'web', urn: 'urn:web' }];
    return Promise.resolve({ hash: this.plan, counts: { create: 0, update: 1, replace: 0, delete: 0, same: 0 }, operations });
  }

  run(update: StackUpdate, { onStart }: { onStart?: () => void }): Promise<ReturnType<typeof resultOf>> {
    const inputsHash = updateHash(update);
    if (this.stored?.inputsHash === inputsHash && !this.stored.open) return Promise.resolve(resultOf(this.stored));
    if (update.approved !== undefined && update.approved !== this.plan)
      return Promise.reject(outdated('it would do something else by now'));
    const { version } = (update.accepted as Record<string, { version: string }> | undefined)?.u ?? { version: '' };
    onStart?.();
    this.ran.push(version);
    const failure = this.failureOf(version, update.approved);
    if (failure !== undefined) {
      if (this.stored !== undefined) this.stored = { ...this.stored, open: true, revision: this.stored.revision + 1 };
      return Promise.reject(failure);
    }
    const { stack, project, clusterID, programVersion, accepted = {} } = update;
    const made = { incarnation: 'i', epoch: 1, revision: 1, open: false, resourceCount: 0, outputs: {}, resources: [] };
    this.stored = { stack, project, clusterID, programVersion, inputsHash, accepted, ...made };
    return Promise.resolve({ ...resultOf(this.stored), result: 'Updated' });
  }

  private failureOf(version: string, approved: string | undefined): OperatorError | undefined {
    if (approved !== undefined && this.departing.has(version)) {
      this.plan = `${this.plan}, planned anew`;
      return outdated('it became something else');
    }
    if (this.failing.has(version)) return new OperatorError('Unknown', `${version} does not work`);
    if (!this.outgrowing.has(version)) return undefined;
    return new OperatorError('Quota', `the state of ${version} is too large`, { reason: 'StateTooLarge', remedy: 'split the stack' });
  }
}

function outdated(message: string): OperatorError {
  return new OperatorError('Conflict', message, { reason: 'PlanOutdated' });
}

test('a change that failed is tried again when its pause ends, also where something else has the stack looked at before', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.failing.add('new');
  await world.ask('new');
  expect(world.ran).toEqual(['old', 'new', 'old']);

  // As for what was replaced; of two delays of one stack, the queue keeps the earlier.
  world.queue.addAfter(STACK, 1_000);
  await world.clock.advance(1_000);
  world.failing.clear();
  await world.clock.advance(PAUSE_MS - 1_001);
  expect(world.ran).toEqual(['old', 'new', 'old']);
  await world.clock.advance(1);
  expect(world.ran).toEqual(['old', 'new', 'old', 'new']);
  await world.stop();
});

test('a change that failed is tried at once where somebody asks for all of its CloudProvider, and not for another one of its stack', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.failing.add('new');
  await world.ask('new');
  world.failing.clear();
  world.queue.add(STACK);
  await settle();
  expect(world.ran).toEqual(['old', 'new', 'old']);
  world.reconciler?.tryAnew(STACK);
  world.queue.add(STACK);
  await settle();
  expect(world.ran).toEqual(['old', 'new', 'old']);
  world.reconciler?.releaseHolds(STACK);
  world.queue.add(STACK);
  await settle();
  expect(world.ran).toEqual(['old', 'new', 'old', 'new']);
  await world.stop();
});

test('as long as a stack could not give up what has moved away, its record names it: after a restart nothing else does', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  await world.ask('other', { name: 'a' });
  const both = ['default/a', 'default/web'];
  for (const [left, stillThere] of [
    ['default/a', 'old'],
    ['default/web', ''],
  ] as const) {
    world.recordedMembers.length = 0;
    world.failing.add(stillThere);
    world.index.assign(left, 'lb-other');
    world.queue.add(STACK);
    await settle();
    expect(world.ran.at(-1)).toBe(stillThere);
    expect(world.recordedMembers.length).toBeGreaterThan(0);
    expect(new Set(world.recordedMembers.map((members) => members.join()))).toEqual(new Set([both.join()]));
    await world.clock.advance(PAUSE_MS);
  }
  await world.stop();
});

test('what is asked for while the lease is not held for a moment is done when it is held again', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.leads = false;
  await world.ask('new');
  expect(world.ran).toEqual(['old']);

  // As after a freeze: the next renewal gets it back, in the same process.
  world.leads = true;
  await world.clock.advance(PAUSE_MS);
  expect(world.ran).toEqual(['old', 'new']);
  await world.stop();
});

describe('a change whose state outgrows the limit of its store', () => {
  let world: World;
  const passAfterPause = (): Promise<void> => world.clock.advance(PAUSE_MS);

  beforeEach(async () => {
    world = new World();
    await world.start();
  });
  afterEach(() => world.stop());

  test('is made and undone once, and says so as long as it is asked for; another one, or somebody who asks, has it tried', async () => {
    await world.ask('old');
    world.outgrowing.add('large');
    await world.ask('large');
    expect(world.ran).toEqual(['old', 'large', 'old']);
    for (let pass = 0; pass < 3; pass++) {
      await passAfterPause();
      expect(world.said).toMatch(
        /^Stalled: the state of large is too large. split the stack. The same is not tried again by itself, .* The last good version keeps serving.$/,
      );
    }
    expect(world.ran).toEqual(['old', 'large', 'old']);

    await world.ask('small');
    await world.ask('large');
    await passAfterPause();
    expect(world.ran.slice(3)).toEqual(['small']);
    world.reconciler?.tryAnew(STACK);
    await passAfterPause();
    expect(world.ran.slice(4)).toEqual(['large', 'small']);
  });

  test('is not tried again either where there is nothing to go back to', async () => {
    world.outgrowing.add('large');
    await world.ask('large');
    for (let pass = 0; pass < 3; pass++) await passAfterPause();
    expect(world.ran).toEqual(['large']);
    expect(world.said).toMatch(/^Stalled: .* not tried again by itself/);
    await world.ask('small');
    expect(world.ran).toEqual(['large', 'small']);
  });

  test('is undone at each try until that has succeeded', async () => {
    await world.ask('old');
    world.outgrowing.add('large').add('old');
    await world.ask('large');
    await passAfterPause();
    expect(world.ran.slice(1)).toEqual(['large', 'old', 'old']);
    world.outgrowing.delete('old');
    await passAfterPause();
    expect(world.ran.slice(4)).toEqual(['old']);
    await passAfterPause();
    expect(world.ran.slice(5)).toEqual([]);
  });
});

test('an approved update that became something else is not taken back, is told once, and waits for the approval of what is left', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.departing.add('new');
  await world.ask('new', { approved: 'plan-1' });
  expect(world.ran).toEqual(['old', 'new']);
  expect(world.events).toContain('PlanOutdated');
  for (let passes = 0; passes < 3; passes++) await world.clock.advance(PAUSE_MS);
  expect(world.ran).toEqual(['old', 'new']);
  expect(world.events.filter((reason) => reason === 'PlanOutdated')).toHaveLength(1);
  expect(world.events.at(-1)).toBe('AwaitingApproval');

  world.departing.clear();
  await world.ask('new', { approved: 'plan-1, planned anew' });
  expect(world.ran).toEqual(['old', 'new', 'new']);
  await world.stop();
});

test('a plan that was approved and has become another one is made anew, though nothing is stored of that', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  await world.ask('new', { manual: true });
  expect(world.previews).toBe(1);
  world.plan = 'plan-2';
  await world.ask('new', { approved: 'plan-1' });
  for (let passes = 0; passes < 3; passes++) await world.clock.advance(PAUSE_MS);
  expect([world.ran, world.previews]).toEqual([['old'], 2]);
  await world.ask('new', { approved: 'plan-2' });
  expect(world.ran).toEqual(['old', 'new']);
  await world.stop();
});

test('where nobody is left to be asked for what every update would take away, the stack itself says so', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.index.forget('default/web'); // its object is there, and in no stack at the moment
  await world.upgradeByReplacement();
  expect(world.ran).toEqual(['old']);
  expect(world.rests).toMatchObject({ reason: 'StackHeld', serving: true });
  expect(world.rests?.message).toContain('which cuts default/web, and none of those can be asked');
  await world.stop();
});

test('what a newer program would replace waits for approval, and is said to in each pass from then on', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  await world.upgradeByReplacement();
  for (let passes = 0; passes < 3; passes++) {
    expect(world.said).toContain('Plan plan-1 waits for approval, since a newer version of the operator makes it otherwise');
    await world.ask('old');
  }
  expect(world.ran).toEqual(['old']);
  await world.stop();
});

test('where what is asked for has no room, the stack goes on with what it had', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  world.upgrade();
  await world.ask(TOO_MUCH);
  expect(world.ran).toEqual(['old', 'old']);
  expect(world.said).toContain('no room');
  await world.stop();
});

test.each([
  ['which its record names', 'p'],
  ['of the others, where it has no record yet', undefined],
])('a member that names a CloudProvider which is not there says so alone; the stack is that of the cloud %s', async (_which, recorded) => {
  const world = new World();
  world.recorded = recorded;
  await world.start();
  await world.ask('before', { name: 'a' });
  await world.ask('old');
  await world.ask('after', { name: 'a', provider: 'nowhere' });
  expect(world.saidOf.get('a')).toMatch(
    /^Stalled ProviderNotFound: there is no CloudProvider "nowhere"\. .* The last good version keeps serving\.$/,
  );
  await world.ask('new');
  expect([world.made('u'), world.made('a')]).toEqual(['new', 'before']);
  expect(world.saidOf.get('web')).toMatch(/^Ready/);

  const controller = world.controller();
  expect([controller.stacksOf('p'), controller.stacksOf('nowhere')]).toEqual([[STACK], []]);
  await world.stop();
});

test('what a member has in a cloud is held by the levers of that one, also while it names another', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  await world.ask('before', { name: 'a' });
  world.registry.pauseBy('p', 'All');
  await world.ask('after', { name: 'a', provider: 'nowhere' });
  expect(world.saidOf.get('a')).toContain('paused by annotation cloud-operator.dev/pause of CloudProvider p');
  await world.stop();
});

test('a member whose CloudProvider can be used by now is not made in the stack that it leaves', async () => {
  const world = new World();
  await world.start();
  await world.ask('old');
  await world.ask('before', { name: 'a' });
  await world.registry.set('other', { local: { endpoint: 'http://127.0.0.1:2' } } as never);
  await world.ask('after', { name: 'a', provider: 'other' });
  expect(world.saidOf.get('a')).toBe('Reconciling Updating: it goes to CloudProvider other');
  expect(world.made('a')).toBe('before');
  await world.stop();
});

/** What a reconciler remembers of members and of its stacks' plans. */
function sizesOf(reconciler: StackReconciler<Versioned> | undefined): Record<string, number | undefined> {
  const { holds, approvals } = reconciler as unknown as {
    holds: { holds: Map<string, object>; retries: { streaks: Map<string, object> } };
    approvals: { gate: { told: Map<string, string> }; cache: { plans: Map<string, object> } };
  };
  return { held: holds.holds.size, streaks: holds.retries.streaks.size, told: approvals.gate.told.size, plans: approvals.cache.plans.size };
}

test('of a thousand objects that failed, or waited for approval, and went nothing is remembered', async () => {
  const world = new World();
  await world.start();
  const controller = world.controller();
  await controller.start();
  await world.ask('old');
  await world.ask(TOO_MUCH, { name: `${NEW}held` });
  await world.ask('new', { name: `${NEW}waits`, manual: true });
  const before = sizesOf(world.reconciler);
  expect(before).toMatchObject({ held: 1, streaks: 1, told: 1 });
  for (let count = 0; count < 500; count++) {
    await world.ask(TOO_MUCH, { name: `${NEW}held-${count}` });
    await world.vanish(`${NEW}held-${count}`);
    await world.ask('new', { name: `${NEW}waits-${count}`, manual: true });
    await world.vanish(`${NEW}waits-${count}`);
  }
  expect(sizesOf(world.reconciler)).toEqual(before);
  controller.stop();
  await world.stop();
});

test('of a stack that was never made nothing is remembered either, once nobody asks for it', async () => {
  const world = new World();
  await world.start();
  const controller = world.controller();
  await controller.start();
  await world.ask('new', { manual: true });
  expect(sizesOf(world.reconciler)).toMatchObject({ told: 1, plans: 1 });
  await world.vanish('web');
  expect(sizesOf(world.reconciler)).toEqual({ held: 0, streaks: 0, told: 0, plans: 0 });
  controller.stop();
  await world.stop();
});
