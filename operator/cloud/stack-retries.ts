import type { Clock } from '../base/clock';
import type { OperatorError } from '../base/errors';
import { CredentialsRefused } from '../updates/limits/account';
import type { Retry, RetryPlan } from './retry-delay';

/** A Retry that people can be told of. */
export interface PlannedRetry extends Retry {
  /** Wall clock, milliseconds. */
  nextTryAt: number;
}

interface Streak {
  failures: number;
  since: number;
  retry: PlannedRetry;
}

/** Failures in a row by stack or candidate, and when each is tried again: the one place that queues and conditions agree on. */
export class StackRetries {
  private readonly streaks = new Map<string, Streak>();

  constructor(
    private readonly clock: Clock,
    private readonly plan: RetryPlan,
  ) {}

  /** A try has failed. */
  failed(key: string, error: OperatorError): PlannedRetry {
    const now = this.clock.monotonic();
    const before = this.streaks.get(key);
    const failures = (before?.failures ?? 0) + 1;
    const since = before?.since ?? now;
    const planned = this.plan(error, { failures, lastedMs: now - since });
    const nextTryAt = error instanceof CredentialsRefused ? error.nextTryAt : this.clock.now() + planned.delayMs;
    const retry = { ...planned, nextTryAt };
    this.streaks.set(key, { failures, since, retry });
    return retry;
  }

  /** A try was good, or what is tried is another thing: what failed before doesn't count any more. */
  forget(key: string): void {
    this.streaks.delete(key);
  }

  /** What the last failure led to; undefined where there was none. */
  of(key: string): PlannedRetry | undefined {
    return this.streaks.get(key)?.retry;
  }
}
