import type { CloudStackSpec } from '../../../crds';
import { toOperatorError } from '../../base/errors';
import { LooksInTurn } from '../../base/looks-in-turn';
import type { Updates } from '../../updates/update';
import { ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';
import { isOfTheStore } from '../stack/state-reads';
import { AskedStacks } from './asked-stacks';
import { DriftSchedule } from './drift-schedule';
import { compareStack, type Compared, type Comparing } from './stack-comparison';

/** Stacks of one kind, as the drift loop sees them. */
export interface DriftSubject extends Comparing {
  readonly kind: CloudStackSpec['kind'];
  /** How often what says nothing of it is compared, in milliseconds; 0 = only when asked. */
  intervalMs(provider: string): number;
  /** Stacks of a provider that have members, and how often each is compared. */
  intervals(provider: string): ReadonlyMap<string, number>;
  /** Looks at what no stack holds: members. @param inTurn as Members.observe */
  alsoCheck?(provider: string, inTurn: boolean): Promise<void>;
}

export interface DriftLoopOptions extends ProviderTimerOptions {
  updates: Updates;
  isValid: () => boolean;
}

/** What one pass is about. */
interface Looked {
  /** Stacks that are compared, whatever a glance tells. */
  asked: readonly string[];
  /** Those whose interval has passed. */
  due: readonly string[];
  /** What no stack holds. */
  others: 'All' | 'InTurn' | 'None';
}

/** Another interval of an object counts after this long at the latest: nobody tells of it. */
const LOOK_MS = 10_000;

/**
 * Compares the cloud with the stacks' state on slow, jittered timers per provider and when asked, by bulk reads and without an engine run;
 * what differs is written into the checkpoint as a refresh would, and healed by the next pass over the stack.
 */
export class DriftLoop {
  private readonly timer: ProviderTimer;
  private readonly schedules = new Map<string, DriftSchedule>();
  /** By provider. */
  private readonly asked = new Map<string, AskedStacks>();
  /** By provider. */
  private readonly looks = new Map<string, LooksInTurn>();

  constructor(
    private readonly options: DriftLoopOptions,
    private readonly subject: DriftSubject,
  ) {
    this.timer = new ProviderTimer(options, {
      waitMs: (provider) => this.waitMs(provider),
      pass: (provider) => this.passDue(provider),
      failure: 'the cloud could not be compared',
    });
  }

  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.timer.run(signal);
  }

  /**
   * Compares stacks of a provider at once, or as soon as its cloud can be used.
   * @param stacks absent = all, and what no stack holds
   * @returns once that has ended, whether or not it failed
   */
  ask(provider: string, stacks?: readonly string[]): Promise<void> {
    this.askedOf(provider).add(stacks === undefined ? 'All' : new Set(stacks));
    return this.timer.ask(provider);
  }

  /** One pass over a provider: compares all its stacks. */
  pass(provider: string): Promise<void> {
    return this.compareAll(provider, { asked: [...this.subject.intervals(provider).keys()], due: [], others: 'All' });
  }

  private waitMs(provider: string): number {
    const intervals = [...this.subject.intervals(provider).values(), this.subject.intervalMs(provider)];
    const waits = [this.scheduleOf(provider).waitMs(intervals), this.askedOf(provider).waitMs()].filter((ms) => ms > 0);
    return waits.length === 0 ? 0 : Math.min(LOOK_MS, ...waits);
  }

  private async passDue(provider: string): Promise<void> {
    const due = this.scheduleOf(provider).due();
    const asked = this.askedOf(provider).take();
    try {
      await (asked === 'All' ? this.pass(provider) : this.passOver(provider, due, asked));
    } catch (thrown) {
      this.askedOf(provider).putOff(asked);
      throw thrown;
    }
  }

  private passOver(provider: string, due: ReadonlySet<number>, asked: ReadonlySet<string>): Promise<void> {
    const all = [...this.subject.intervals(provider)];
    this.looksOf(provider).keep(new Set(all.map(([stack]) => stack)));
    const wanted = all.filter(([stack]) => asked.has(stack)).map(([stack]) => stack);
    const inTurn = all.filter(([stack, ms]) => due.has(ms) && !asked.has(stack)).map(([stack]) => stack);
    const others = due.has(this.subject.intervalMs(provider)) ? 'InTurn' : 'None';
    return this.compareAll(provider, { asked: wanted, due: inTurn, others });
  }

  private async compareAll(provider: string, { asked, due, others }: Looked): Promise<void> {
    if (asked.length + due.length > 0) await this.compareStacks(provider, asked, due);
    if (others !== 'None' && this.options.isValid()) await this.subject.alsoCheck?.(provider, others === 'InTurn');
  }

  private async compareStacks(provider: string, asked: readonly string[], due: readonly string[]): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    if (cloud.discover === undefined) return;
    const since = this.options.updates.moment();
    const glance = due.length > 0 && this.subject.kind === 'LoadBalancer' ? await cloud.glance?.() : undefined;
    const marks = new Map(due.map((stack) => [stack, glance?.marks.get(stack)]));
    const stacks = [...asked, ...this.looksOf(provider).due(marks)];
    if (stacks.length === 0) return;
    const found = await (glance?.discover(stacks) ?? cloud.discover(stacks));
    const stale = new Set<string>();
    for (const stack of stacks) {
      const compared = { stack, provider, found: found.get(stack) ?? [], since };
      if (!(await this.compare(compared, marks.get(stack)))) stale.add(stack);
    }
    this.askedOf(provider).putOff(stale);
  }

  /** @returns false when it was not compared, and is to be put off: a lease that is renewed late is valid again */
  private async compare(compared: Compared, mark: string | undefined): Promise<boolean> {
    if (!this.options.isValid()) return false;
    const { stack, provider } = compared;
    const looks = this.looksOf(provider);
    try {
      const drift = await compareStack(compared, this.options, this.subject);
      if (drift === undefined) return false;
      if (drift.length > 0) looks.forget(stack);
      else if (mark !== undefined) looks.noted(stack, mark);
      return true;
    } catch (thrown) {
      looks.forget(stack);
      return this.skip(stack, thrown);
    }
  }

  /** A stack whose state can't be read is in nobody's way. @throws OperatorError where no other could be read either */
  private skip(stack: string, thrown: unknown): true {
    const error = toOperatorError(thrown);
    if (isOfTheStore(error)) throw error;
    this.options.logger.warn({ stack, code: error.code, error: error.message }, 'the stack could not be compared with the cloud');
    return true;
  }

  private looksOf(provider: string): LooksInTurn {
    const known = this.looks.get(provider) ?? new LooksInTurn();
    this.looks.set(provider, known);
    return known;
  }

  private askedOf(provider: string): AskedStacks {
    const known = this.asked.get(provider) ?? new AskedStacks(this.options.clock);
    this.asked.set(provider, known);
    return known;
  }

  private scheduleOf(provider: string): DriftSchedule {
    const known = this.schedules.get(provider);
    if (known !== undefined) return known;
    const made = new DriftSchedule(this.options.clock, this.options.random);
    this.schedules.set(provider, made);
    return made;
  }
}
