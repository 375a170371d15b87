import { ANNOTATIONS, type Drift } from '../../../crds';
import { toOperatorError } from '../../base/errors';
import { hashJson } from '../../base/json';
import type { EventRecorder, WorkQueue } from '../../kube/api';
import { KindController, type KindControllerOptions } from '../../kube/controller';
import { keyOf, type ObjectKey } from '../../kube/object';
import { reasonOfError, verdictOfError } from '../conditions';
import type { ObjectWriter } from '../object-writer';
import type { CloudRegistry } from '../providers/registry';
import { echoOf } from '../reconcile-token';
import { membersOf, providerAmong, type StackIndex } from './stack-index';
import type { Holdings, Member, StackKind } from './stack-kind';
import type { StackReconciler } from './stack-reconciler';
import type { StoredStack } from './stack-record';
import type { StackRetries } from './stack-retries';

export interface StackControllerOptions<O extends Member> extends KindControllerOptions<O> {
  kind: StackKind<O>;
  index: StackIndex;
  registry: CloudRegistry;
  reconciler: StackReconciler<O>;
  retries: StackRetries;
  writer: ObjectWriter;
  events: EventRecorder;
  /** The stacks' records: what each carried when it was last written. */
  records: () => readonly StoredStack[];
  providerOf: (stack: string) => string | undefined;
  /** Has a stack compared with the cloud at once. */
  compare: (provider: string, stack: string) => void;
  /** Keyed by stack: one pass over a stack at a time. */
  stacks: WorkQueue;
}

/** A failure that is tried again so late waits for a person. */
const SLOW_MS = 60_000;
/** Passes for Nodes that come and go, beside all those that wait for their updates. */
const RESERVED = 4;

/** Controller of CloudLoadBalancers or CloudRoutes: finds each object's stack, and has the stacks reconciled. */
export class StackController<O extends Member> extends KindController<O> {
  private readonly closing = new AbortController();
  private work: Promise<void> = Promise.resolve();
  private forgetProviders: () => void = () => undefined;
  private forgetObjects: () => void = () => undefined;
  /** By object: what of it asks for a pass at once. */
  private readonly asked = new Map<ObjectKey, string>();
  /** By stack: who wants to know that a pass which has not begun yet has ended. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** Stacks that a worker has, and whether a status in them was written meanwhile. */
  private readonly busy = new Map<string, boolean>();

  /** Stacks to whose Nodes only the targets are to follow: for everything else they wait. */
  private readonly following = new Set<string>();

  constructor(private readonly own: StackControllerOptions<O>) {
    super(own);
  }

  /** Stacks that have members, or something of those that are moving to another stack. */
  stacks(): string[] {
    return this.own.index.stacks();
  }

  /** Stacks of a provider that have members, or something of those that are moving to another stack. */
  stacksOf(provider: string): string[] {
    return this.stacks().filter((stack) => this.providerOf(stack) === provider);
  }

  private providerOf(stack: string): string | undefined {
    const { index, store, registry, providerOf } = this.own;
    return providerOf(stack) ?? providerAmong(membersOf(index, store, stack), registry);
  }

  /**
   * Looks at every stack of a provider again: its Nodes have changed. That is no reason to try what waits for a person, but its targets follow.
   * @returns once each has had a pass, whether or not that failed; never, when the operator ends before
   */
  async requeue(provider: string): Promise<void> {
    const waits = (stack: string): boolean => (this.own.retries.of(stack)?.delayMs ?? 0) >= SLOW_MS;
    const stacks = this.stacksOf(provider);
    stacks.filter(waits).forEach((stack) => this.following.add(stack));
    const { follower } = this.own.reconciler;
    const { stacks: queue } = this.own;
    // Traffic waits for no update, nor for those before it.
    const busy = new Set(stacks.filter((stack) => queue.has(stack)));
    const isLate = (stack: string): boolean => follower.isHeldUp(stack) || (busy.has(stack) && this.serves(stack));
    stacks.filter(isLate).forEach((stack) => void follower.follow(stack));
    const passed = this.passed(stacks);
    stacks.forEach((stack) => queue.add(stack, busy.has(stack) ? 'Normal' : 'High'));
    await passed;
  }

  private serves(stack: string): boolean {
    const { index, store, kind } = this.own;
    return membersOf(index, store, stack).some((object) => kind.serving(object, {}));
  }

  /**
   * As `retry`, for a person: what is not tried again by itself is tried, too.
   * @returns as `requeue` does
   */
  ask(provider: string): Promise<void> {
    const { reconciler } = this.own;
    for (const stack of this.stacksOf(provider)) {
      reconciler.tryAnew(stack);
      reconciler.releaseHolds(stack);
    }
    return this.retry(provider);
  }

  /**
   * Looks at every stack of a provider at once, and tries what failed: whether its cloud can be used has changed.
   * @returns as `requeue` does
   */
  async retry(provider: string): Promise<void> {
    const stacks = this.stacksOf(provider);
    const passed = this.passed(stacks);
    stacks.forEach((stack) => this.tryAnew(stack));
    await passed;
  }

  /** Resolves once each stack has had a pass that has not begun yet. */
  private async passed(stacks: readonly string[]): Promise<void> {
    const passes = stacks.map(
      (stack) => new Promise<void>((resolve) => this.waiting.set(stack, [...(this.waiting.get(stack) ?? []), resolve])),
    );
    await Promise.all(passes);
  }

  /** Looks at one stack again, where it is one of ours with members. */
  refresh(stack: string): void {
    if (this.own.index.has(stack)) this.own.stacks.add(stack);
  }

  /** Looks at one object's stack again: something that the object refers to has changed. */
  recheck(key: ObjectKey): void {
    const stack = this.own.index.stackOf(key);
    if (stack !== undefined) this.own.stacks.add(stack);
  }

  /** Looks at one stack again, also where it has no members any more. */
  look(stack: string): void {
    this.own.stacks.add(stack);
  }

  /** `spec.driftInterval` of each member of the stack. */
  driftIntervalsOf(stack: string): (string | undefined)[] {
    return membersOf(this.own.index, this.own.store, stack).map(({ spec }) => spec.driftInterval);
  }

  /** A lever keeps something of the stack as it is. */
  isHeld(stack: string): boolean {
    return this.own.reconciler.isHeld(stack);
  }

  /** Has a stack healed whose cloud was found changed. */
  heal(stack: string, drift: Drift[]): void {
    this.own.reconciler.heal(stack, drift);
    this.own.stacks.add(stack);
  }

  /** Looks at the stacks that have a record but no members, such as one whose last member went while the operator was down. */
  sweep(stacks: string[]): void {
    stacks.filter((stack) => this.own.index.keys(stack).length === 0).forEach((stack) => this.own.stacks.add(stack));
  }

  protected override async init(): Promise<void> {
    await super.init();
    this.own
      .records()
      .filter(({ spec }) => spec.kind === this.own.kind.kind)
      .forEach(({ metadata, status }) => status?.members?.forEach((key) => this.own.index.remember(key, metadata.name)));
    this.own.store.list().forEach((object) => this.assign(keyOf(object.metadata)));
    this.forgetProviders = this.own.registry.onChange((provider) => this.onProvider(provider));
    this.forgetObjects = this.own.store.onChange(({ previous, current }) => {
      if (previous !== undefined && previous.metadata.uid !== current?.metadata.uid)
        this.own.reconciler.forgetMember(previous.metadata.uid);
    });
    this.work = this.own.stacks.run(this.own.workers, (stack) => this.pass(stack), this.closing.signal, RESERVED);
  }

  override stop(): void {
    this.forgetProviders();
    this.forgetObjects();
    this.closing.abort();
    super.stop();
  }

  override async ended(): Promise<void> {
    await super.ended();
    await this.work;
  }

  /** One object has changed: its stack, or the one that it left, is to be looked at. */
  protected override async reconcile(key: ObjectKey): Promise<void> {
    const object = this.own.store.get(key);
    const asks = this.asksForMore(key, object);
    this.assign(key).forEach((stack) => (asks ? this.tryAnew(stack) : this.noticeStatus(stack)));
    if (asks) this.answer(key, object);
    if (object === undefined || this.own.index.stackOf(key) !== undefined) return;
    await this.reportUnassigned(object);
  }

  /** A person asks, where its annotation `reconcile` is another one than what was answered last. */
  private answer(key: ObjectKey, object: O | undefined): void {
    const token = echoOf(object?.metadata.annotations?.[ANNOTATIONS.reconcile]);
    const stack = this.own.index.stackOf(key);
    if (object === undefined || stack === undefined || token === undefined || token === object.status?.lastHandledReconcile) return;
    this.own.reconciler.tryAnew(stack);
    this.own.compare(this.providerOf(stack) ?? object.spec.provider, stack);
  }

  /** What failed before doesn't count any more. */
  private tryAnew(stack: string): void {
    this.own.retries.forget(stack);
    this.own.stacks.add(stack);
  }

  private async pass(stack: string): Promise<void> {
    this.busy.set(stack, false);
    const told = this.waiting.get(stack) ?? [];
    this.waiting.delete(stack);
    const waitMs = this.following.delete(stack) ? this.own.retries.waitOf(stack) : 0;
    try {
      if (waitMs > 0) await this.follow(stack, waitMs);
      else await this.own.reconciler.reconcile(stack);
      if (this.busy.get(stack) === true) this.own.stacks.add(stack);
    } finally {
      this.busy.delete(stack);
      told.forEach((tell) => tell());
    }
  }

  /** What the stack waits with is tried when that was planned. */
  private async follow(stack: string, waitMs: number): Promise<void> {
    await this.own.reconciler.follower.follow(stack);
    this.own.stacks.addAfter(stack, waitMs);
  }

  /** True when something of the object has changed that only people and the loops write. */
  private asksForMore(key: ObjectKey, object: O | undefined): boolean {
    const before = this.asked.get(key);
    if (object === undefined) return this.asked.delete(key);
    const { uid, generation, deletionTimestamp, annotations, ownerReferences } = object.metadata;
    const now = hashJson({ uid, generation, deletionTimestamp, annotations, ownerReferences });
    this.asked.set(key, now);
    return before !== now;
  }

  /**
   * A status or finalizer has changed. That was mostly ourselves; a hand edit is put right by the next pass. A stack that
   * fails keeps its back-off: its own report of the failure must not be what tries again.
   */
  private noticeStatus(stack: string): void {
    if (this.busy.has(stack)) this.busy.set(stack, true);
    else if (!this.own.reconciler.isFailing(stack)) this.own.stacks.add(stack);
  }

  /** While its provider is not connected, an object stays in the stack where it was. */
  private assign(key: ObjectKey): string[] {
    const object = this.own.store.get(key);
    if (object === undefined) return this.own.index.forget(key);
    const { index, kind, registry } = this.own;
    const stack = kind.stackOf(object, registry.get(object.spec.provider), this.holdings(key));
    return index.assign(key, stack ?? index.stackOf(key));
  }

  private holdings(key: ObjectKey): Holdings {
    const { index, providerOf } = this.own;
    const held = [index.stackOf(key), ...index.formersOf(key)].filter((stack) => stack !== undefined);
    return { held, providerOf, sizeOf: (stack) => index.sizeOf(stack) };
  }

  private onProvider(provider: string): void {
    for (const { metadata, spec } of this.own.store.list()) {
      if (spec.provider !== provider) continue;
      this.asked.delete(keyOf(metadata));
      this.own.queue.add(keyOf(metadata));
    }
    this.lookAtLeft(provider);
  }

  /** What nobody is a member of any more may go now, or not; those that have left it say so. */
  private lookAtLeft(provider: string): void {
    const { records, kind, index } = this.own;
    for (const { metadata, spec } of records()) {
      if (spec.provider !== provider || spec.kind !== kind.kind) continue;
      if (index.keys(metadata.name).length === 0) this.tryAnew(metadata.name);
      index.formersIn(metadata.name).forEach((key) => this.recheck(key));
    }
  }

  /** The object's cloud is missing, not connected, or can't do this. @throws OperatorError to be tried again */
  private async reportUnassigned(object: O): Promise<void> {
    try {
      const cloud = this.own.registry.connected(object.spec.provider);
      this.own.kind.problems(object, cloud);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const verdict = verdictOfError(error, this.own.kind.serving(object, {}));
      const news = await this.own.writer.writeStatus(object, this.own.kind.keptFields(object, {}), verdict);
      if (news) this.own.events.event(object, 'Warning', reasonOfError(error), verdict.message);
      throw error;
    }
  }
}
