import { CLEANUP_FINALIZER } from '../../../crds';
import { ChangeBook } from '../../../operator/base/change-book';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import { StackReconciler } from '../../../operator/cloud/stack/stack-reconciler';
import type { StackReconcilerOptions } from '../../../operator/cloud/stack/stack-reconciler-options';
import { StackRetries } from '../../../operator/cloud/stack/stack-retries';
import { UpgradeRollout } from '../../../operator/cloud/stack/upgrade-rollout';
import { KeyedQueue } from '../../../operator/kube/queue';
import { resultOf, type StackState, type StackUpdate, type Updates } from '../../../operator/updates/update';
import { updateHash } from '../../../operator/updates/update-hash';
import { FakeClock, settle } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const STACK = 'lb-web';
const PAUSE_MS = 4_000;

type Versioned = Member & { spec: { version: string } };

const kind: Partial<StackKind<Versioned>> = {
  ...{ kind: 'LoadBalancer', crd: 'cloudloadbalancers' },
  problems: () => [],
  inputOf: ({ metadata: { uid, name }, spec: { version } }) => ({ uid, name, namespace: 'default', version }) as never,
  claims: () => [],
  render: (_stack, inputs) => ({ inputs }) as never,
  attribute: () => [],
  settle: () => Promise.resolve({ fields: {}, verdict: { state: 'Ready', message: '' } }),
  keep: () => Promise.resolve(),
  keptFields: () => ({}),
  serving: (_object, { state }) => state !== undefined,
};

/** A stack with one member, of which some versions fail. The queue of the passes over it is the operator's. */
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
  /** The lease allows cloud writes. */
  leads = true;
  private readonly end = new AbortController();
  private work = Promise.resolve();
  private stored: StackState | undefined;
  private object: Versioned | undefined;

  async start(): Promise<void> {
    const registry = fakeRegistry();
    await registry.set('p', { local: { endpoint: 'http://127.0.0.1:1' } } as never);
    const index = new StackIndex();
    index.assign('default/web', STACK);
    const nothing = (): undefined => undefined;
    const reports = { started: nothing, carriedOut: nothing, unchanged: nothing, succeeded: nothing, failed: nothing, missing: nothing };
    const told = { providerOf: () => 'p', released: () => new Set(), leftover: nothing, drift: () => [], waiting: nothing };
    const reconciler = new StackReconciler<Versioned>({
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
      store: { get: () => this.object, list: () => [this.object] },
      updates: this as unknown as Updates,
      extend: (update: StackUpdate) => update,
      writer: { writeStatus: () => Promise.resolve(true), addFinalizer: nothing },
      record: { ...reports, ...told },
      events: { event: nothing },
      ...{ isValid: () => this.leads, isKindDeleted: () => Promise.resolve(false), onUpdate: nothing, reported: nothing },
      guard: { problem: () => Promise.resolve(undefined) },
      again: (stack: string, afterMs: number) => this.queue.addAfter(stack, afterMs),
      retryPlan: () => ({ delayMs: PAUSE_MS, exhausted: false }),
      rollout: new UpgradeRollout(this.clock, () => 0.5),
    } as unknown as StackReconcilerOptions<Versioned>);
    this.work = this.queue.run(1, (stack) => reconciler.reconcile(stack), this.end.signal);
  }

  async stop(): Promise<void> {
    this.end.abort();
    this.queue.close();
    await this.work;
  }

  /** Somebody asks for a version. */
  async ask(version: string): Promise<void> {
    const metadata = {
      uid: 'u',
      name: 'web',
      namespace: 'default',
      resourceVersion: '1',
      creationTimestamp: '',
      finalizers: [CLEANUP_FINALIZER],
    };
    this.object = { kind: 'CloudLoadBalancer', metadata, spec: { provider: 'p', version } } as unknown as Versioned;
    this.queue.add(STACK);
    await settle();
  }

  readonly state = (): Promise<StackState | undefined> => Promise.resolve(this.stored);

  run(update: StackUpdate, { onStart }: { onStart?: () => void }): Promise<ReturnType<typeof resultOf>> {
    const inputsHash = updateHash(update);
    if (this.stored?.inputsHash === inputsHash && !this.stored.open) return Promise.resolve(resultOf(this.stored));
    const { version } = (update.accepted as Record<string, { version: string }>).u ?? { version: '' };
    onStart?.();
    this.ran.push(version);
    if (this.failing.has(version)) {
      if (this.stored !== undefined) this.stored = { ...this.stored, open: true };
      return Promise.reject(new OperatorError('Unknown', `${version} does not work`));
    }
    const { stack, project, clusterID, programVersion, accepted = {} } = update;
    const made = { incarnation: 'i', epoch: 1, revision: 1, open: false, resourceCount: 0, outputs: {}, resources: [] };
    this.stored = { stack, project, clusterID, programVersion, inputsHash, accepted, ...made };
    return Promise.resolve({ ...resultOf(this.stored), result: 'Updated' });
  }
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
