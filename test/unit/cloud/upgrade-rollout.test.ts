import { UpgradeRollout } from '../../../operator/cloud/stack/upgrade-rollout';
import { seededRandom } from '../../../providers/local/cloud/random';
import { FakeClock } from '../kube/fake-clock';

test('stacks get their turns at an even pace, each at a random moment within its own', async () => {
  const clock = new FakeClock();
  const moments = [0.5, 0, 0.9, 0.5];
  const rollout = new UpgradeRollout(clock, () => moments.shift() ?? 0, 60);
  const waits = (): number[] => ['a', 'b', 'c'].map((stack) => rollout.waitOf(stack));
  expect(waits()).toEqual([500, 1000, 2900]);
  await clock.advance(400);
  expect(waits()).toEqual([100, 600, 2500]);
  await clock.advance(100);
  expect(rollout.waitOf('a')).toBe(0);
  await clock.advance(5000);
  expect(waits()).toEqual([0, 0, 0]);
});

test.each([1, 2, 3])('no more than a minute’s number is let through in a minute, however many ask (seed %i)', async (seed) => {
  const clock = new FakeClock();
  const rollout = new UpgradeRollout(clock, seededRandom(seed), 30);
  const stacks = Array.from({ length: 100 }, (_, at) => `s${at}`);
  let through = 0;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000);
    for (const stack of stacks) if (rollout.waitOf(stack) === 0) through += stacks.splice(stacks.indexOf(stack), 1).length;
  }
  expect(through).toBeGreaterThanOrEqual(28);
  expect(through).toBeLessThanOrEqual(31);
});

test('nobody waits for the turn of a stack that is gone', async () => {
  const clock = new FakeClock();
  const rollout = new UpgradeRollout(clock, () => 0.5, 60);
  rollout.waitOf('a');
  rollout.forget('a');
  await clock.advance(5000);
  expect(rollout.waitOf('a')).toBe(500);
});
