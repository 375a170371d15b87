import type { Clock } from '../base/clock';
import type { OperatorError } from '../base/errors';
import { exponentialDelay, type BackOffLimits } from '../kube/back-off';

interface Hold {
  /** Of the candidate that failed: another one is tried at once. */
  hash: string;
  error: OperatorError;
  failures: number;
  /** On the monotonic clock, in milliseconds. */
  until: number;
}

/** Candidates that failed, each with a back-off of its own. Forgotten in a restart: each is then tried once more. */
export class CandidateHolds {
  private readonly holds = new Map<string, Hold>();

  constructor(
    private readonly clock: Clock,
    private readonly backOff: BackOffLimits,
  ) {}

  /** Why the candidate waits; undefined = it may be tried. */
  of(uid: string, hash: string): OperatorError | undefined {
    const hold = this.holds.get(uid);
    return hold?.hash === hash && this.clock.monotonic() < hold.until ? hold.error : undefined;
  }

  /** True when the same has failed before, though it may be tried again now. */
  hasFailed(uid: string, hash: string): boolean {
    return this.holds.get(uid)?.hash === hash;
  }

  /** Records a failure. @returns in how many milliseconds the candidate may be tried again */
  fail(uid: string, hash: string, error: OperatorError): number {
    const before = this.holds.get(uid);
    const failures = before?.hash === hash ? before.failures + 1 : 0;
    const delay = Math.max(exponentialDelay(failures, this.backOff), error.retryAfterMs ?? 0);
    this.holds.set(uid, { hash, error, failures, until: this.clock.monotonic() + delay });
    return delay;
  }

  /** The candidate is in the cloud, or its object is gone. */
  clear(uid: string): void {
    this.holds.delete(uid);
  }
}
