import type { Clock } from '../../base/clock';
import { toldDelayMs, type OperatorError } from '../../base/errors';
import { CredentialsRefused } from '../../updates/limits/account';
import { StateOutgrown } from './outgrown-updates';
import type { Retry, RetryPlan } from './retry-delay';

/** As upstream, which looks at Services that need cleanup so often (contract 2.2). */
const DELETE_RETRY_MS = 30_000;

/** A Retry that people can be told of. */
export interface PlannedRetry extends Retry {
  /** Wall clock, milliseconds; undefined = it is not tried again by itself, only looked at. */
  nextTryAt: number | undefined;
}

interface Streak {
  failures: number;
  since: number;
  retry: PlannedRetry;
  /** On the monotonic clock, in milliseconds. */
  due: number;
}

/** Failures in a row by stack or candidate, and when each is tried again: the one place that queues and conditions agree on. */
export class StackRetries {
  private readonly streaks = new Map<string, Streak>();

  constructor(
    private readonly clock: Clock,
    private readonly plan: RetryPlan,
  ) {}

  /**
   * A try has failed. One that says itself when to come again is not counted.
   * @param deletes something has to go: it is tried at least every 30 s, unless whoever refuses says a later time
   */
  failed(key: string, error: OperatorError, deletes = false): PlannedRetry {
    const now = this.clock.monotonic();
    const before = this.streaks.get(key);
    const failures = (before?.failures ?? 0) + (toldDelayMs(error) === undefined ? 1 : 0);
    const since = before?.since ?? now;
    const asPlanned = this.plan(error, { failures, lastedMs: now - since });
    const limitMs = deletes ? Math.max(DELETE_RETRY_MS, error.retryAfterMs ?? 0) : Infinity;
    const planned = { ...asPlanned, delayMs: Math.min(asPlanned.delayMs, limitMs) };
    const retry = { ...planned, nextTryAt: nextTryOf(error, this.clock.now() + planned.delayMs) };
    this.streaks.set(key, { failures, since, retry, due: now + retry.delayMs });
    return retry;
  }

  /** A try was good, or what is tried is another thing: what failed before doesn't count any more. */
  forget(key: string): void {
    this.streaks.delete(key);
  }

  /** Milliseconds until what failed is to be tried again; 0 = it may be now. */
  waitOf(key: string): number {
    return Math.max(0, (this.streaks.get(key)?.due ?? 0) - this.clock.monotonic());
  }

  /** In a row, without those that said when to come again. */
  failuresOf(key: string): number {
    return this.streaks.get(key)?.failures ?? 0;
  }

  /** What the last failure led to; undefined where there was none. */
  of(key: string): PlannedRetry | undefined {
    return this.streaks.get(key)?.retry;
  }
}

function nextTryOf(error: OperatorError, plannedAt: number): number | undefined {
  if (error instanceof StateOutgrown) return undefined;
  return error instanceof CredentialsRefused ? error.nextTryAt : plannedAt;
}
