import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { retryOfWrite } from '../../../operator/updates/worker/endpoint/hold';

const MINUTE = 60_000;

type Tries = [failures: number, elapsedMs: number];

test.each<[string, [ErrorCode, number?], Tries, number | undefined]>([
  ['the first failure', ['Transient'], [1, 0], 250],
  ['the fourth', ['Transient'], [4, 2_000], 2_000],
  ['a late one: never longer than five seconds', ['Throttled'], [9, 30_000], 5_000],
  ['the store says when', ['Throttled', 12_000], [1, 0], 12_000],
  ['the store says when, and that is too late for who waits', ['Throttled', 120_000], [1, 0], undefined],
  ['the same, after some tries', ['Transient', 20_000], [3, 45_000], undefined],
  ['the last try is at the end', ['Transient'], [14, MINUTE - 1_000], 1_000],
  ['too long', ['Transient'], [15, MINUTE], undefined],
  ['refused', ['Credentials'], [1, 0], undefined],
  ['a lost race', ['Conflict'], [1, 0], undefined],
])('a write that failed, %s', (_what, [code, retryAfterMs], [failures, elapsedMs], expected) => {
  const error = new OperatorError(code, 'no', retryAfterMs === undefined ? {} : { retryAfterMs });
  expect(retryOfWrite(error, { failures, elapsedMs, holdMs: MINUTE })).toBe(expected);
});
