import { departedFrom, isNeverMade, madeBy, newRecord } from '../../../operator/updates/state/stack-record';

const fresh = newRecord({ stack: 's', project: 'p', providerKind: 'local', programVersion: '1', clusterID: 'c', holder: 'h' });
const by = { inputs: {}, inputsHash: 'hash', programVersion: '1' };

describe('whether an update of a stack has ever succeeded', () => {
  test.each([
    ['none has, where its first one was cut off', { ...fresh, open: true }, true],
    ['one has', madeBy(fresh, by), false],
    ['one has, and the cloud differs since', { ...madeBy(fresh, by), inputsHash: '' }, false],
    ['nobody knows of what was found in the cloud', { ...fresh, refound: true as const }, false],
  ])('%s', (_, record, expected) => {
    expect(isNeverMade(record)).toBe(expected);
  });

  test('a success makes known what was found', () => {
    expect(madeBy({ ...fresh, refound: true }, by)).not.toHaveProperty('refound');
  });
});

test('a success makes nothing of what was begun, and keeps how many approved ones there were', () => {
  expect(madeBy({ ...fresh, open: true, begun: 'hash', underway: 'hash', approvals: 2 }, by)).toEqual(
    madeBy({ ...fresh, open: true, approvals: 2 }, by),
  );
  expect(departedFrom({ ...fresh, open: true, begun: 'hash', underway: 'hash' })).not.toHaveProperty('begun');
});

test('an update that was not what was approved does not go on by itself; how often that was is forgotten with the next success', () => {
  const once = departedFrom({ ...fresh, open: true, underway: 'hash' });
  expect(once).toEqual({ ...fresh, open: true, departures: 1 });
  expect(departedFrom(once)).toMatchObject({ departures: 2 });
  expect(madeBy(once, by)).not.toHaveProperty('departures');
});
