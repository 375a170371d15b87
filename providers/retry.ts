import { sleep, type Clock } from '../operator/base/clock';
import { toOperatorError, type OperatorError } from '../operator/base/errors';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

export interface RetryPolicy {
  clock: Clock;
  /** 0…1, for the jitter. */
  random: () => number;
  /** All tries and waits of one call together, in milliseconds; what would last longer fails at once with the last error. */
  budgetMs: number;
}

/**
 * Tries `attempt` until it succeeds, throws something that `again` does not accept, or the budget is used up.
 * Waits grow from 0.1 s to 2 s with jitter, and are never shorter than the error's `retryAfterMs`.
 * @param attempt may extend the budget by time that was not the cloud's, such as the wait for the account's limits
 * @throws OperatorError the last one, so that the caller's queue knows its class and `retryAfterMs`
 */
export async function retry<T>(
  policy: RetryPolicy,
  attempt: (extend: (ms: number) => void) => Promise<T>,
  again: (error: OperatorError) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  let deadline = policy.clock.monotonic() + policy.budgetMs;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt((ms) => (deadline += ms));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const wait = waitBefore(tries, error, policy.random());
      if (!again(error) || policy.clock.monotonic() + wait > deadline) throw error;
      await waitFor(policy.clock, wait, signal);
    }
  }
}

function waitBefore(tries: number, error: OperatorError, random: number): number {
  const grown = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
  return Math.max(error.retryAfterMs ?? 0, grown * (0.5 + random / 2));
}

async function waitFor(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(clock, ms, signal);
  } catch (reason) {
    throw toOperatorError(reason);
  }
}
