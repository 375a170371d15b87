import { ANNOTATIONS } from '../../../crds';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import { hashJson } from '../../base/json';
import type { ConnectedCloud } from '../providers/registry';
import type { MemberInput } from './member-input';
import type { RetryPlan } from './retry-delay';
import type { Member } from './stack-kind';
import { StackRetries, type PlannedRetry } from './stack-retries';

interface Hold {
  /** Of the candidate that failed: another one is tried at once. */
  hash: string;
  error: OperatorError;
  retry: PlannedRetry;
  /** On the monotonic clock, in milliseconds. */
  until: number;
}

export interface Held {
  error: OperatorError;
  retry: PlannedRetry;
  leftMs: number;
}

/** Candidates that failed, each with a back-off of its own. Forgotten in a restart: each is then tried once more. */
export class CandidateHolds {
  private readonly holds = new Map<string, Hold>();
  private readonly retries: StackRetries;

  constructor(
    private readonly clock: Clock,
    plan: RetryPlan,
  ) {
    this.retries = new StackRetries(clock, plan);
  }

  /** Why the candidate waits, and for how long still; undefined = it may be tried. */
  of(uid: string, hash: string): Held | undefined {
    const hold = this.holds.get(uid);
    const leftMs = hold?.hash === hash ? hold.until - this.clock.monotonic() : 0;
    return hold !== undefined && leftMs > 0 ? { error: hold.error, retry: hold.retry, leftMs } : undefined;
  }

  /** True when the same has failed before, though it may be tried again now. */
  hasFailed(uid: string, hash: string): boolean {
    return this.holds.get(uid)?.hash === hash;
  }

  /** Records a failure. @returns when the candidate may be tried again */
  fail(uid: string, hash: string, error: OperatorError): PlannedRetry {
    if (this.holds.get(uid)?.hash !== hash) this.retries.forget(uid);
    const retry = this.retries.failed(uid, error);
    this.holds.set(uid, { hash, error, retry, until: this.clock.monotonic() + retry.delayMs });
    return retry;
  }

  /** Something else has changed that may have been the cause, such as a member that left: the candidate may be tried at once. */
  release(uid: string): void {
    const hold = this.holds.get(uid);
    if (hold !== undefined) hold.until = this.clock.monotonic();
  }

  /** The candidate is in the cloud, or its object is gone. */
  clear(uid: string): void {
    this.holds.delete(uid);
    this.retries.forget(uid);
  }
}

/**
 * A candidate; asking for a pass (annotation reconcile), or another spec of the CloudProvider, such as one with a higher limit, makes it another one, which is
 * tried at once. Pure.
 */
export function versionOf(input: MemberInput, { metadata }: Member, cloud: Pick<ConnectedCloud, 'spec'> | undefined): string {
  return hashJson([input, metadata.annotations?.[ANNOTATIONS.reconcile], cloud?.spec]);
}
