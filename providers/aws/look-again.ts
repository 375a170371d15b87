import { toOperatorError } from '../../operator/base/errors';
import { retry, type RetryPolicy } from '../retry';

/**
 * Looks at many resources, first at the list and then closer: what AWS has in its list and does not know by another answer is looked for anew, with all else.
 * The waits between two looks are what the policy's budget is for: a look at a large account may take longer.
 * @throws what the look throws; OperatorError NotFound when that lasts
 */
export function lookAgainWhenGone<T>(policy: RetryPolicy, look: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const timed = (extend: (ms: number) => void): Promise<T> => {
    const began = policy.clock.monotonic();
    return look().finally(() => extend(policy.clock.monotonic() - began));
  };
  return retry(policy, timed, ({ code }) => code === 'NotFound', signal);
}

/**
 * A closer look at one resource of a list.
 * @param listed asks the list for it anew
 * @returns undefined when it is gone by now
 * @throws what the look throws; OperatorError NotFound while the list still has it
 */
export async function closer<T>(look: () => Promise<T>, listed: () => Promise<unknown>): Promise<T | undefined> {
  try {
    return await look();
  } catch (thrown) {
    if (toOperatorError(thrown).code !== 'NotFound' || (await listed()) !== undefined) throw thrown;
    return undefined;
  }
}
