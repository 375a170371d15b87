import { retry, type RetryPolicy } from '../retry';

/**
 * Looks at many resources, first at the list and then closer: AWS refuses a call for several of them whole when one has gone in between, so the list
 * is asked for anew then.
 * @throws what the look throws; OperatorError NotFound when that lasts
 */
export function lookAgainWhenGone<T>(policy: RetryPolicy, look: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return retry(policy, look, ({ code }) => code === 'NotFound', signal);
}
