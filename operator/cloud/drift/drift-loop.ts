import { toOperatorError } from '../../base/errors';
import type { Updates } from '../../updates/update';
import { ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';
import { isOfTheStore } from '../stack/state-reads';
import { AskedStacks } from './asked-stacks';
import { DriftSchedule } from './drift-schedule';
import { compareStack, type Comparing } from './stack-comparison';

/** Stacks of one kind, as the drift loop sees them. */
export interface DriftSubject extends Comparing {
  /** How often what says nothing of it is compared, in milliseconds; 0 = only when asked. */
  intervalMs(provider: string): number;
  /** Stacks of a provider that have members, and how often each is compared. */
  intervals(provider: string): ReadonlyMap<string, number>;
  /** Looks at what no stack holds: members. */
  alsoCheck?(provider: string): Promise<void>;
}

export interface DriftLoopOptions extends ProviderTimerOptions {
  updates: Updates;
  isValid: () => boolean;
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
    return this.compareAll(provider, [...this.subject.intervals(provider).keys()], true);
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
    const stacks = [...this.subject.intervals(provider)].filter(([stack, ms]) => due.has(ms) || asked.has(stack));
    return this.compareAll(
      provider,
      stacks.map(([stack]) => stack),
      due.has(this.subject.intervalMs(provider)),
    );
  }

  private async compareAll(provider: string, stacks: string[], others: boolean): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    if (stacks.length > 0 && cloud.discover !== undefined) {
      const since = this.options.updates.moment();
      const found = await cloud.discover(stacks);
      const stale = new Set<string>();
      for (const stack of stacks) {
        // A lease that is renewed late is valid again: what is not compared meanwhile is put off, not forgotten.
        const compared = { stack, provider, found: found.get(stack) ?? [], since };
        const compare = (): Promise<boolean> => compareStack(compared, this.options, this.subject);
        const isNew = this.options.isValid() && (await compare().catch((thrown: unknown) => this.skip(stack, thrown)));
        if (!isNew) stale.add(stack);
      }
      this.askedOf(provider).putOff(stale);
    }
    if (others && this.options.isValid()) await this.subject.alsoCheck?.(provider);
  }

  /** A stack whose state can't be read is in nobody's way. @throws OperatorError where no other could be read either */
  private skip(stack: string, thrown: unknown): true {
    const error = toOperatorError(thrown);
    if (isOfTheStore(error)) throw error;
    this.options.logger.warn({ stack, code: error.code, error: error.message }, 'the stack could not be compared with the cloud');
    return true;
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
