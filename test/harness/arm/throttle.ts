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
  /** Of Compute's own limit for lists of machines; undefined = it has none. */
  machines: Bucket | undefined;
  private readonly left = new Map<string, { calls: number; at: number }>();

  constructor(
    private readonly clock: Clock,
    public buckets: Readonly<Record<CallSort, Bucket>> = SUBSCRIPTION_BUCKETS,
  ) {}

  /** Takes one call of its bucket. @returns what is refused with, and what every answer says of what is left */
  take(verb: CallVerb, subscription: string): { refused?: Answer; headers: Record<string, string> } {
    const sort = sortOfCall(verb);
    const { left, seconds } = this.takeOf(sort, this.buckets[sort]);
    const header = `x-ms-ratelimit-remaining-subscription-${sort}`;
    if (seconds === undefined) return { headers: { [header]: String(left) } };
    const text = `Number of '${sort}' requests for subscription '${subscription}' exceeded. Please try again after '${seconds}' seconds.`;
    return { refused: refusal(429, 'SubscriptionRequestsThrottled', text), headers: { [header]: '0', 'retry-after': String(seconds) } };
  }

  /** The same of Compute's own limit (learn.microsoft.com, "Troubleshooting API throttling errors"). */
  takeOfCompute(verb: CallVerb, path: string): { refused?: Answer; headers: Record<string, string> } {
    if (this.machines === undefined || verb !== 'list' || !/providers\/Microsoft\.Compute\//i.test(path)) return { headers: {} };
    const { left, seconds } = this.takeOf('machines', this.machines);
    const headers = {
      'x-ms-ratelimit-remaining-resource': `Microsoft.Compute/HighCostGet3Min;${left},Microsoft.Compute/HighCostGet30Min;900`,
    };
    if (seconds === undefined) return { headers };
    const text = 'The server rejected the request because too many requests have been received for this subscription.';
    return { refused: refusal(429, 'OperationNotAllowed', text), headers: { ...headers, 'retry-after': String(seconds) } };
  }

  /** @returns how many are left; `seconds` until there is one, where there was none */
  private takeOf(bucket: string, { size, perSecond }: Bucket): { left: number; seconds?: number } {
    const now = this.clock.monotonic();
    const { calls, at } = this.left.get(bucket) ?? { calls: size, at: now };
    const there = Math.min(size, calls + ((now - at) / 1000) * perSecond);
    this.left.set(bucket, { calls: there >= 1 ? there - 1 : there, at: now });
    return there >= 1 ? { left: Math.floor(there - 1) } : { left: 0, seconds: Math.ceil((1 - there) / perSecond) };
  }
}
