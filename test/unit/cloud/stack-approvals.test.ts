import type { MaintenanceWindow } from '../../../crds';
import { StackApprovals, type ApprovalPass } from '../../../operator/cloud/plan/stack-approvals';
import { Retirements } from '../../../operator/cloud/plan/retirements';
import { StackFactsOf, type Known } from '../../../operator/cloud/stack/stack-facts';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import { planStack } from '../../../operator/cloud/stack/stack-plan';
import type { Takeovers } from '../../../operator/cloud/stack/takeovers';
import type { Plan } from '../../../operator/updates/plan';
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

describe('what would replace a load balancer that is taken over', () => {
  const object = {
    kind: 'CloudLoadBalancer',
    metadata: { uid: 'u', name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { provider: 'p' },
  } as unknown as Member;
  const input = { uid: 'u', name: 'web' };

  /** The pass that takes it over, alone in its stack. */
  async function takeOver(replace: 'Never' | 'Allow', op: string) {
    const kind = { inputOf: () => input, claims: () => [], problems: () => [], updatePolicy: () => ({ approval: 'Auto', replace }) };
    const cloud = { name: 'p', spec: { retireAfter: '5m' } };
    const facts = new StackFactsOf<Member>(
      {
        kind,
        registry: { observes: () => false, pauseOf: () => undefined, deletionPolicyOf: () => undefined },
        record: { released: () => new Set(), leftover: () => undefined },
        clock: { now: () => NOON },
      } as unknown as ConstructorParameters<typeof StackFactsOf<Member>>[0],
      { serving: () => false },
      { of: () => undefined },
      new Retirements({ now: () => NOON, monotonic: () => 0 }),
    );
    const takeovers: Takeovers = { taken: new Map([['u', { from: 'somebody', resources: [] }]]), refused: new Map() };
    const whereabouts = { origins: new Map(), elsewhere: new Set<string>(), departing: new Set<string>(), abandoned: false };
    const known = { cloud, state: undefined, takeovers } as unknown as Known;
    const plan = planStack(facts.of('s', [object], known, { ...whereabouts, wide: { leading: true } }));
    const operations = [{ op, type: 'x:index:LoadBalancer', name: 'web', urn: 'u' }];
    const preview = { hash: 'h', counts: { create: 0, update: 0, replace: 0, delete: 0, same: 0 }, operations } as unknown as Plan;
    const approvals = new StackApprovals<Member>({
      ...{ kind: kind as unknown as StackKind<Member>, updates: { preview: () => Promise.resolve(preview) } as unknown as Updates },
      ...{ events: { event: () => undefined }, guard: { problem: () => Promise.resolve(undefined) } },
      ...{ again: () => undefined, clock: { now: () => NOON } },
    });
    const update = { stack: 's', project: 'p', providerName: 'p', inputs: {}, adopts: true } as unknown as StackUpdate;
    const { run, waiting } = await approvals.open({
      ...{ stack: 's', plan, cloud, drifted: false, serving: () => false },
      ...{ hooksOf: () => ({}), updateOf: () => update, givingUp: () => undefined },
    } as unknown as ApprovalPass<Member>);
    return { run, why: waiting[0]?.reason };
  }

  test('waits for approval', async () => {
    expect(await takeOver('Never', 'replace')).toEqual({
      run: false,
      why: 'it is taken over from others, and by what the cloud has, the update replaces LoadBalancer web, and spec.updatePolicy.replace is Never',
    });
  });
  test('is made where the spec allows it; what replaces nothing always', async () => {
    expect(await takeOver('Allow', 'replace')).toEqual({ run: true, why: undefined });
    expect(await takeOver('Never', 'update')).toEqual({ run: true, why: undefined });
  });
});
