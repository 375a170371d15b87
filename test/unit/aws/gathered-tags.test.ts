import { OperatorError } from '../../../operator/base/errors';
import { GatheredTags } from '../../../providers/aws/client/gathered-tags';
import { FakeClock } from '../kube/fake-clock';

describe('tags that are asked for within a moment of each other', () => {
  const reads: string[][] = [];
  const clock = new FakeClock();
  const gone = new Set<string>();
  let failure: OperatorError | undefined;
  const tags = new GatheredTags((arns) => {
    reads.push([...arns]);
    if (failure !== undefined) return Promise.reject(failure);
    if (arns.some((arn) => gone.has(arn))) return Promise.reject(new OperatorError('NotFound', 'one of them is gone'));
    return Promise.resolve(new Map(arns.map((arn) => [arn, { name: arn }])));
  }, clock);

  async function asked(...arns: string[]) {
    reads.length = 0;
    const answers = Promise.allSettled(arns.map((arn) => tags.of(arn, {})));
    await clock.advance(10);
    return answers;
  }

  const told = (arn: string) => ({ status: 'fulfilled', value: { name: arn } });

  test('take one call, each of them once', async () => {
    expect(await asked('a', 'b', 'a')).toEqual([told('a'), told('b'), told('a')]);
    expect(reads).toEqual([['a', 'b']]);
    expect(await asked('c')).toEqual([told('c')]);
    expect(reads).toEqual([['c']]);
  });

  test('where one is gone, the others are told all the same', async () => {
    gone.add('b');
    expect(await asked('a', 'b')).toEqual([told('a'), { status: 'fulfilled', value: undefined }]);
    expect(reads).toEqual([['a', 'b'], ['a'], ['b']]);
    expect(await asked('b')).toEqual([{ status: 'fulfilled', value: undefined }]);
    expect(reads).toEqual([['b']]);
  });

  test('another failure is everybody’s', async () => {
    failure = new OperatorError('Throttled', 'later');
    const failed = { status: 'rejected', reason: failure };
    expect(await asked('a', 'c')).toEqual([failed, failed]);
    expect(reads).toHaveLength(1);
  });
});
