import type { Clock } from '../../../operator/base/clock';
import { sortOfCall, type CallSort } from '../../../providers/call-gate';
import { refusal, type Answer, type CallVerb } from './request';

export interface Bucket {
  /** Calls at once. */
  size: number;
  perSecond: number;
}

/** Of one subscription and principal (learn.microsoft.com, "Understand how Azure Resource Manager throttles requests"). */
export const SUBSCRIPTION_BUCKETS: Readonly<Record<CallSort, Bucket>> = {
  reads: { size: 250, perSecond: 25 },
  writes: { size: 200, perSecond: 10 },
  deletes: { size: 200, perSecond: 10 },
};

/** A bucket of calls for each sort; what is left stands in every answer. */
export class Throttle {
  private readonly left = new Map<CallSort, { calls: number; at: number }>();

  constructor(
    private readonly clock: Clock,
    public buckets: Readonly<Record<CallSort, Bucket>> = SUBSCRIPTION_BUCKETS,
  ) {}

  /** Takes one call of its bucket. @returns what is refused with, and what every answer says of what is left */
  take(verb: CallVerb, subscription: string): { refused?: Answer; headers: Record<string, string> } {
    const sort = sortOfCall(verb);
    const { size, perSecond } = this.buckets[sort];
    const now = this.clock.monotonic();
    const { calls, at } = this.left.get(sort) ?? { calls: size, at: now };
    const there = Math.min(size, calls + ((now - at) / 1000) * perSecond);
    const header = `x-ms-ratelimit-remaining-subscription-${sort}`;
    if (there >= 1) {
      this.left.set(sort, { calls: there - 1, at: now });
      return { headers: { [header]: String(Math.floor(there - 1)) } };
    }
    this.left.set(sort, { calls: there, at: now });
    const seconds = Math.ceil((1 - there) / perSecond);
    const text = `Number of '${sort}' requests for subscription '${subscription}' exceeded. Please try again after '${seconds}' seconds.`;
    return { refused: refusal(429, 'SubscriptionRequestsThrottled', text), headers: { [header]: '0', 'retry-after': String(seconds) } };
  }
}
