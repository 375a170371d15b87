import type { MaintenanceWindow } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';
import { StackApprovals, type ApprovalPass } from '../../../operator/cloud/plan/stack-approvals';
import { Retirements } from '../../../operator/cloud/plan/retirements';
import { hashWithoutTargets } from '../../../operator/cloud/stack/hash-without-targets';
import { RouteStacks } from '../../../operator/cloud/stack/route-stacks';
import { StackFactsOf, type Known } from '../../../operator/cloud/stack/stack-facts';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';
import { planStack } from '../../../operator/cloud/stack/stack-plan';
import type { Takeovers } from '../../../operator/cloud/stack/takeovers';
import { Accounts } from '../../../operator/updates/limits/accounts';
import type { Plan } from '../../../operator/updates/plan';
import type { StackUpdate, Updates } from '../../../operator/updates/update';
import { updateHash } from '../../../operator/updates/update-hash';
import { FakeClock } from '../kube/fake-clock';

const NOON = Date.UTC(2026, 10, 28, 12);
const HOUR = 3_600_000;
const REGISTRY = { accounts: new Accounts(new FakeClock()) };
const ROUTES = new RouteStacks({ get: () => undefined }, new FakeClock());
const at = (schedule: string): MaintenanceWindow => ({ schedule, duration: '1h', timeZone: 'UTC' });

interface Pass {
  changed?: boolean;
  drifted?: boolean;
  /** Its spec can't be tried. */
  stalled?: boolean;
  /** A person approves each change, and why this one can't be planned. */
  unplanned?: OperatorError;
  /** Another member of its stack, whose changes nobody need approve. */
  beside?: boolean;
  /** Nothing of it is in the cloud yet. */
  new?: 'Route' | 'LoadBalancer';
  /** Windows of the CloudProvider. */
  ofCloud?: MaintenanceWindow[];
  now?: number;
}

const newAtOnceOf = (pass: Pass): boolean => ROUTES.newAtOnce && pass.new !== 'LoadBalancer';
const before = (pass: Pass, accepted: object): object => (pass.new === undefined ? { accepted } : {});

/** One member with windows, whose change would reach the cloud. @returns what becomes of it, and when the stack is looked at again */
async function open(windows: MaintenanceWindow[] | undefined, pass: Pass = {}) {
  const { changed = true, drifted = false, stalled = false, unplanned, beside = false, now = NOON } = pass;
  const kind = {
    newAtOnce: newAtOnceOf(pass),
    updatePolicy: ({ metadata }: Member) =>
      unplanned !== undefined && metadata.uid === 'u' ? { approval: 'Manual', replace: 'Never' } : undefined,
    attribute: ({ resource }: OperatorError) => (resource === undefined ? [] : ['u']),
  };
  const preview = (): Promise<Plan> => Promise.reject(unplanned ?? new OperatorError('Unknown', 'nothing asks for a plan'));
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
    ...{ kind: kind as unknown as StackKind<Member>, updates: { preview } as unknown as Updates, events: { event: () => undefined } },
    ...{ guard: { problem: () => Promise.resolve(undefined) }, registry: REGISTRY, clock: { now: () => now } },
    again: (_stack, ms) => void again.push(ms),
  });
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
  const update = { stack: 's', project: 'p', providerName: 'p', inputs: {} } as unknown as StackUpdate;
  const other = { object: { ...object, metadata: { ...object.metadata, uid: 'other' } }, candidate: { uid: 'other' } };
  const { run, plan } = await approvals.open({
    ...{
      stack: 's',
      cloud: { name: 'p', spec: { maintenanceWindows: pass.ofCloud } },
      hooks: {},
      drifted,
      serving: () => true,
      hooksOf: () => ({}),
      updateOf: () => update,
      givingUp: () => undefined,
    },
    plan: {
      kind: 'Update',
      engine: true,
      conflicts: false,
      ...none,
      parts: [{ object, ...before(pass, accepted), ...wants }, ...(beside ? [other] : [])],
    },
    state: { open: false, inputsHash: 'unused', accepted: {} },
  } as unknown as ApprovalPass<Member>);
  return { run, reason: plan.parts[0]?.verdict?.reason, again };
}

test('while no window is open nothing runs, and the stack is looked at again when the next one opens', async () => {
  expect(await open([at('30 12 * * *')])).toEqual({ run: false, reason: 'AwaitingWindow', again: [HOUR / 2] });
});

test.each<[string, Pass & { own?: MaintenanceWindow[] }, boolean]>([
  ['a new route, while none of its CloudProvider is', { new: 'Route', ofCloud: [at('30 12 * * *')] }, true],
  ['a new route, while none of its own is', { new: 'Route', own: [at('30 12 * * *')] }, false],
  ['a route that is changed', { ofCloud: [at('30 12 * * *')] }, false],
  ['a new load balancer', { new: 'LoadBalancer', ofCloud: [at('30 12 * * *')] }, false],
])('while a window must be open: %s', async (_what, { own, ...pass }, run) => {
  const waits = { run: false, reason: 'AwaitingWindow', again: [HOUR / 2] };
  expect(await open(own, pass)).toEqual(run ? { run, reason: undefined, again: [] } : waits);
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

test('what can’t be planned because somebody else has it is asked for again: nobody tells when they give it up', async () => {
  const unplanned = new OperatorError('Taken', 'it is on instance i-0a');
  expect(await open(undefined, { unplanned })).toEqual({ run: false, reason: 'Taken', again: [60_000] });
});

test('so is what can’t be planned because of something else in the cloud, less often', async () => {
  const unplanned = new OperatorError('Invalid', 'no suitable subnet');
  expect(await open(undefined, { unplanned })).toEqual({ run: false, reason: 'Invalid', again: [300_000] });
});

describe('what can’t be planned because a permission is missing for it', () => {
  const unplanned = new OperatorError('Credentials', 'no role on this address', { resource: 'urn' });

  test('holds up nobody else of its stack', async () => {
    const alone = { run: true, reason: 'CredentialsRefused', again: [300_000] };
    expect(await open(undefined, { unplanned, beside: true })).toEqual(alone);
  });

  test('is a failure of all where it is the only one, or the cloud refuses the credentials as such', async () => {
    await expect(open(undefined, { unplanned })).rejects.toBe(unplanned);
    const whole = new OperatorError('Credentials', 'the key has expired');
    await expect(open(undefined, { unplanned: whole, beside: true })).rejects.toBe(whole);
  });
});

describe('Nodes come and go in a cloud that says them in the stack’s own inputs', () => {
  interface Following {
    drifted?: boolean;
    open?: boolean;
    change?: boolean;
    /** What the open update makes; absent = an older state, which does not say. */
    begun?: object;
    manual?: boolean;
    /** A lever keeps all changes of all members back. */
    paused?: boolean;
    /** There is no room for what its spec asks for, which its rendering finds out. */
    tooMuch?: boolean;
  }

  /** Two members, of which the first waits. @param inputs rendered before, and now */
  async function follow(before: object, now: object, pass: Following = {}) {
    const { drifted = false, change = false, begun, manual = false, paused = false, tooMuch } = pass;
    const parts = ['web', 'mail'].map((name, index) => {
      const maintenanceWindows = index === 0 && !manual ? [at('30 12 * * *')] : undefined;
      const object = { metadata: { uid: name, name, namespace: 'shop' }, spec: { provider: 'p', maintenanceWindows } };
      const accepted = { uid: name, name, port: 80 };
      const asked = { candidate: change && index === 0 ? { ...accepted, port: 81 } : accepted };
      return { object, accepted, ...(paused ? { held: true } : asked) };
    });
    const updateOf = (inputs: object): StackUpdate => ({ stack: 's', project: 'p', providerName: 'p', inputs }) as unknown as StackUpdate;
    const withoutTargets = ({ nodes: _nodes, ...rest }: Record<string, unknown>): object => rest;
    const updatePolicy = ({ metadata }: Member): object | undefined =>
      manual && metadata.uid === 'web' ? { approval: 'Manual', replace: 'Never' } : undefined;
    const of = (inputs: readonly { port: number }[], rendered: object): object => ({
      ...rendered,
      members: inputs.map(({ port }) => port),
    });
    const made = of([{ port: 80 }, { port: 80 }], before);
    const approvals = new StackApprovals<Member>({
      ...{
        kind: { withoutTargets, updatePolicy } as unknown as StackKind<Member>,
        updates: { preview: () => Promise.resolve({ hash: 'h', counts: {}, operations: [{ op: 'update' }] }) } as unknown as Updates,
        events: { event: () => undefined },
        registry: REGISTRY,
      },
      ...{ guard: { problem: () => Promise.resolve(undefined) }, again: () => undefined, clock: { now: () => NOON } },
    });
    const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
    const all = {
      ...{ stack: 's', cloud: { name: 'p', spec: {} }, drifted, serving: () => true, hooksOf: () => ({}), givingUp: () => undefined },
      updateOf: (inputs: { port: number }[]) => {
        if (tooMuch === true && inputs.some(({ port }) => port === 81)) throw new OperatorError('Quota', 'no room');
        return updateOf(of(inputs, now));
      },
      plan: { kind: 'Update', engine: !paused, conflicts: false, ...none, parts },
      state: {
        ...{ open: pass.open === true || begun !== undefined, inputsHash: updateHash(updateOf(made)), inputs: made, accepted: {} },
        ...(begun !== undefined && { begun: hashWithoutTargets(updateOf(begun), withoutTargets as (inputs: object) => JsonObject) }),
      },
    } as unknown as ApprovalPass<Member>;
    const { run, plan } = await approvals.open(all);
    return { run: run && (!paused || approvals.follows(all)), reason: plan.parts[0]?.verdict?.reason };
  }

  const [before, other] = [
    { ports: 80, nodes: ['a'] },
    { ports: 80, nodes: ['a', 'b'] },
  ];

  test('targets follow while a window is closed, also beside a change that waits for it', async () => {
    expect(await follow(before, other)).toEqual({ run: true, reason: undefined });
    expect(await follow(before, other, { change: true })).toEqual({ run: true, reason: 'AwaitingWindow' });
  });

  test('all else that an update would change waits', async () => {
    const waits = { run: false, reason: 'AwaitingWindow' };
    expect(await follow(before, { ...other, ports: 81 })).toEqual(waits);
    expect(await follow(before, other, { drifted: true })).toEqual(waits);
    expect(await follow(before, other, { open: true })).toEqual(waits);
    expect(await follow(before, before, { change: true })).toEqual(waits);
  });

  describe('in an update that was interrupted', () => {
    const [nodes, change] = [
      { ...other, members: [80, 80] },
      { ...before, members: [81, 80] },
    ];
    const [runs, waits] = [
      { run: true, reason: undefined },
      { run: false, reason: 'AwaitingWindow' },
    ];

    test('targets go on following, also where others of them come meanwhile, or the cloud is found as it has left it', async () => {
      expect(await follow(before, other, { begun: nodes })).toEqual(runs);
      expect(await follow(before, { ...other, nodes: [] }, { begun: nodes })).toEqual(runs);
      expect(await follow(before, before, { begun: nodes })).toEqual(runs);
      expect(await follow(before, other, { begun: nodes, drifted: true })).toEqual(runs);
      expect(await follow(before, other, { begun: nodes, change: true })).toEqual({ ...waits, run: true });
    });

    test('so they do where a person must approve changes', async () => {
      expect(await follow(before, other, { begun: nodes, manual: true })).toEqual(runs);
      const waitsForApproval = { run: false, reason: 'AwaitingApproval' };
      expect(await follow(before, other, { open: true, manual: true })).toEqual(waitsForApproval);
      expect(await follow(before, other, { begun: nodes, manual: true, drifted: true })).toEqual(waitsForApproval);
    });

    test('under a pause nothing but Nodes goes on', async () => {
      expect(await follow(before, other, { begun: nodes, paused: true })).toMatchObject({ run: true });
      expect(await follow(before, before, { begun: nodes, paused: true })).toMatchObject({ run: false });
      expect(await follow(before, other, { begun: nodes, paused: true, drifted: true })).toMatchObject({ run: false });
      expect(await follow(before, other, { open: true, paused: true })).toMatchObject({ run: false });
    });

    test('what can’t be made is no failure of all: the others go on', async () => {
      expect(await follow(before, other, { begun: nodes, change: true, tooMuch: true })).toEqual({ ...waits, run: true });
    });

    test('a change goes on when its window closes, and waits where it became another, or must be approved by now', async () => {
      expect(await follow(before, before, { begun: change, change: true })).toEqual(runs);
      expect(await follow(before, other, { begun: change, change: true })).toEqual(runs);
      expect(await follow(before, { ...before, ports: 81 }, { begun: change, change: true })).toEqual(waits);
      expect(await follow(before, before, { begun: change, change: true, manual: true })).toMatchObject({ reason: 'AwaitingApproval' });
    });
  });
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
      ...{ events: { event: () => undefined }, guard: { problem: () => Promise.resolve(undefined) }, registry: REGISTRY },
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

describe('other settings of the CloudProvider, or a newer program', () => {
  const WHY = 'the settings of CloudProvider p have changed';
  interface Stack {
    /** By name: the policy of each member. */
    members?: Record<string, 'Never' | 'Allow'>;
    /** Names whose annotation approves. */
    approve?: string[];
    /** A member that asks for something of its own as well. */
    changed?: string;
    /** One whose change replaces what is its own. */
    replaced?: string;
    /** One that was not made yet. */
    added?: string;
    leaving?: string;
    /** One that a lever keeps as it is. */
    paused?: string;
    op?: string;
    why?: string | undefined;
    underway?: boolean;
    /** So many approved updates became something else halfway. */
    departures?: number;
    /** It stopped halfway. */
    open?: boolean;
    /** Those of whom nothing says how they were made: no update leaves them out. */
    standing?: string[];
    /** Whose candidates the approved update that has begun was for; absent = it brings what was accepted to today. */
    begun?: string[];
    /** A Node came since. */
    nodes?: string;
    /** Members without an object, one that moves to another stack, and one that goes and leaves what it has. */
    missing?: string;
    elsewhere?: string;
    orphaned?: string;
    drifted?: boolean;
    /** It was found changed, and the operator started again since. */
    inputsHash?: string;
    /** Names whose input of before can't be made any more. */
    refused?: string[];
    /** Whom that is laid at. */
    blamed?: string[];
  }

  const isOpen = ({ open, underway, departures }: Stack): boolean => open === true || underway === true || departures !== undefined;

  async function pass(of: Stack) {
    const { members = { web: 'Never', api: 'Never' }, approve = [], op = 'replace', changed, added, leaving, paused, underway } = of;
    const { replaced, missing, elsewhere, orphaned, drifted = false, inputsHash = 'before', refused = [], blamed = [] } = of;
    const only = (name: string | undefined): string[] => (name === undefined ? [] : [name]);
    const input = (name: string) => ({ uid: name, name, namespace: 'shop' });
    const objectOf = (name: string) => ({
      kind: 'CloudLoadBalancer',
      metadata: {
        ...input(name),
        ...(approve.includes(name) && { annotations: { 'cloud-operator.dev/approve': 'h' } }),
        ...(name === orphaned && { deletionTimestamp: '2026-11-28T11:00:00Z' }),
      },
      spec: { provider: 'p', updatePolicy: { replace: members[name] ?? 'Never' } },
    });
    const parts = Object.keys(members).map((name) => ({
      object: objectOf(name),
      ...(of.standing?.includes(name) ? { standing: true } : { accepted: input(name) }),
      ...(name === paused || name === orphaned
        ? { held: true, ...(name === paused && { targets: 'Kept' }) }
        : { candidate: name === changed ? { ...input(name), port: 81 } : input(name) }),
      ...(name === replaced && { replacement: { why: 'its prefix', gap: false } }),
    }));
    const news = added === undefined ? [] : [{ object: objectOf(added), candidate: input(added) }];
    const previewed: string[] = [];
    let rendered = 0;
    const updateOf = (inputs: { name: string; port?: number }[]) => {
      rendered++;
      const made = { of: inputs.map(({ name, port = 80 }) => `${name} ${port}`).join(), nodes: of.nodes };
      return { stack: 's', inputs: made } as unknown as StackUpdate;
    };
    const begun = Object.keys(members).map((name) => ({ ...input(name), port: of.begun?.includes(name) ? 81 : 80 }));
    const updates = {
      preview: ({ inputs }: { inputs: { of: string } }) => {
        previewed.push(inputs.of);
        const isRefused = refused.some((name) => inputs.of.split(',').includes(`${name} 80`));
        if (isRefused) return Promise.reject(new OperatorError('Invalid', 'refused by the extension: no', { resource: 'urn' }));
        const operations = op === '' ? [] : [{ op, type: 'x:index:LoadBalancer', name: 'edge', urn: 'u' }];
        return Promise.resolve({ hash: 'h', counts: {}, operations });
      },
    } as unknown as Updates;
    const kind = {
      updatePolicy: ({ spec }: { spec: { updatePolicy: object } }) => spec.updatePolicy,
      attribute: () => blamed,
      withoutTargets: ({ of: wanted }: { of: string }) => ({ of: wanted }),
      lossBy: ({ op: operation }: { op: string }) => (operation === 'update' ? undefined : `${operation}s LoadBalancer edge`),
    } as unknown as StackKind<Member>;
    const approvals = new StackApprovals<Member>({
      ...{ kind, updates, events: { event: () => undefined }, guard: { problem: () => Promise.resolve(undefined) }, registry: REGISTRY },
      ...{ again: () => undefined, clock: { now: () => NOON } },
    });
    const none = { released: [], missing: only(missing).map(input), elsewhere: only(elsewhere).map(input), departing: [] };
    const all = [...Object.keys(members), ...[missing, elsewhere, leaving].flatMap(only)].map(input);
    const gated = await approvals.open({
      ...{ stack: 's', cloud: { name: 'p', spec: {} }, drifted, serving: () => true, hooksOf: () => ({}), updateOf },
      remade: () => ('why' in of ? of.why : WHY),
      givingUp: () => undefined,
      plan: {
        ...{ kind: 'Update', engine: true, conflicts: false, ...none },
        leaving: only(leaving).map(objectOf),
        parts: [...parts, ...news],
      },
      state: {
        ...{ open: isOpen(of), inputsHash, accepted: Object.fromEntries(all.map((one) => [one.uid, one])) },
        ...(of.departures !== undefined && { departures: of.departures }),
        ...(underway && { underway: hashWithoutTargets(updateOf(begun), ({ of: wanted = '' }) => ({ of: wanted })) }),
      },
    } as unknown as ApprovalPass<Member>);
    const { run, approved, replaces, waiting, plan, leaving: said } = gated;
    const asked = Object.fromEntries(plan.parts.map(({ object, verdict }) => [object.metadata.name, verdict?.reason]));
    const shown = waiting.map(({ member }) => member);
    return { run, approved, replaces, why: waiting.map(({ reason }) => reason), shown, asked, previewed, said, plan, rendered };
  }

  test('wait where they cut somebody: all who are cut are named, and asked', async () => {
    const why = `${WHY}: the update replaces LoadBalancer edge, which cuts shop/api, shop/web, and spec.updatePolicy.replace is Never`;
    expect(await pass({})).toMatchObject({
      ...{ run: false, approved: undefined, why: [why, why], previewed: ['web 80,api 80'] },
      asked: { web: 'AwaitingApproval', api: 'AwaitingApproval' },
    });
  });

  test('go on where they cut nobody, and where all have allowed it: then nothing is planned at all', async () => {
    expect(await pass({ op: 'update' })).toMatchObject({ run: true, why: [], asked: {}, previewed: ['web 80,api 80'] });
    expect(await pass({ members: { web: 'Allow', api: 'Allow' } })).toMatchObject({ run: true, why: [], previewed: [] });
  });

  test('are no matter where nothing is made otherwise', async () => {
    expect(await pass({ why: undefined, changed: 'web' })).toMatchObject({ run: true, why: [], previewed: [] });
  });

  test('are carried out when all who are asked have approved them, and nothing else is with them', async () => {
    // Whose approval is wanted still is shown first.
    expect(await pass({ approve: ['web'] })).toMatchObject({ run: false, approved: undefined, shown: ['shop/api', 'shop/web'] });
    const all = await pass({ approve: ['web', 'api'], changed: 'web' });
    expect(all).toMatchObject({ run: true, approved: 'h', asked: { web: 'Updating', api: undefined } });
    expect(all.plan.parts.map(({ candidate }) => candidate?.uid)).toEqual([undefined, 'api']);
    expect(await pass({ members: { web: 'Never', api: 'Allow' }, approve: ['web'] })).toMatchObject({ run: true, approved: 'h' });
  });

  test('hold up all that shares the update: a change, a new one, and one that goes, which say so', async () => {
    const held = await pass({ members: { web: 'Never', api: 'Allow' }, changed: 'api', added: 'new', leaving: 'old' });
    expect(held).toMatchObject({
      run: false,
      asked: { web: 'AwaitingApproval', api: 'StackAwaitingApproval', new: 'StackAwaitingApproval' },
      said: { reason: 'StackAwaitingApproval' },
    });
    expect(held.plan.parts.at(-1)?.verdict?.message).toContain('waits for approval at shop/web');
  });

  test('ask of one that a lever keeps as it is, too', async () => {
    const held = await pass({ members: { web: 'Allow', api: 'Never' }, paused: 'api' });
    expect(held).toMatchObject({ run: false, asked: { web: undefined, api: 'AwaitingApproval' } });
    // Also its targets, meanwhile.
    expect(held.plan.parts.find(({ object }) => object.metadata.name === 'api')).toMatchObject({ targets: 'Kept', held: true });
  });

  test.each<[string, Stack, string[] | undefined]>([
    ['nobody’s own, where nothing is asked for', { why: undefined }, []],
    ['nobody’s own either, where the plan replaces nothing', { op: 'update' }, []],
    ['who is new', { why: undefined, added: 'new' }, ['new']],
    ['whose spec asks for it, and goes on', { why: undefined, changed: 'web', replaced: 'web', underway: true, begun: ['web'] }, undefined],
    ['who has allowed it', { why: undefined, members: { web: 'Never', api: 'Allow' } }, ['api']],
    ['who has allowed it, where another one can’t be asked', { why: undefined, members: { web: 'Allow' }, missing: 'api' }, ['web']],
    ['all that there is, where all have allowed it', { why: undefined, members: { web: 'Allow', api: 'Allow' } }, undefined],
    ['all that there is, where the plan was approved', { approve: ['web', 'api'] }, undefined],
    ['all that there is, where that was begun with approval', { underway: true }, undefined],
    ['nobody’s own, where what was begun with approval was something else', { why: undefined, underway: true, begun: ['web'], op: '' }, []],
    ['nobody’s own, where who asks for it waits for approval', { why: undefined, changed: 'web', replaced: 'web', added: 'new' }, ['new']],
    ['who has allowed it, where that cuts nobody else', { members: { web: 'Never', api: 'Allow' }, blamed: ['api'] }, ['api']],
  ])('an update may replace what is of %s', async (_what, of, expected) => {
    expect((await pass(of)).replaces).toEqual(expected);
  });

  test('go on without being asked again where that was begun with approval', async () => {
    expect(await pass({ underway: true })).toMatchObject({ run: true, why: [] });
  });

  test('of a large stack, what is under way is found without rendering it once for each member', async () => {
    const members = Object.fromEntries(Array.from({ length: 300 }, (_, number) => [`m${number}`, 'Never' as const]));
    const of = { members, why: undefined, replaced: 'm7', changed: 'm7', underway: true };
    const goesOn = await pass({ ...of, begun: ['m7'] });
    expect(goesOn).toMatchObject({ run: true, why: [] });
    const other = await pass({ ...of, begun: ['m8'] });
    expect(other).toMatchObject({ run: false, shown: ['shop/m7'] });
    // Each with one for the state itself; a plan for who is asked is one more.
    expect([goesOn.rendered, other.rendered]).toEqual([3, 4]);
  });

  test.each<[string, Stack]>([
    ['also with a Node that came meanwhile', { members: { web: 'Never', api: 'Never' }, nodes: 'a, b' }],
    ['also where no update leaves out several', { members: { web: 'Never', api: 'Never' }, standing: ['web', 'api'], why: undefined }],
  ])('go on without being asked again where that was begun with approval, %s', async (_what, of) => {
    expect(await pass({ ...of, underway: true })).toMatchObject({ run: true, why: [] });
  });

  describe('an approved update that became something else halfway', () => {
    const LEFT = 'an update that was approved has stopped halfway';
    const BACK = `${LEFT}: the update replaces LoadBalancer edge, which cuts shop/api, shop/web, and spec.updatePolicy.replace is Never`;

    test('is taken back with consent alone, where that replaces what serves', async () => {
      expect(await pass({ why: undefined, departures: 1 })).toMatchObject({ run: false, why: [BACK, BACK] });
      expect(await pass({ why: undefined, departures: 1, changed: 'web' })).toMatchObject({ run: false, why: [BACK, BACK] });
      expect(await pass({ why: undefined, departures: 1, approve: ['web', 'api'] })).toMatchObject({ run: true, approved: 'h' });
      expect(await pass({ why: undefined, departures: 1, op: 'update' })).toMatchObject({ run: true, replaces: [] });
    });

    test('goes on with the plan of who asks for it', async () => {
      const asked = await pass({ why: undefined, departures: 1, changed: 'web', replaced: 'web' });
      expect(asked).toMatchObject({
        run: false,
        why: ['its prefix, and spec.updatePolicy.replace is Never'],
        previewed: ['web 81,api 80'],
      });
    });

    test('so is one that failed, and that nobody asks for any more', async () => {
      expect(await pass({ why: undefined, underway: true, begun: ['web'] })).toMatchObject({ run: false, why: [BACK, BACK] });
      expect(await pass({ why: undefined, underway: true, begun: ['web'], changed: 'web', replaced: 'web' })).toMatchObject({
        ...{ run: true, why: [], previewed: [] },
      });
    });
  });

  test('ask of those who have allowed it as well, where it cuts one who can’t be asked: one without an object, one that moves away, one that goes and leaves what it has', async () => {
    const cuts = `${WHY}: the update replaces LoadBalancer edge, which cuts`;
    const allow = { web: 'Allow' } as const;
    for (const silent of [{ missing: 'api' }, { elsewhere: 'api' }, { members: { ...allow, api: 'Allow' }, orphaned: 'api' }] as const) {
      const held = await pass({ members: allow, ...silent });
      expect(held).toMatchObject({ run: false, shown: ['shop/web'], why: [`${cuts} shop/api, shop/web, of whom shop/api can’t be asked`] });
      expect(await pass({ members: allow, ...silent, approve: ['web'] })).toMatchObject({ run: true, approved: 'h' });
    }
  });

  test('do nothing where nobody is left to be asked, and say so to those that come and go', async () => {
    const held = await pass({ members: {}, missing: 'api', added: 'new', leaving: 'old' });
    expect(held).toMatchObject({ run: false, shown: [], asked: { new: 'StackHeld' }, said: { reason: 'StackHeld' } });
    expect(held.said?.message).toContain('which cuts shop/api, and none of those can be asked');
    expect(await pass({ members: { api: 'Never' }, orphaned: 'api' })).toMatchObject({ run: false, shown: [], asked: { api: undefined } });
  });

  describe('that refuses what was made before', () => {
    const FIXED = 'as it was made before, it can’t be made any more';

    test('is no matter for a spec that mends it; what that takes away of what serves is asked for', async () => {
      const mended = { members: { web: 'Never' }, refused: ['web'], changed: 'web' } as const;
      expect(await pass({ ...mended, refused: ['web'], op: 'update' })).toMatchObject({ run: true, asked: { web: undefined } });
      const loss = await pass({ ...mended, refused: ['web'] });
      const takes = `${FIXED}, and by what the cloud has, the update replaces LoadBalancer edge, and spec.updatePolicy.replace is Never`;
      expect(loss).toMatchObject({ run: false, why: [takes], asked: { web: 'AwaitingApproval' } });
      // No update leaves it out: without it there is only what is refused.
      expect(loss.plan.parts.map(({ standing }) => standing)).toEqual([undefined]);
      const approved = await pass({ ...mended, refused: ['web'], approve: ['web'] });
      expect(approved.plan.parts).toMatchObject([{ standing: true, candidate: { port: 81 } }]);
    });

    test('is a failure where nobody mends it, also where another one asks for something', async () => {
      await expect(pass({ refused: ['web'] })).rejects.toThrow('refused by the extension');
      await expect(pass({ refused: ['web'], blamed: ['web'], changed: 'api' })).rejects.toThrow('refused by the extension');
    });

    test('does not hold up the one that goes, nor those that stay', async () => {
      const gone = await pass({ members: { web: 'Never' }, refused: ['old'], leaving: 'old', op: 'update' });
      expect(gone).toMatchObject({ run: true, previewed: ['web 80,old 80', 'web 80'] });
    });
  });

  describe('somebody else’s change in the cloud', () => {
    const BROUGHT_BACK =
      'the cloud was changed by somebody else: the update replaces LoadBalancer edge, which cuts shop/api, shop/web, and spec.updatePolicy.replace is Never';

    test('is brought back with consent alone where that replaces what serves', async () => {
      expect(await pass({ why: undefined, drifted: true })).toMatchObject({ run: false, why: [BROUGHT_BACK, BROUGHT_BACK] });
      expect(await pass({ why: undefined, drifted: true, approve: ['web', 'api'] })).toMatchObject({ run: true, approved: 'h' });
      // Also by the first update after a restart, whoever asks for it.
      expect(await pass({ why: undefined, inputsHash: '', changed: 'web' })).toMatchObject({
        run: false,
        asked: { web: 'AwaitingApproval' },
      });
    });

    test('is planned too while an update that stopped halfway is open, but where that could be what somebody asked for', async () => {
      const open = { why: undefined, drifted: true, open: true };
      expect(await pass(open)).toMatchObject({ run: false, why: [BROUGHT_BACK, BROUGHT_BACK] });
      expect(await pass({ ...open, changed: 'web' })).toMatchObject({ run: true, why: [], previewed: [] });
      expect(await pass({ ...open, underway: true })).toMatchObject({ run: true, why: [], previewed: [] });
      expect(await pass({ ...open, drifted: false })).toMatchObject({ run: true, why: [], previewed: [] });
    });

    test('is brought back at once otherwise; what nobody knew of goes', async () => {
      expect(await pass({ why: undefined, drifted: true, op: 'update' })).toMatchObject({ run: true, why: [] });
      expect(await pass({ why: undefined, drifted: true, op: 'delete' })).toMatchObject({ run: true, why: [] });
    });
  });
});
