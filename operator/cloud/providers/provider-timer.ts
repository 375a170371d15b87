import type { Clock } from '../../base/clock';
import { sleep } from '../../base/clock';
import { parseDuration } from '../../base/duration';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import { atPriority } from '../../updates/limits/call-priority';
import type { CloudRegistry } from './registry';

export interface ProviderTimerOptions {
  registry: CloudRegistry;
  clock: Clock;
  /** 0 ≤ x < 1, for the jitter. */
  random: () => number;
  logger: Logger;
}

/** From half an interval to one and a half, so that what began together does not stay together. */
export function jittered(intervalMs: number, random: () => number): number {
  return intervalMs * (0.5 + random());
}

/** What is done for each provider now and then. */
export interface PeriodicWork {
  /** Milliseconds until the next pass, jittered; 0 = only when asked. */
  waitMs(provider: string): number;
  pass(provider: string): Promise<void>;
  /** Begins the line that tells of a pass that failed: what could not be done. */
  failure: string;
}

const IDLE_MS = 1000;

/** Does something for every provider on a slow timer of its own, behind all other calls to its cloud. */
export class ProviderTimer {
  /** Ends a provider's wait. */
  private readonly wakes = new Map<string, () => void>();
  /** By provider that a pass is asked for: who wants to know that it has ended. */
  private readonly asked = new Map<string, (() => void)[]>();

  constructor(
    private readonly options: ProviderTimerOptions,
    private readonly work: PeriodicWork,
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

  /**
   * A pass over the provider comes at once, or as soon as its cloud can be used.
   * @returns once that has ended, whether or not it failed; never, when the operator ends before
   */
  ask(provider: string): Promise<void> {
    const ended = new Promise<void>((resolve) => this.asked.set(provider, [...(this.asked.get(provider) ?? []), resolve]));
    this.wakes.get(provider)?.();
    return ended;
  }

  private async runProvider(provider: string, signal: AbortSignal): Promise<void> {
    const due = this.asked.has(provider) || (await this.becomesDue(provider, signal)) || this.asked.has(provider);
    if (!due || signal.aborted || !this.usable(provider)) return;
    const told = this.asked.get(provider) ?? [];
    this.asked.delete(provider);
    try {
      await atPriority('Background', () => this.work.pass(provider));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.logger.warn({ provider, code: error.code, error: error.message }, `${this.work.failure}; trying again later`);
    } finally {
      told.forEach((tell) => tell());
    }
  }

  /** @returns false when the wait was for another interval than is set now */
  private async becomesDue(provider: string, signal: AbortSignal): Promise<boolean> {
    const waitMs = this.work.waitMs(provider);
    const elapsed = await this.wait(provider, waitMs === 0 ? IDLE_MS : waitMs, signal);
    return elapsed && waitMs > 0;
  }

  private usable(provider: string): boolean {
    const { registry } = this.options;
    return registry.get(provider)?.cloud !== undefined && registry.accounts.refusal(provider) === undefined;
  }

  /** @returns false when it was cut short: the CloudProvider has changed and its new interval begins, however long the old one was */
  private async wait(provider: string, ms: number, signal: AbortSignal): Promise<boolean> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.wakes.set(provider, wake);
    const unsubscribe = this.options.registry.onChange((name) => {
      if (name === provider) wake();
    });
    try {
      await sleep(this.options.clock, ms, AbortSignal.any([signal, woken.signal]));
      return true;
    } catch {
      return false; // one of the two signals: nothing else ends a sleep
    } finally {
      unsubscribe();
      this.wakes.delete(provider);
    }
  }
}

/** `CloudProvider.spec.driftInterval`, `routePeriod` or `sweepInterval` in milliseconds; 0 when the provider is unknown. */
export function intervalOf(registry: CloudRegistry, provider: string, field: 'driftInterval' | 'routePeriod' | 'sweepInterval'): number {
  const spec = registry.get(provider)?.spec;
  return spec === undefined ? 0 : parseDuration(spec[field]);
}
