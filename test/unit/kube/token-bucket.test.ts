import { TokenBucket } from '../../../operator/kube/token-bucket';
import { FakeClock } from './fake-clock';

test('it is full until something is taken, and again once that has come back', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(1, 2, clock);
  expect(bucket.isFull()).toBe(true);
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  await clock.advance(1_999);
  expect(bucket.isFull()).toBe(false);
  await clock.advance(1);
  expect(bucket.isFull()).toBe(true);
});
