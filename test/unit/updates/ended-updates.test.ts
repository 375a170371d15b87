import { EndedUpdates } from '../../../operator/updates/ended-updates';

describe('whose updates ended after a moment', () => {
  const ended = new EndedUpdates();

  test('those that were noted since', () => {
    ended.note('before');
    const { moment } = ended;
    ended.note('after');
    expect(['before', 'after', 'never'].map((stack) => ended.since(moment, stack))).toEqual([false, true, false]);
  });

  test('of stacks that come and go for ever only the latest are remembered; the others may have ended, if it is asked from long ago', () => {
    const early = ended.moment;
    for (let index = 0; index < 10_000; index++) ended.note(`stack-${index}`);
    expect(Object.values(ended).find((value) => value instanceof Map)?.size).toBe(4096);
    expect(ended.since(early, 'stack-0')).toBe(true);
    expect(ended.since(ended.moment, 'stack-0')).toBe(false);
    expect(ended.since(ended.moment - 1, 'stack-9999')).toBe(true);
  });
});
