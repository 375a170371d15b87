import { conflictsOf, type Claimant } from '../../../operator/cloud/stack/port-conflicts';

const member = (key: string, fields: Partial<Claimant> = {}): Claimant => ({
  uid: `uid-${key}`,
  key,
  createdAt: '2026-01-01T00:00:00Z',
  held: [],
  ...fields,
});
const found = (...claimants: Claimant[]) =>
  Object.fromEntries([...conflictsOf(claimants)].map(([uid, { claim, incumbent }]) => [uid, `${claim} ${incumbent}`]));

test('who has the port keeps it, though it is younger', () => {
  const old = member('a', { createdAt: '2025-01-01T00:00:00Z', wanted: ['80'] });
  expect(found(old, member('b', { held: ['80'], wanted: ['80'] }))).toEqual({ 'uid-a': '80 b' });
});

test('a port that nobody has goes to the older object, then to the first by name', () => {
  const younger = member('a', { createdAt: '2026-01-02T00:00:00Z', wanted: ['80'] });
  expect(found(younger, member('b', { wanted: ['80'] }))).toEqual({ 'uid-a': '80 b' });
  expect(found(member('c', { wanted: ['80'] }), member('b', { wanted: ['80'] }))).toEqual({ 'uid-c': '80 b' });
});

test('a port is free when its holder has left it, not while that one only wants to', () => {
  const waiting = member('b', { wanted: ['80'] });
  expect(found(member('a', { held: ['80'], wanted: ['81'] }), waiting)).toEqual({ 'uid-b': '80 a' });
  expect(found(member('a', { held: ['81'], wanted: ['81'] }), waiting)).toEqual({});
});

test('who can’t be tried itself takes nothing but what it has', () => {
  expect(found(member('a'), member('b', { wanted: ['80'] }))).toEqual({});
  expect(found(member('a', { held: ['80'] }), member('b', { wanted: ['80'] }))).toEqual({ 'uid-b': '80 a' });
});

test('who must wait for one port does not take the others', () => {
  const blocked = member('b', { wanted: ['80', '443'] });
  expect(found(member('a', { held: ['80'], wanted: ['80'] }), blocked, member('c', { wanted: ['443'] }))).toEqual({ 'uid-b': '80 a' });
});

describe('what some have together', () => {
  const address = (by: string): Claimant['held'] => [{ claim: 'address 1', by }];

  test('they have; one for whom that is another thing waits for one of these', () => {
    const both = ['a', 'b'].map((key) => member(key, { held: address('one'), wanted: address('one') }));
    expect(found(...both, member('c', { wanted: address('one') }))).toEqual({});
    expect(found(...both, member('c', { wanted: address('other') }))).toEqual({ 'uid-c': 'address 1 a' });
  });

  test('whose alone it is keeps nobody but others from it', () => {
    expect(found(member('a', { held: address('one'), wanted: address('other') }))).toEqual({});
    expect(found(member('a', { held: address('one') }), member('b', { wanted: address('other') }))).toEqual({ 'uid-b': 'address 1 a' });
  });

  test('of what nobody has, the oldest says with whom', () => {
    const young = member('b', { createdAt: '2026-01-02T00:00:00Z', wanted: address('other') });
    expect(found(young, member('a', { wanted: address('one') }), member('c', { wanted: address('one') }))).toEqual({
      'uid-b': 'address 1 a',
    });
  });
});
