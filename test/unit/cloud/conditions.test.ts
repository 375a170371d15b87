import { conditionsOf, verdictOfError, verdictWithoutState, type Verdict } from '../../../operator/cloud/conditions';
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

describe('while the state can not be read', () => {
  const lost = new OperatorError('Invalid', 'the data key is gone', { reason: 'WrongKey', remedy: 'restore it' });
  const statusOf = (verdict: Verdict, observedGeneration = 2) => ({ observedGeneration, conditions: conditionsOf(verdict, 2, [], T0) });
  const serving: Verdict = { state: 'Ready', message: 'serving at 10.0.0.1', reason: 'NoTargets', drifted: '1 difference' };

  test('what was as its spec asks stays so, and the state is told beside it, again and again in the same words', () => {
    const before = statusOf(serving);
    const verdict = verdictWithoutState({ metadata: meta({}), status: before }, lost);
    const now = conditionsOf(verdict ?? serving, 2, before.conditions, T1);
    expect(now.slice(0, 2)).toEqual(before.conditions);
    expect(now[2]).toMatchObject({
      ...{ type: 'StateUnavailable', status: 'True', reason: 'WrongKey' },
      message: 'the data key is gone; restore it. What is there goes on as it is; changes wait until the state can be read.',
    });
    const status = { observedGeneration: 2, conditions: now };
    expect(kstatusOf({ metadata: { generation: 2 }, status })).toBe('Current');
    expect(verdictWithoutState({ metadata: meta({}), status }, lost)).toEqual(verdict);
  });

  test.each<[string, Parameters<typeof verdictWithoutState>[0]]>([
    ['a changed one', { metadata: meta({ generation: 3 }), status: statusOf(serving) }],
    ['one that goes', { metadata: meta({ deletionTimestamp: T0 }), status: statusOf(serving) }],
    ['one that was never looked at', { metadata: meta({}) }],
    ['one that waits', { metadata: meta({}), status: statusOf({ state: 'Reconciling', reason: 'Updating', message: 'm', serving: true }) }],
    [
      'one that needs a person',
      { metadata: meta({}), status: statusOf({ state: 'Stalled', reason: 'Invalid', message: 'm', serving: true }) },
    ],
  ])('%s waits', (_what, object) => expect(verdictWithoutState(object, lost)).toBeUndefined());
});

function meta(more: object): { name: string; uid: string; creationTimestamp: string; resourceVersion: string; generation: number } {
  return { name: 'web', uid: 'u', creationTimestamp: T0, resourceVersion: '1', generation: 2, ...more };
}
