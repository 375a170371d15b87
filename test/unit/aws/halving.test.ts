import { OperatorError } from '../../../operator/base/errors';
import { byHalves } from '../../../providers/aws/client/halving';

const IDS = Array.from({ length: 20 }, (_, at) => `id-${at}`);

/** @returns ids that were told, and how many questions that took */
async function told(gone: readonly string[], ids: readonly string[] = IDS): Promise<{ ids: string[]; questions: number }> {
  let questions = 0;
  const found = await byHalves(ids, (asked) => {
    questions++;
    return asked.some((id) => gone.includes(id))
      ? Promise.reject(new OperatorError('NotFound', 'one of them is gone'))
      : Promise.resolve(new Map(asked.map((id) => [id, true])));
  });
  return { ids: [...found.keys()], questions };
}

describe('a question about many that is refused because some are gone', () => {
  test.each([
    ['none', [], 1],
    ['one', ['id-7'], 10],
    ['the first and the last', ['id-0', 'id-19'], 17],
    ['all', IDS, 39],
  ])('%s: the others are told', async (_what, gone, most) => {
    const { ids, questions } = await told(gone);
    expect(ids).toEqual(IDS.filter((id) => !gone.includes(id)));
    expect(questions).toBeLessThanOrEqual(most);
  });

  test('nobody is asked of nothing', async () => {
    expect(await told([], [])).toEqual({ ids: [], questions: 0 });
  });

  test('another failure is one, and asked once', async () => {
    let questions = 0;
    const failure = new OperatorError('Throttled', 'later');
    const failing = (): Promise<never> => {
      questions++;
      return Promise.reject(failure);
    };
    await expect(byHalves(IDS, failing)).rejects.toBe(failure);
    expect(questions).toBe(1);
  });
});
