import { conditionsOf, verdictOfError, type Verdict } from '../../../operator/cloud/conditions';
import { OperatorError } from '../../../operator/base/errors';
import { kstatusOf } from '../../harness/kstatus';

const T0 = '2026-01-01T00:00:00.000Z';
const T1 = '2026-01-01T00:01:00.000Z';

describe('conditions follow kstatus', () => {
  const table: { name: string; verdict: Verdict; types: string[]; kstatus: string }[] = [
    { name: 'ready', verdict: { state: 'Ready', message: 'serving' }, types: ['Ready=True'], kstatus: 'Current' },
    {
      name: 'first update',
      verdict: { state: 'Reconciling', reason: 'Updating', message: 'm' },
      types: ['Ready=False', 'Reconciling=True'],
      kstatus: 'InProgress',
    },
    {
      name: 'update of a serving load balancer',
      verdict: { state: 'Reconciling', reason: 'Updating', message: 'm', serving: true },
      types: ['Ready=True', 'Reconciling=True'],
      kstatus: 'InProgress',
    },
    {
      name: 'hopeless',
      verdict: { state: 'Stalled', reason: 'Invalid', message: 'm' },
      types: ['Ready=False', 'Stalled=True'],
      kstatus: 'Failed',
    },
  ];
  test.each(table)('$name → $kstatus', ({ verdict, types, kstatus }) => {
    const conditions = conditionsOf(verdict, 3, [], T0);
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual(types);
    expect(conditions.every(({ observedGeneration }) => observedGeneration === 3)).toBe(true);
    expect(kstatusOf({ metadata: { generation: 3 }, status: { observedGeneration: 3, conditions } })).toBe(kstatus);
  });

  test('never Reconciling and Stalled together, and the abnormal ones go when things are normal', () => {
    const stalled = conditionsOf({ state: 'Stalled', reason: 'Invalid', message: 'm' }, 1, [], T0);
    expect(conditionsOf({ state: 'Ready', message: 'ok' }, 2, stalled, T1).map(({ type }) => type)).toEqual(['Ready']);
  });

  test('lastTransitionTime moves with the status only', () => {
    const before = conditionsOf({ state: 'Ready', message: 'a' }, 1, [], T0);
    expect(conditionsOf({ state: 'Ready', message: 'b' }, 2, before, T1)[0]?.lastTransitionTime).toBe(T0);
    expect(conditionsOf({ state: 'Stalled', reason: 'r', message: 'b' }, 2, before, T1)[0]?.lastTransitionTime).toBe(T1);
  });

  test('an object that nobody has seen yet is in progress', () => {
    expect(kstatusOf({ metadata: { generation: 1 }, status: { observedGeneration: -1 } })).toBe('InProgress');
  });
});

describe('verdictOfError', () => {
  test.each([
    ['Invalid', 'Stalled', 'Invalid'],
    ['Credentials', 'Stalled', 'CredentialsRefused'],
    ['Quota', 'Stalled', 'QuotaExceeded'],
    ['Taken', 'Stalled', 'Taken'],
    ['Transient', 'Reconciling', 'CloudUnavailable'],
    ['Throttled', 'Reconciling', 'Throttled'],
    ['Conflict', 'Reconciling', 'Conflict'],
    ['Unknown', 'Reconciling', 'UpdateFailed'],
  ] as const)('%s → %s %s', (code, state, reason) => {
    expect(verdictOfError(new OperatorError(code, 'what happened'), false)).toMatchObject({ state, reason });
  });

  test('names cause, field, remedy and what still works', () => {
    const error = new OperatorError('Invalid', 'address 9.9.9.9 is outside the pool', {
      field: 'spec.addresses[0]',
      remedy: 'Take one of 10.201.0.0/24.',
    });
    const verdict = verdictOfError(error, true);
    expect(verdict.message).toBe(
      'address 9.9.9.9 is outside the pool. (spec.addresses[0]) Take one of 10.201.0.0/24. The last good version keeps serving.',
    );
  });

  test('says when it is tried next, and is Stalled when that has gone on for too long', () => {
    const error = new OperatorError('Transient', 'no route to host');
    const nextTryAt = Date.UTC(2026, 0, 1, 10, 0, 5, 250);
    expect(verdictOfError(error, false, { nextTryAt, exhausted: false })).toEqual({
      state: 'Reconciling',
      reason: 'CloudUnavailable',
      message: 'no route to host. Next try at 2026-01-01T10:00:05Z.',
    });
    expect(verdictOfError(error, true, { nextTryAt, exhausted: true })).toMatchObject({ state: 'Stalled', reason: 'RetriesExhausted' });
  });
});
