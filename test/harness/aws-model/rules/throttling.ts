import type { Clock } from '../../../../operator/base/clock';
import { refusal } from '../call';
import type { Rule } from '../rule';

export interface TokenBucket {
  clock: Clock;
  /** Calls that may come at once. */
  burst: number;
  perSecond: number;
}

/** A bucket of tokens for the account: a call that finds it empty is refused, in each service's own words. */
export function throttling({ clock, burst, perSecond }: TokenBucket): Rule {
  let tokens = burst;
  let filledAt = clock.monotonic();
  return {
    before({ service }) {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens >= 1) {
        tokens -= 1;
        return undefined;
      }
      if (service === 'ec2') return refusal('RequestLimitExceeded', 'Request limit exceeded.', 503);
      return refusal('Throttling', 'Rate exceeded');
    },
  };
}
