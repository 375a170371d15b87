import { leverOf } from '../../../operator/cloud/levers';
import { stateOf, type Judged } from '../../../operator/server/object-state';

const MADE = '2026-01-01T00:00:00Z';
const at = (minute: number): string => new Date(Date.parse(MADE) + minute * 60_000).toISOString();

/** Conditions as `Type=Status/Reason@minute`, apart by spaces. */
function object(text: string, { kind = 'CloudLoadBalancer', deleted = false } = {}): Judged {
  const conditions = text.split(' ').flatMap((word) => {
    const [, type = '', status = '', reason, minute] = /^(.+)=(\w+)\/(\w+)@(\d+)$/.exec(word) ?? [];
    return type === '' ? [] : [{ type, status, reason, lastTransitionTime: at(Number(minute)) }];
  });
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: MADE, ...(deleted && { deletionTimestamp: at(9) }) };
  return { apiVersion: 'v1', kind, metadata, status: { conditions } };
}

/** As `State/Reason`, with the minute since when. */
function said(judged: Judged): string | undefined {
  const found = stateOf(judged);
  if (found === undefined) return undefined;
  const { state, reason, unsettledSince: since } = found;
  return `${state}/${reason}${since === undefined ? '' : `@${(since - Date.parse(MADE)) / 60_000}`}`;
}

test.each([
  ['as the spec asks', 'Ready=True/Ready@3', 'Ready/Ready'],
  ['without targets it is what it can be', 'Ready=True/NoTargets@3', 'Ready/NoTargets'],
  ['nobody has looked at it', '', 'Reconciling/Queued@0'],
  [
    'an update fails again and again: the time is that of Ready, which stays',
    'Ready=False/Conflict@3 Reconciling=True/Conflict@8',
    'Reconciling/Conflict@3',
  ],
  ['Stalled from the start', 'Ready=False/Invalid@1 Stalled=True/Invalid@5', 'Stalled/Invalid@1'],
  ['the last good version serves, and the change does not get through', 'Ready=True/Invalid@1 Stalled=True/Invalid@5', 'Stalled/Invalid@5'],
  ['… nor will it soon', 'Ready=True/Updating@1 Reconciling=True/Updating@5', 'Reconciling/Updating@5'],
  ['what was a failure is none any more', 'Ready=True/Ready@6 Stalled=False/Invalid@6', 'Ready/Ready'],
  ['it waits for approval', 'Ready=False/AwaitingApproval@1 Reconciling=True/AwaitingApproval@1', 'Reconciling/AwaitingApproval'],
  [
    'another one of its stack waits for approval',
    'Ready=False/StackAwaitingApproval@1 Reconciling=True/StackAwaitingApproval@1',
    'Reconciling/StackAwaitingApproval',
  ],
  ['another one of its stack can’t be tried', 'Ready=False/StackHeld@1 Reconciling=True/StackHeld@1', 'Reconciling/StackHeld@1'],
  ['a lever whose value nobody knows is a mistake', 'Ready=True/Paused@1 Stalled=True/Paused@4', 'Stalled/Paused@4'],
])('%s', (_, conditions, expected) => {
  expect(said(object(conditions))).toBe(expected);
});

test('the time that the schema gives to what nobody has looked at is not meant', () => {
  const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'Queued', lastTransitionTime: '1970-01-01T00:00:00Z' }];
  expect(said({ ...object(''), status: { conditions } })).toBe('Reconciling/Queued@0');
});

test('what is being deleted is counted, and its age is that of the deletion', () => {
  expect(said(object('Ready=False/Deleting@1 Reconciling=True/Deleting@1', { deleted: true }))).toBe('Reconciling/Deleting');
});

test('a Service is ours when we have said something of it', () => {
  const service = { kind: 'Service' };
  expect(said(object('', service))).toBeUndefined();
  expect(said(object('Ready=False/Other@1', service))).toBeUndefined();
  expect(said(object('cloud-operator.dev/Ready=True/Ready@1', service))).toBe('Ready/Ready');
  const left = 'cloud-operator.dev/Ready=False/LeftBehind@1 cloud-operator.dev/Stalled=True/LeftBehind@2';
  expect(said(object(left, service))).toBe('Stalled/LeftBehind@1');
});

test('what a person has set by a lever is meant to wait', () => {
  const leading = { leading: true };
  const levers = [
    { ...leading, frozen: 'aws' },
    { ...leading, observed: 'aws' },
    { ...leading, pause: 'All' },
    { ...leading, pause: 'Updates' },
  ].map((one) => leverOf(one)?.reason ?? '');
  expect(levers.map((reason) => said(object(`Ready=False/${reason}@1 Reconciling=True/${reason}@1`)))).toEqual(
    levers.map((reason) => `Reconciling/${reason}`),
  );
});
