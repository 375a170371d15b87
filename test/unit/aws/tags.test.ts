import { fromAwsTags, holderOf, madeBy, TAG, tagChanges, toAwsTags } from '../../../providers/aws/tags';

const OURS = { [TAG.clusterID]: 'c', [TAG.stack]: 's', [TAG.resource]: 'web', [TAG.owner]: 'shop/web' };
const MAKER = { clusterID: 'c', stack: 's', resource: 'web' };

describe('tags of AWS', () => {
  test('they go to the API and come back, without those that AWS sets', () => {
    expect(fromAwsTags([...toAwsTags(OURS), { Key: 'aws:cloudformation:stack-name', Value: 'x' }])).toEqual(OURS);
    expect(fromAwsTags(undefined)).toEqual({});
  });

  test('a resource is ours by cluster, stack and place, until it is released', () => {
    expect(madeBy(MAKER, OURS)).toBe(true);
    for (const key of [TAG.clusterID, TAG.stack, TAG.resource]) expect(madeBy(MAKER, { ...OURS, [key]: 'other' })).toBe(false);
    expect(madeBy(MAKER, { ...OURS, [TAG.released]: 'true' })).toBe(false);
  });

  test.each([
    [OURS, 'shop/web (stack s, cluster c)'],
    [{ ...OURS, [TAG.released]: 'true' }, 'nobody: it was released by shop/web (stack s, cluster c)'],
    [
      { 'kubernetes.io/service-name': 'shop/web', 'kubernetes.io/cluster/prod': 'owned' },
      'another controller: Service shop/web, cluster prod',
    ],
    [{ team: 'x' }, 'somebody who left no tags of ours'],
  ])('the holder is told: %#', (tags, words) => {
    expect(holderOf(tags)).toBe(words);
  });

  test('only what differs is set, and what is not wanted is removed', () => {
    expect(tagChanges({ a: '1', b: '2', c: '3' }, { a: '1', b: '9', d: '4' })).toEqual({ set: { b: '9', d: '4' }, remove: ['c'] });
  });
});
