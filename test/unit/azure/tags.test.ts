import {
  bookkeeping,
  foreignTags,
  isLeftToUsers,
  leftToUsers,
  mergedTags,
  overruledKeys,
  ownTags,
  TAG,
  twinKeys,
  usersOf,
  withKeys,
  withUsers,
} from '../../../providers/azure/tags';

const MADE = withKeys({ 'k8s-azure-service': 'shop/owner', [TAG.clusterID]: 'c' });
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `a-team/a-service-with-a-long-name-${index}`);

describe('users of a public address', () => {
  test('stand behind the owner in upstream’s mark, which is the owner’s alone in what the program has set', () => {
    const used = withUsers(MADE, ['shop/a', 'shop/b']);
    expect(used['k8s-azure-service']).toBe('shop/owner,shop/a,shop/b');
    expect(usersOf(used)).toEqual(['shop/a', 'shop/b']);
    expect(ownTags(used)).toEqual(ownTags(MADE));
    expect(withUsers(used, ['shop/b'])['k8s-azure-service']).toBe('shop/owner,shop/b');
    expect(withUsers(used, [])).toEqual(MADE);
  });

  test('are as many as several tags hold; upstream’s mark then has those that fit, by whole names', () => {
    const users = many(40);
    const used = withUsers(MADE, users);
    expect(usersOf(used)).toEqual(users);
    expect(Object.values(used).every((value) => value.length <= 256)).toBe(true);
    expect(used['k8s-azure-service']).toMatch(/^shop\/owner,a-team\/.*-[0-9]+$/);
    expect([ownTags(used), foreignTags(used)]).toEqual([ownTags(MADE), {}]);
    expect(usersOf(withUsers(used, users.slice(0, 2)))).toEqual(users.slice(0, 2));
    expect(() => withUsers(MADE, many(400))).toThrow(/20 tags/);
  });

  test('keep it when its owner goes', () => {
    const left = leftToUsers(withUsers(MADE, ['shop/a', 'shop/b']));
    expect(isLeftToUsers(left)).toBe(true);
    expect(left['k8s-azure-service']).toBe('shop/a,shop/b');
    expect(withUsers(left, ['shop/b'])['k8s-azure-service']).toBe('shop/b');
  });
});

describe('the keys that a program has set', () => {
  const keys = (count: number, length: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index).padEnd(length, 'k'), 'x']));
  const theirs = { costCenter: '42' };

  test.each([
    ['none', {}, 1],
    ['few', keys(3, 10), 1],
    ['as many as a value holds', keys(2, 127), 1],
    ['more', keys(2, 128), 2],
    ['many', keys(20, 60), 5],
  ])('stand in as many tags as they need: %s', (_name, own, count) => {
    const tags = withKeys({ ...own, [TAG.stack]: 's' });
    expect(Object.keys(tags).filter((key) => key.startsWith(TAG.keys))).toHaveLength(count);
    expect(Object.values(tags).every((value) => value.length <= 256)).toBe(true);
    expect(ownTags({ ...tags, ...theirs })).toEqual({ ...own, [TAG.stack]: 's' });
    expect(foreignTags({ ...tags, ...theirs })).toEqual(theirs);
    expect(bookkeeping(tags)).toEqual({});
  });

  test.each([
    ['a key is longer than a value', keys(1, 257)],
    ['a resource has no room for them among its tags', keys(45, 60)],
  ])('are not listed where %s: all count as ours', (_name, own) => {
    expect(withKeys(own)).toEqual(own);
    expect(ownTags({ ...own, ...theirs })).toEqual({ ...own, ...theirs });
  });

  test('are none where the list is empty, whatever is left of a longer one', () => {
    const tags = { ...withKeys(keys(20, 60)), [TAG.keys]: '' };
    expect([ownTags(tags), Object.keys(foreignTags(tags)).length]).toEqual([{}, 20]);
  });
});

describe('keys have no letter case in Azure', () => {
  test('of several sources the last one holds, and ours before all', () => {
    const asked = [{ team: 'net', cost: '1', Mine: 'x' }, undefined, { Team: 'web' }];
    expect(mergedTags({ mine: 'y' }, ...asked)).toEqual({ team: 'web', cost: '1', mine: 'y' });
  });

  test('what Azure writes in another one is ours as it was, and nobody else’s', () => {
    const { team, ...rest } = withKeys({ team: 'net', [TAG.stack]: 's' });
    const found = { ...rest, Team: team!, Theirs: 'x' };
    expect(ownTags(found)).toEqual({ team: 'net', [TAG.stack]: 's' });
    expect(foreignTags(found)).toEqual({ Theirs: 'x' });
  });

  test('two that are one are named, and what has no effect in whatever letter case', () => {
    expect(twinKeys({ team: 'net', Team: 'web', cost: '1' })).toEqual([
      { key: 'Team', message: expect.stringContaining('the keys team and Team are one for Azure') as string },
    ]);
    expect(overruledKeys({ 'K8s-Azure-Service': 'mine' }).map(({ key }) => key)).toEqual(['K8s-Azure-Service']);
  });
});
