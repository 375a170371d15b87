import type { Clock } from '../../base/clock';
import type { CallLimiter } from './call-limiter';
import { CallPace } from './call-pace';

/** What a cloud says of the calls that it takes, to all CloudProviders that are one account to it. */
export class SharedLimits {
  readonly pace: CallPace;
  private readonly limiters = new Set<CallLimiter>();

  constructor(clock: Clock) {
    this.pace = new CallPace(clock);
  }

  /** False once all have left. */
  get isUsed(): boolean {
    return this.limiters.size > 0;
  }

  join(limiter: CallLimiter): void {
    this.limiters.add(limiter);
  }

  /** @param reason why it leaves: told to who waits, when nobody else is left */
  leave(limiter: CallLimiter, reason: Error): void {
    this.limiters.delete(limiter);
    if (!this.isUsed) this.pace.close(reason);
  }

  /** The cloud answered "too many calls". @param retryAfterMs nobody calls before that */
  throttled(retryAfterMs: number | undefined): void {
    this.limiters.forEach((limiter) => limiter.throttled(retryAfterMs));
  }
}
