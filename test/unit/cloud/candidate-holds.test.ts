import { OperatorError } from '../../../operator/base/errors';
import { CandidateHolds } from '../../../operator/cloud/candidate-holds';
import { FakeClock } from '../kube/fake-clock';

const failure = new OperatorError('Invalid', 'no');

test('each candidate has a back-off of its own, which grows; another version is tried at once', async () => {
  const clock = new FakeClock();
  const holds = new CandidateHolds(clock, { baseMs: 1000, maxMs: 3000 });
  expect(holds.fail('a', 'v1', failure)).toBe(1000);
  expect(holds.of('a', 'v1')).toBe(failure);
  expect([holds.of('a', 'v2'), holds.of('b', 'v1')]).toEqual([undefined, undefined]);
  await clock.advance(1000);
  expect([holds.of('a', 'v1'), holds.hasFailed('a', 'v1'), holds.hasFailed('a', 'v2')]).toEqual([undefined, true, false]);
  expect([holds.fail('a', 'v1', failure), holds.fail('a', 'v1', failure), holds.fail('a', 'v2', failure)]).toEqual([2000, 3000, 1000]);
  holds.clear('a');
  expect(holds.of('a', 'v2')).toBeUndefined();
});

test('the cloud’s Retry-After is kept', () => {
  const holds = new CandidateHolds(new FakeClock(), { baseMs: 1000, maxMs: 3000 });
  expect(holds.fail('a', 'v1', new OperatorError('Quota', 'no', { retryAfterMs: 9000 }))).toBe(9000);
});
