import type { MaintenanceWindow } from '../../../crds';
import { StackApprovals, type ApprovalPass } from '../../../operator/cloud/plan/stack-approvals';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import type { StackUpdate, Updates } from '../../../operator/updates/update';

const NOON = Date.UTC(2026, 10, 28, 12);
const HOUR = 3_600_000;
const at = (schedule: string): MaintenanceWindow => ({ schedule, duration: '1h', timeZone: 'UTC' });

interface Pass {
  changed?: boolean;
  drifted?: boolean;
  /** Its spec can't be tried. */
  stalled?: boolean;
  now?: number;
}

/** One member with windows, whose change would reach the cloud. @returns what becomes of it, and when the stack is looked at again */
async function open(windows: MaintenanceWindow[] | undefined, pass: Pass = {}) {
  const { changed = true, drifted = false, stalled = false, now = NOON } = pass;
  const object = {
    kind: 'CloudLoadBalancer',
    metadata: { uid: 'u', name: 'web', namespace: 'shop' },
    spec: { provider: 'p', maintenanceWindows: windows },
  };
  const accepted = { uid: 'u', name: 'web', port: 80 };
  const candidate = { ...accepted, port: changed ? 81 : 80 };
  const wants = stalled ? { verdict: { state: 'Stalled', reason: 'Invalid', message: 'wrong' } } : { candidate };
  const again: number[] = [];
  const approvals = new StackApprovals<Member>({
    ...{ kind: {} as StackKind<Member>, updates: {} as Updates, events: { event: () => undefined } },
    ...{ guard: { problem: () => Promise.resolve(undefined) }, again: (_stack, ms) => void again.push(ms), clock: { now: () => now } },
  });
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
  const update = { stack: 's', project: 'p', providerName: 'p', inputs: {} } as unknown as StackUpdate;
  const { run, plan } = await approvals.open({
    ...{
      stack: 's',
      cloud: { name: 'p', spec: {} },
      hooks: {},
      drifted,
      serving: () => true,
      updateOf: () => update,
      givingUp: () => undefined,
    },
    plan: { kind: 'Update', engine: true, conflicts: false, ...none, parts: [{ object, accepted, ...wants }] },
    state: { open: false, inputsHash: 'unused', accepted: {} },
  } as unknown as ApprovalPass<Member>);
  return { run, reason: plan.parts[0]?.verdict?.reason, again };
}

test('while no window is open nothing runs, and the stack is looked at again when the next one opens', async () => {
  expect(await open([at('30 12 * * *')])).toEqual({ run: false, reason: 'AwaitingWindow', again: [HOUR / 2] });
});

test('one that is far away is not waited for in one go: wall clocks are set', async () => {
  expect(await open([at('0 2 * * *')])).toEqual({ run: false, reason: 'AwaitingWindow', again: [HOUR] });
});

test.each<[string, MaintenanceWindow[] | undefined, number]>([
  ['no windows', undefined, NOON],
  ['one is open', [at('0 2 * * *'), at('0 12 * * *')], NOON],
  ['it opens now', [at('30 12 * * *')], NOON + HOUR / 2],
])('%s: it runs', async (_what, windows, now) => {
  expect(await open(windows, { now })).toEqual({ run: true, reason: undefined, again: [] });
});

test('what differs in the cloud waits too', async () => {
  expect(await open([at('30 12 * * *')], { changed: false, drifted: true })).toMatchObject({ run: false, reason: 'AwaitingWindow' });
});

test('so it does where the spec can’t be tried', async () => {
  const stalled = await open([at('30 12 * * *')], { stalled: true, drifted: true });
  expect(stalled).toEqual({ run: false, reason: 'Invalid', again: [HOUR / 2] });
  expect(await open([at('0 12 * * *')], { stalled: true, drifted: true })).toMatchObject({ run: true });
});

test('windows that never open are not open', async () => {
  const never = { ...at('0 12 * * *'), timeZone: 'Nowhere/At_All' };
  expect(await open([never], { stalled: true, drifted: true })).toEqual({ run: false, reason: 'Invalid', again: [] });
});
