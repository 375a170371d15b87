import type { Drift } from '../../crds';
import type { DiscoveredResource } from '../../providers/provider';
import type { Clock } from '../base/clock';
import { sleep } from '../base/clock';
import { parseDuration } from '../base/duration';
import { toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import { atPriority } from '../updates/limits/call-priority';
import type { Updates } from '../updates/update';
import type { CloudRegistry } from './registry';

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

export interface DriftLoopOptions {
  registry: CloudRegistry;
  updates: Updates;
  clock: Clock;
  /** 0 ≤ x < 1, for the jitter. */
  random: () => number;
  isValid: () => boolean;
  logger: Logger;
}

const IDLE_MS = 1000;

/**
 * Compares the cloud with the stacks' state on a slow, jittered timer per provider, by bulk reads and without an engine run;
 * what differs is written into the checkpoint as a refresh would, and healed by the next pass over the stack.
 */
export class DriftLoop {
  constructor(
    private readonly options: DriftLoopOptions,
    private readonly subject: DriftSubject,
  ) {}

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Map<string, Promise<void>>();
    while (!signal.aborted) {
      for (const { name } of this.options.registry.list()) {
        if (running.has(name)) continue;
        running.set(
          name,
          this.runProvider(name, signal).finally(() => running.delete(name)),
        );
      }
      await sleep(this.options.clock, IDLE_MS, signal).catch(() => undefined);
    }
    await Promise.all(running.values());
  }

  /** One pass over a provider: compares all its stacks. */
  async pass(provider: string): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    const stacks = this.subject.stacks(provider);
    if (stacks.length > 0 && cloud.discover !== undefined) {
      const found = await cloud.discover(stacks);
      for (const stack of stacks) {
        if (!this.options.isValid()) return;
        await this.compare(stack, provider, found.get(stack) ?? []);
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

  private usable(provider: string): boolean {
    const { registry } = this.options;
    return registry.get(provider)?.cloud !== undefined && registry.accounts.refusal(provider) === undefined;
  }

  private async runProvider(provider: string, signal: AbortSignal): Promise<void> {
    const interval = this.subject.intervalMs(provider);
    const wait = interval === 0 ? IDLE_MS : interval * (0.5 + this.options.random());
    const undisturbed = await this.wait(provider, wait, signal);
    if (!undisturbed || interval === 0 || !this.usable(provider)) return;
    try {
      await atPriority('Background', () => this.pass(provider));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.logger.warn(
        { provider, code: error.code, error: error.message },
        'the cloud could not be compared; trying again after the interval',
      );
    }
  }

  /** @returns false when the CloudProvider has changed meanwhile: its new interval begins, however long the old one was */
  private async wait(provider: string, ms: number, signal: AbortSignal): Promise<boolean> {
    const changed = new AbortController();
    const unsubscribe = this.options.registry.onChange((name) => {
      if (name === provider) changed.abort();
    });
    try {
      await sleep(this.options.clock, ms, AbortSignal.any([signal, changed.signal]));
      return true;
    } catch {
      return false; // one of the two signals: nothing else ends a sleep
    } finally {
      unsubscribe();
    }
  }
}

/** `CloudProvider.spec.driftInterval` or `routePeriod` in milliseconds; 0 when the provider is unknown. */
export function intervalOf(registry: CloudRegistry, provider: string, field: 'driftInterval' | 'routePeriod'): number {
  const spec = registry.get(provider)?.spec;
  return spec === undefined ? 0 : parseDuration(spec[field]);
}
