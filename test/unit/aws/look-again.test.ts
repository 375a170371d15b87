import { sleep } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { closer, lookAgainWhenGone } from '../../../providers/aws/look-again';
import { FakeClock } from '../kube/fake-clock';

const GONE = new OperatorError('NotFound', 'gone');

test('a look that takes longer than the budget of a call is done anew all the same', async () => {
  const clock = new FakeClock();
  let looks = 0;
  const look = async (): Promise<string> => {
    await sleep(clock, 30_000);
    if (++looks < 3) throw GONE;
    return 'whole';
  };
  const seen = lookAgainWhenGone({ clock, random: () => 0, budgetMs: 20_000 }, look).catch((thrown: unknown) => thrown);
  await clock.advance(100_000);
  expect(await seen).toBe('whole');
});

describe('a closer look at one of a list', () => {
  const refused = (error: OperatorError) => () => Promise.reject(error);

  test('tells what it sees, and nothing of what is gone', async () => {
    const listed = (): never => {
      throw new Error('nobody asks the list');
    };
    await expect(closer(() => Promise.resolve('it'), listed)).resolves.toBe('it');
    await expect(closer(refused(GONE), () => Promise.resolve(undefined))).resolves.toBeUndefined();
  });

  test('fails while the list still has it, and as it fails otherwise', async () => {
    await expect(closer(refused(GONE), () => Promise.resolve('it'))).rejects.toBe(GONE);
    const throttled = new OperatorError('Throttled', 'later');
    await expect(closer(refused(throttled), () => Promise.resolve(undefined))).rejects.toBe(throttled);
  });
});
