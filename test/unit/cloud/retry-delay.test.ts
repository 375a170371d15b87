import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { retryAfterFailure, type RetryPlan } from '../../../operator/cloud/stack/retry-delay';
import { StackRetries } from '../../../operator/cloud/stack/stack-retries';
import { Accounts } from '../../../operator/updates/limits/accounts';
import { FakeClock } from '../kube/fake-clock';

const MINUTE = 60_000;
const budget = { failures: 1000, ms: 1e12 };

const schedule = (code: ErrorCode, retryAfterMs?: number): number[] =>
  [1, 2, 3, 4, 5, 6, 7, 8, 20].map((failures) => {
    const error = new OperatorError(code, 'no', retryAfterMs === undefined ? {} : { retryAfterMs });
    return retryAfterFailure(error, { failures, lastedMs: 0 }, budget, 0).delayMs / 1000;
  });

describe('the class decides the back-off', () => {
  test.each<[ErrorCode, number[]]>([
    ['Transient', [1, 2, 4, 8, 16, 32, 60, 60, 60]],
    ['Throttled', [1, 2, 4, 8, 16, 32, 60, 60, 60]],
    ['Credentials', [30, 60, 120, 240, 300, 300, 300, 300, 300]],
    ['Quota', [300, 300, 300, 300, 300, 300, 300, 300, 300]],
    ['Invalid', [300, 300, 300, 300, 300, 300, 300, 300, 300]],
    ['Taken', [1, 2, 4, 8, 16, 32, 60, 60, 60]],
    ['Conflict', [0.25, 0.5, 1, 2, 4, 8, 16, 32, 60]],
    ['NotFound', [1, 2, 4, 8, 16, 32, 60, 60, 60]],
    ['Canceled', [1, 2, 4, 8, 10, 10, 10, 10, 10]],
    ['Unknown', [2, 4, 8, 16, 32, 64, 128, 256, 300]],
  ])('%s', (code, seconds) => expect(schedule(code)).toEqual(seconds));

  test.each<[ErrorCode, number]>([
    ['Throttled', 7],
    ['Credentials', 7],
  ])('%s: when the cloud says', (code, seconds) => expect(schedule(code, 7_000)).toEqual(Array<number>(9).fill(seconds)));

  test('for all others a Retry-After is the least', () => {
    expect(schedule('Transient', 7_000)).toEqual([7, 7, 7, 8, 16, 32, 60, 60, 60]);
  });

  test.each<ErrorCode>(['Transient', 'Credentials', 'Invalid'])('%s of the state store is tried again soon', (code) => {
    const delays = [1, 2, 9].map((failures) => {
      const error = new OperatorError(code, 'no', { reason: 'StateStoreUnavailable' });
      return retryAfterFailure(error, { failures, lastedMs: 0 }, budget, 0).delayMs / 1000;
    });
    expect(delays).toEqual([1, 2, 60]);
  });

  test('jitter makes it longer by up to a tenth', () => {
    const error = new OperatorError('Transient', 'no');
    expect(retryAfterFailure(error, { failures: 1, lastedMs: 0 }, budget, 0.999).delayMs).toBeCloseTo(1_100, -1);
  });
});

describe('the budget', () => {
  const set = { failures: 5, ms: 2 * MINUTE };
  test.each<[ErrorCode, number, number, boolean]>([
    ['Transient', 4, 0, false],
    ['Transient', 5, 0, true],
    ['Transient', 1, 2 * MINUTE, true],
    ['Unknown', 5, 0, true],
    ['Unknown', 2, MINUTE, false],
    ['Throttled', 100, 1e9, false],
    ['Conflict', 100, 1e9, false],
    ['Invalid', 100, 1e9, false],
  ])('%s after %d failures and %d ms: exhausted = %s', (code, failures, lastedMs, exhausted) => {
    const retry = retryAfterFailure(new OperatorError(code, 'no'), { failures, lastedMs }, set, 0);
    expect(retry.exhausted).toBe(exhausted);
    if (exhausted) expect(retry.delayMs).toBe(5 * MINUTE);
  });
});

describe('StackRetries', () => {
  const plan: RetryPlan = (error, streak) => retryAfterFailure(error, streak, { failures: 3, ms: 1e9 }, 0);

  test('counts in a row per stack, and begins anew after a success or another spec', () => {
    const clock = new FakeClock();
    const retries = new StackRetries(clock, plan);
    const error = new OperatorError('Transient', 'no');
    expect([1, 2, 3].map(() => retries.failed('s', error).exhausted)).toEqual([false, false, true]);
    expect(retries.failed('other', error)).toEqual({ delayMs: 1_000, exhausted: false, nextTryAt: clock.now() + 1_000 });
    expect(retries.of('s')?.delayMs).toBe(5 * MINUTE);
    retries.forget('s');
    expect(retries.of('s')).toBeUndefined();
    expect(retries.failed('s', error).delayMs).toBe(1_000);
  });

  test('C-SVC-26 one that says when to come again comes exactly then, and is not counted', () => {
    const retries = new StackRetries(new FakeClock(), plan);
    const told = new OperatorError('Throttled', 'no', { retryAfterMs: 42_000 });
    const other = new OperatorError('Conflict', 'no');
    const delays = [other, other, told, told, other].map((error) => retries.failed('s', error).delayMs);
    expect(delays).toEqual([250, 500, 42_000, 42_000, 1_000]);
  });

  test('what has to go is tried at least every 30 s, unless somebody says when', () => {
    const retries = new StackRetries(new FakeClock(), plan);
    const delay = (code: ErrorCode, retryAfterMs?: number): number =>
      retries.failed(code, new OperatorError(code, 'no', retryAfterMs === undefined ? {} : { retryAfterMs }), true).delayMs;
    expect([delay('Invalid'), delay('Conflict'), delay('Throttled', 90_000)]).toEqual([30_000, 250, 90_000]);
  });

  test('refused credentials are tried when the circuit breaker does', async () => {
    const clock = new FakeClock();
    const accounts = new Accounts(clock);
    (await accounts.of('a').acquire('get'))({ kind: 'Refused', message: 'who are you' });
    const error = accounts.refusal('a');
    if (error === undefined) throw new Error('not refused');
    const retries = new StackRetries(clock, plan);
    expect(retries.failed('s', error)).toEqual({ delayMs: 30_000, exhausted: false, nextTryAt: clock.now() + 30_000 });
  });
});
