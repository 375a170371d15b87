import { OperatorError } from '../../../operator/base/errors';
import { CandidateHolds, versionOf } from '../../../operator/cloud/stack/candidate-holds';
import type { RetryPlan } from '../../../operator/cloud/stack/retry-delay';
import { FakeClock } from '../kube/fake-clock';

const failure = new OperatorError('Invalid', 'no');
const plan: RetryPlan = (_error, { failures }) => ({ delayMs: Math.min(failures * 1000, 3000), exhausted: failures > 2 });

test('each candidate has a back-off of its own, which grows; another version is tried at once', async () => {
  const clock = new FakeClock();
  const holds = new CandidateHolds(clock, plan);
  const nextTryAt = clock.now() + 1000;
  expect(holds.fail('a', 'v1', failure)).toEqual({ delayMs: 1000, exhausted: false, nextTryAt });
  expect(holds.of('a', 'v1')).toMatchObject({ error: failure, retry: { nextTryAt }, leftMs: 1000 });
  await clock.advance(400);
  expect(holds.of('a', 'v1')?.leftMs).toBe(600);
  expect([holds.of('a', 'v2'), holds.of('b', 'v1')]).toEqual([undefined, undefined]);
  await clock.advance(600);
  expect([holds.of('a', 'v1'), holds.hasFailed('a', 'v1'), holds.hasFailed('a', 'v2')]).toEqual([undefined, true, false]);
  const delays = ['v1', 'v1', 'v2'].map((version) => holds.fail('a', version, failure).delayMs);
  expect(delays).toEqual([2000, 3000, 1000]);
  holds.clear('a');
  expect(holds.of('a', 'v2')).toBeUndefined();
  expect(holds.fail('a', 'v2', failure).delayMs).toBe(1000);
});

test('a candidate is another one once a pass is asked for, or the CloudProvider says something else', () => {
  const version = (annotations: Record<string, string>, limit: number): string =>
    versionOf({ uid: 'a' } as never, { metadata: { annotations } } as never, { spec: { limit } } as never);
  const first = version({}, 1);
  expect(version({ other: 'x' }, 1)).toBe(first);
  expect(version({ 'cloud-operator.dev/reconcile': '1' }, 1)).not.toBe(first);
  expect(version({}, 2)).not.toBe(first);
});
