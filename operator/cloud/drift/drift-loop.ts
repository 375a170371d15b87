import type { Drift } from '../../../crds';
import type { DiscoveredResource } from '../../../providers/provider';
import { toOperatorError } from '../../base/errors';
import type { Updates } from '../../updates/update';
import { ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';
import { isOfTheStore } from '../stack/state-reads';

/** Stacks of one kind, as the drift loop sees them. */
export interface DriftSubject {
  /** How often this kind is compared, in milliseconds; 0 = never. */
  intervalMs(provider: string): number;
  /** Stacks of a provider that have members. */
  stacks(provider: string): string[];
  /** A lever keeps something of the stack as it is. */
  isHeld(stack: string): boolean;
  /** Says what was found, and asks for a pass that heals it. */
  found(stack: string, provider: string, drift: Drift[]): void;
  /** Says what was found and is left as it is: nothing, in most cases. */
  reported(stack: string, provider: string, drift: Drift[]): void;
  /** Looks at what no stack holds: members. */
  alsoCheck?(provider: string): Promise<void>;
}

export interface DriftLoopOptions extends ProviderTimerOptions {
  updates: Updates;
  isValid: () => boolean;
}

/**
 * Compares the cloud with the stacks' state on a slow, jittered timer per provider, by bulk reads and without an engine run;
 * what differs is written into the checkpoint as a refresh would, and healed by the next pass over the stack.
 */
export class DriftLoop {
  private readonly timer: ProviderTimer;

  constructor(
    private readonly options: DriftLoopOptions,
    private readonly subject: DriftSubject,
  ) {
    this.timer = new ProviderTimer(options, {
      intervalMs: (provider) => subject.intervalMs(provider),
      pass: (provider) => this.pass(provider),
      failure: 'the cloud could not be compared',
    });
  }

  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.timer.run(signal);
  }

  /** One pass over a provider: compares all its stacks. */
  async pass(provider: string): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    const stacks = this.subject.stacks(provider);
    if (stacks.length > 0 && cloud.discover !== undefined) {
      const found = await cloud.discover(stacks);
      for (const stack of stacks) {
        if (!this.options.isValid()) return;
        await this.compare(stack, provider, found.get(stack) ?? []).catch((thrown: unknown) => this.skip(stack, thrown));
      }
    }
    await this.subject.alsoCheck?.(provider);
  }

  /** With `driftPolicy: Report` or a lever, the state stays as it is, so that no later update heals by the way what was only to be reported. */
  private async compare(stack: string, provider: string, found: DiscoveredResource[]): Promise<void> {
    const { spec } = this.options.registry.connected(provider);
    const heals = spec.driftPolicy === 'Heal' && !spec.freeze && !this.subject.isHeld(stack);
    const drift = await (heals ? this.options.updates.adoptFindings(stack, found) : this.options.updates.compare(stack, found));
    if (heals && drift.length > 0) this.subject.found(stack, provider, drift);
    else this.subject.reported(stack, provider, drift);
  }

  /** A stack whose state can't be read is in nobody's way. @throws OperatorError where no other could be read either */
  private skip(stack: string, thrown: unknown): void {
    const error = toOperatorError(thrown);
    if (isOfTheStore(error)) throw error;
    this.options.logger.warn({ stack, code: error.code, error: error.message }, 'the stack could not be compared with the cloud');
  }
}
