import { OperatorError } from '../../../operator/base/errors';
import type { MemberInput } from '../../../operator/cloud/stack/member-input';
import { leverOf, leverOn } from '../../../operator/cloud/levers';
import { acceptedOf, inputsOf, standingOf, suspectsOf, type UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import { planStack, type MemberFacts, type StackFacts, type StackPlan } from '../../../operator/cloud/stack/stack-plan';

/** An input with a port, which it claims, and anything else that tells two versions apart. */
type Input = MemberInput & { port?: number; version?: number };

const inputOf = (name: string, fields: Partial<Input> = {}): Input => ({ uid: `uid-${name}`, namespace: 'demo', name, ...fields });
const live = (name: string, extra: Partial<MemberFacts<string>> = {}): MemberFacts<string> => ({
  object: name,
  input: inputOf(name),
  createdAt: '2026-01-01T00:00:00Z',
  deleting: false,
  problems: [],
  serving: false,
  ...extra,
});
const FROZEN = leverOf({ leading: true, frozen: 'p' });
const member = (spec: { managementPolicy?: 'Observe' | 'Released' }, pause?: string) => ({
  spec: { provider: 'p', ...spec },
  metadata: { ...meta, annotations: pause === undefined ? {} : { 'cloud-operator.dev/pause': pause } },
});
const meta = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const NONE_OBSERVED = { observes: () => false, pauseOf: () => undefined };
const PAUSED = leverOn(member({}, 'All'), NONE_OBSERVED);
const TARGETS_ONLY = leverOn(member({}, 'Updates'), NONE_OBSERVED);
const GIVEN_UP = leverOn(member({ managementPolicy: 'Released' }), NONE_OBSERVED);
const OBSERVED = leverOn(member({ managementPolicy: 'Observe' }), NONE_OBSERVED);
const invalid = { severity: 'Error' as const, field: 'spec.x', value: '1', message: 'spec.x is wrong' };
const acceptedInputs = (...inputs: Input[]) => Object.fromEntries(inputs.map((input) => [input.uid, input]));
const facts = (members: MemberFacts<string>[], extra: Partial<StackFacts<string>> = {}): StackFacts<string> => ({
  members,
  known: true,
  leftover: false,
  accepted: undefined,
  elsewhere: new Set(),
  departing: new Set(),
  released: () => false,
  abandoned: false,
  conflict: () => ({ reason: 'PortConflict', remedy: 'take another port' }),
  claims: (input) => ((input as Input).port === undefined ? [] : [`port ${(input as Input).port}`]),
  ...extra,
});

function updateOf(plan: StackPlan<string>): UpdatePlan<string> {
  if (plan.kind !== 'Update') throw new Error(`expected an update, got ${JSON.stringify(plan)}`);
  return plan;
}

/** What the first attempt renders, as `name:version`. */
function rendered(plan: StackPlan<string>): string[] {
  const update = updateOf(plan);
  return inputsOf(update, suspectsOf(update)).map((input) => `${input.name}${(input as Input).version ?? ''}`);
}

/** Who can't be tried, and why. */
function waiting(plan: StackPlan<string>): Record<string, string> {
  const verdicts = updateOf(plan).parts.filter(({ verdict }) => verdict !== undefined);
  return Object.fromEntries(
    verdicts.map(({ object, verdict }) => [object, verdict !== undefined && 'reason' in verdict ? verdict.reason : '']),
  );
}

describe('a stack that nobody asks for', () => {
  test('nothing wanted, nothing known → Forget', () => {
    expect(planStack(facts([], { known: false }))).toEqual({ kind: 'Forget' });
  });
  test('found by a sweep → Keep, until a person has released it', () => {
    expect(planStack(facts([], { known: false, leftover: true }))).toEqual({ kind: 'Keep', missing: [] });
    expect(planStack(facts([], { known: false, leftover: true, abandoned: true }))).toEqual({ kind: 'Destroy', leaving: [] });
    expect(planStack(facts([], { known: false, leftover: true, abandoned: true, lever: FROZEN }))).toEqual({ kind: 'Hold', verdicts: [] });
  });
  test('state without members → Keep: what nobody deleted is not destroyed', () => {
    expect(planStack(facts([]))).toEqual({ kind: 'Keep', missing: [] });
    expect(planStack(facts([], { accepted: acceptedInputs(inputOf('a')) }))).toEqual({ kind: 'Keep', missing: [inputOf('a')] });
  });
  test('all released, or the whole stack → Destroy', () => {
    const accepted = acceptedInputs(inputOf('a'), inputOf('b'));
    expect(planStack(facts([], { accepted, released: () => true }))).toEqual({ kind: 'Destroy', leaving: [] });
    expect(planStack(facts([], { accepted, released: (uid) => uid === 'uid-a' })).kind).toBe('Keep');
    expect(planStack(facts([], { abandoned: true }))).toEqual({ kind: 'Destroy', leaving: [] });
  });
  test('its object is there and in no stack, or not yet in another one → it is kept as it is, whatever was released', () => {
    const accepted = acceptedInputs(inputOf('a'));
    const plan = planStack(facts([], { accepted, released: () => true, elsewhere: new Set(['uid-a']) }));
    expect(plan).toMatchObject({ kind: 'Update', parts: [], leaving: [], missing: [], elsewhere: [inputOf('a')] });
    expect(planStack(facts([], { accepted, elsewhere: new Set(['uid-a']), lever: FROZEN }))).toEqual({ kind: 'Hold', verdicts: [] });
  });
  test('another stack has its only member → Destroy, though not while the cloud is frozen', () => {
    const moved = { accepted: acceptedInputs(inputOf('a')), departing: new Set(['uid-a']) };
    expect(planStack(facts([], moved))).toEqual({ kind: 'Destroy', leaving: [] });
    expect(planStack(facts([], { ...moved, lever: FROZEN }))).toEqual({ kind: 'Hold', verdicts: [] });
  });
  test('another stack has its only member, or nobody needs what is left, but the cloud is only observed → Hold; what vanished is said as ever', () => {
    const lever = leverOf({ leading: true, observed: 'p' });
    const accepted = acceptedInputs(inputOf('a'));
    const held = { kind: 'Hold', verdicts: [] };
    expect(planStack(facts([], { accepted, departing: new Set(['uid-a']), lever }))).toEqual(held);
    expect(planStack(facts([], { accepted, elsewhere: new Set(['uid-a']), lever }))).toEqual(held);
    expect(planStack(facts([], { known: false, leftover: true, abandoned: true, lever }))).toEqual(held);
    expect(planStack(facts([], { accepted, lever }))).toEqual({ kind: 'Keep', missing: [inputOf('a')] });
  });
  test('its CloudProvider is paused → nothing is done; with Updates its targets go on', () => {
    const leverBy = (value: string) => leverOf({ leading: true, providerPause: { provider: 'p', value } });
    const [all, updates] = [leverBy('All'), leverBy('Updates')];
    const accepted = acceptedInputs(inputOf('a'));
    const [kept, unneeded] = [
      { accepted, elsewhere: new Set(['uid-a']) },
      { known: false, leftover: true, abandoned: true },
    ];
    const held = { kind: 'Hold', verdicts: [] };
    expect(planStack(facts([], { ...kept, lever: all }))).toEqual(held);
    expect(planStack(facts([], { ...kept, lever: updates }))).toMatchObject({ kind: 'Update', engine: false, elsewhere: [inputOf('a')] });
    expect(planStack(facts([], { ...unneeded, lever: all }))).toEqual(held);
    expect(planStack(facts([], { ...unneeded, lever: updates }))).toEqual(held);
    expect(planStack(facts([], { accepted, lever: all }))).toEqual({ kind: 'Keep', missing: [inputOf('a')] });
  });
  test('another stack has one member, another one vanished → the one goes, the other stays', () => {
    const accepted = acceptedInputs(inputOf('a'), inputOf('b'));
    const plan = planStack(facts([], { accepted, departing: new Set(['uid-a']) }));
    expect(rendered(plan)).toEqual(['b']);
    expect(plan).toMatchObject({ missing: [inputOf('b')], departing: [inputOf('a')] });
  });
  test('one that can’t come yet, and is served by its old stack, keeps nobody waiting', () => {
    const waits = { state: 'Reconciling' as const, reason: 'AwaitingNodes', message: 'no Nodes' };
    const plan = planStack(facts([live('a', { waiting: waits, serving: true, moving: true }), live('b')], { accepted: {} }));
    expect([rendered(plan), waiting(plan)]).toEqual([['b'], { a: 'AwaitingNodes' }]);
  });
  test('another stack has one member → the others go on without it', () => {
    const accepted = acceptedInputs(inputOf('a'), inputOf('b'));
    expect(rendered(planStack(facts([live('b')], { accepted, departing: new Set(['uid-a']) })))).toEqual(['b']);
  });
  test('nothing that was ever accepted → Destroy', () => {
    expect(planStack(facts([], { accepted: {} }))).toEqual({ kind: 'Destroy', leaving: [] });
  });
});

describe('levers and deletions', () => {
  test('live and leaving members → Update with the live ones', () => {
    const plan = updateOf(planStack(facts([live('a'), live('b', { deleting: true })])));
    expect(rendered(plan)).toEqual(['a']);
    expect(plan.leaving).toEqual(['b']);
  });
  test('only leaving members → Destroy, though they are invalid', () => {
    expect(planStack(facts([live('a', { deleting: true, problems: [invalid] })]))).toEqual({ kind: 'Destroy', leaving: ['a'] });
  });
  test('frozen provider → Hold, even a deletion', () => {
    const plan = planStack(facts([live('a', { deleting: true })], { lever: FROZEN }));
    const message = expect.stringContaining('its deletion waits') as string;
    expect(plan).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { reason: 'Frozen', message } }] });
  });
  test('frozen provider → what is wrong with a spec is still said', () => {
    const plan = planStack(facts([live('a', { problems: [invalid] })], { lever: FROZEN }));
    expect(plan).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { state: 'Stalled', reason: 'Invalid' } }] });
  });
  test('paused → what waits is said, and a waiting deletion is not Ready', () => {
    const accepted = acceptedInputs(inputOf('a', { version: 1 }));
    const held = (extra: Partial<MemberFacts<string>>): unknown =>
      planStack(facts([live('a', { lever: PAUSED, serving: true, input: inputOf('a', { version: 1 }), ...extra })], { accepted }));
    const verdict = (message: string, serving: boolean): object => ({ verdicts: [{ verdict: { reason: 'Paused', message, serving } }] });
    const paused = 'paused by annotation cloud-operator.dev/pause: All, so that nothing of it is written to the cloud';
    expect(held({})).toMatchObject(verdict(paused, true));
    expect(held({ input: inputOf('a', { version: 2 }) })).toMatchObject(verdict(`${paused}; a change of its spec waits`, true));
    expect(held({ deleting: true })).toMatchObject(verdict(`${paused}; its deletion waits`, false));
  });
  test('all paused → Hold', () => {
    const plan = planStack(facts([live('a', { lever: PAUSED, serving: true })]));
    expect(plan).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { reason: 'Paused', serving: true } }] });
  });
  test('one paused → it goes on as it is, though it is being deleted; the others proceed', () => {
    const accepted = acceptedInputs(inputOf('a', { version: 1 }));
    const paused = live('a', { lever: PAUSED, deleting: true, serving: true, input: inputOf('a', { version: 2 }) });
    const plan = planStack(facts([paused, live('b')], { accepted }));
    expect(rendered(plan)).toEqual(['a1', 'b']);
    expect(waiting(plan)).toEqual({ a: 'Paused' });
    expect(updateOf(plan).leaving).toEqual([]);
  });
});

describe('what each lever leaves', () => {
  const accepted = acceptedInputs(inputOf('a', { version: 1 }), inputOf('b', { version: 1 }));
  const changed = (name: string, extra: Partial<MemberFacts<string>>) => live(name, { input: inputOf(name, { version: 2 }), ...extra });

  test('no lease → nothing, and nothing is said', () => {
    const lever = leverOf({ leading: false });
    expect(planStack(facts([live('a', { deleting: true })], { lever }))).toEqual({ kind: 'Hold', verdicts: [] });
    expect(planStack(facts([], { known: false, lever }))).toEqual({ kind: 'Hold', verdicts: [] });
  });
  test('the kind is being deleted → nobody leaves', () => {
    const lever = leverOf({ leading: true, kindDeleted: 'cloudloadbalancers.cloud-operator.dev' });
    const plan = planStack(facts([live('a', { deleting: true, serving: true }), live('b')], { accepted, lever }));
    const message = expect.stringMatching(/^CustomResourceDefinition cloudloadbalancers.cloud-operator.dev is being/) as string;
    const verdict = { reason: 'KindDeleted', message, serving: false };
    expect(plan).toMatchObject({ kind: 'Hold', verdicts: [{ object: 'a', verdict }, { object: 'b' }] });
  });
  test('pause: Updates → targets only: no engine, also for a deletion', () => {
    const paused = { lever: TARGETS_ONLY, serving: true };
    const plan = updateOf(planStack(facts([changed('a', paused), live('b', { ...paused, deleting: true })], { accepted })));
    expect(plan).toMatchObject({ engine: false, leaving: [], released: [] });
    expect(plan.parts.map(({ targets }) => targets)).toEqual([undefined, undefined]);
    expect(rendered(plan)).toEqual(['a1', 'b1']);
    expect(waiting(plan)).toEqual({ a: 'Paused', b: 'Paused' });
  });
  test('pause: All beside others → their update leaves it and its targets as they are', () => {
    const plan = updateOf(planStack(facts([changed('a', { lever: PAUSED, serving: true }), changed('b', {})], { accepted })));
    expect(plan).toMatchObject({ engine: true, parts: [{ object: 'a', targets: 'Kept', held: true }, { object: 'b' }] });
    expect(rendered(plan)).toEqual(['a1', 'b2']);
  });
  test('Observe → nothing is done, which is as good as ready where it serves', () => {
    const verdict = (serving: boolean) => planStack(facts([changed('a', { lever: OBSERVED, serving })], { accepted }));
    const message = expect.stringMatching(/nothing of it is written to the cloud; a change of its spec waits$/) as string;
    expect(verdict(true)).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { state: 'Ready', reason: 'Observed', message } }] });
    expect(verdict(false)).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { state: 'Reconciling', reason: 'Observed' } }] });
  });
  test('Observe and deleted → the object is let go of, and what it has stays, alone or beside others', () => {
    const observed = live('a', { lever: OBSERVED, deleting: true, serving: true });
    expect(planStack(facts([observed], { accepted }))).toMatchObject({ kind: 'Update', released: ['a'], leaving: [], engine: false });
    const shared = updateOf(planStack(facts([observed, live('b', { deleting: true })], { accepted })));
    expect(shared).toMatchObject({ released: ['a'], leaving: ['b'], engine: true });
    expect(rendered(shared)).toEqual(['a1']);
    expect(planStack(facts([{ ...observed, serving: false }], { known: false }))).toMatchObject({
      kind: 'Update',
      released: ['a'],
      engine: false,
    });
  });
});

describe('taking over, in a stack that others share', () => {
  const accepted = acceptedInputs(inputOf('b'));

  test('no update leaves out what is being taken over', () => {
    const plan = updateOf(planStack(facts([live('a', { takesOver: 'Now' }), live('b')], { accepted })));
    expect(standingOf(plan).map(({ object }) => object)).toEqual(['a']);
  });
  test('one that waits before anything was taken over holds up nobody; afterwards it holds the stack', () => {
    const waits = (takesOver: 'Now' | 'Begun') =>
      planStack(facts([live('a', { takesOver, problems: [invalid] }), live('b')], { accepted }));
    expect([rendered(waits('Now')), standingOf(updateOf(waits('Now')))]).toEqual([['b'], []]);
    expect(waits('Begun').kind).toBe('Hold');
  });
  test('its deletion takes it out', () => {
    const plan = updateOf(planStack(facts([live('a', { takesOver: 'Begun', deleting: true }), live('b')], { accepted })));
    expect([rendered(plan), plan.leaving]).toEqual([['b'], ['a']]);
  });
});

describe('deletionPolicy: Orphan', () => {
  const accepted = acceptedInputs(inputOf('a'), inputOf('b'));
  const orphan = (name: string, extra: Partial<MemberFacts<string>> = {}) =>
    live(name, { orphan: true, deleting: true, serving: true, ...extra });

  test('alive → as any other', () => {
    expect(updateOf(planStack(facts([orphan('a', { deleting: false })]))).parts).toEqual([
      { object: 'a', candidate: inputOf('a'), standing: true },
    ]);
  });
  test.each([
    ['alone', [orphan('a')], ['a']],
    ['all of them', [orphan('a'), orphan('b')], ['a', 'b']],
  ])('%s → the stack is released', (_, members, released) => {
    const own = acceptedInputs(...members.map(({ input }) => input as Input));
    expect(planStack(facts(members, { accepted: own }))).toEqual({ kind: 'Release', released });
    expect(planStack(facts(members, { known: false }))).toEqual({ kind: 'Release', released });
  });
  test('beside others → the object is let go of, and the stack goes on with what it has', () => {
    const plan = updateOf(planStack(facts([orphan('a', { input: inputOf('a', { version: 2 }) }), live('b')], { accepted })));
    expect(plan).toMatchObject({ released: ['a'], leaving: [] });
    expect([rendered(plan).sort(), waiting(plan)]).toEqual([['a', 'b'], { a: 'Deleting' }]);
    expect(planStack(facts([orphan('a')], { accepted }))).toMatchObject({ released: ['a'], missing: [inputOf('b')], engine: false });
  });
  test('beside one that is deleted → that one goes first, and the last one stays with its stack until then', () => {
    const plan = updateOf(planStack(facts([orphan('a'), live('b', { deleting: true })], { accepted })));
    expect(plan).toMatchObject({ released: [], leaving: ['b'], engine: true });
    expect(rendered(plan)).toEqual(['a']);
  });
  test.each([
    ['frozen', { stack: { lever: FROZEN } }],
    ['paused', { own: { lever: PAUSED } }],
  ])('%s → it waits', (_, { own, stack }: { own?: Partial<MemberFacts<string>>; stack?: Partial<StackFacts<string>> }) => {
    expect(planStack(facts([orphan('a', own)], { accepted: acceptedInputs(inputOf('a')), ...stack }))).toMatchObject({ kind: 'Hold' });
  });
  test('observed as well → nothing is marked in the cloud', () => {
    const plan = planStack(facts([orphan('a', { lever: OBSERVED })], { accepted: acceptedInputs(inputOf('a')) }));
    expect(plan).toMatchObject({ kind: 'Update', released: ['a'], engine: false });
  });
});

describe('candidates and accepted inputs', () => {
  const accepted = acceptedInputs(inputOf('a', { version: 1 }), inputOf('b', { version: 1 }));
  const second = (name: string, extra: Partial<MemberFacts<string>> = {}) =>
    live(name, { input: inputOf(name, { version: 2 }), serving: true, ...extra });

  test('candidates are rendered, and under suspicion where they are not accepted', () => {
    const plan = updateOf(planStack(facts([second('a'), live('b', { input: inputOf('b', { version: 1 }) })], { accepted })));
    expect(rendered(plan)).toEqual(['a2', 'b1']);
    expect(suspectsOf(plan).map(({ object }) => object)).toEqual(['a']);
    expect(inputsOf(plan, [])).toEqual([inputOf('a', { version: 1 }), inputOf('b', { version: 1 })]);
    expect(acceptedOf(inputsOf(plan, []))).toEqual(accepted);
  });
  test('an invalid one goes on with its accepted input, is Stalled, and the others proceed', () => {
    const plan = planStack(facts([second('a', { problems: [invalid] }), second('b')], { accepted }));
    expect(rendered(plan)).toEqual(['a1', 'b2']);
    expect(updateOf(plan).parts[0]?.verdict).toMatchObject({ state: 'Stalled', reason: 'Invalid', serving: false });
    expect(JSON.stringify(plan)).toContain('The last good version keeps serving');
  });
  test('an invalid new one is not rendered at all', () => {
    const plan = planStack(facts([live('c', { problems: [invalid] }), second('b')], { accepted: acceptedInputs(inputOf('b')) }));
    expect(rendered(plan)).toEqual(['b2']);
    expect(waiting(plan)).toEqual({ c: 'Invalid' });
  });
  test('a failed one waits for its back-off, with its failure', () => {
    const held = { error: new OperatorError('Quota', 'too many pools') };
    const plan = planStack(facts([second('a', { held }), second('b')], { accepted }));
    expect(rendered(plan)).toEqual(['a1', 'b2']);
    expect(waiting(plan)).toEqual({ a: 'QuotaExceeded' });
  });
  test('nothing at all to render → Hold', () => {
    expect(planStack(facts([live('a', { problems: [invalid] })])).kind).toBe('Hold');
  });
  test('in the cloud, but with which input is not known → Hold: leaving it out would delete it', () => {
    const plan = planStack(facts([second('a', { problems: [invalid] }), second('b')]));
    expect(plan).toMatchObject({
      kind: 'Hold',
      verdicts: [{ verdict: { reason: 'Invalid' } }, { verdict: { reason: 'StackHeld', serving: true } }],
    });
  });
  test('warnings hold nothing', () => {
    const plan = planStack(facts([live('a', { problems: [{ ...invalid, severity: 'Warning' }] })]));
    expect(rendered(plan)).toEqual(['a']);
  });
});

describe('members without an object', () => {
  const accepted = acceptedInputs(inputOf('a', { port: 80 }), inputOf('gone', { port: 81 }));
  test('who vanished stays in the stack, with its ports, until it is released', () => {
    const members = [live('a', { input: inputOf('a', { port: 80 }) }), live('b', { input: inputOf('b', { port: 81 }) })];
    const plan = planStack(facts(members, { accepted }));
    expect(rendered(plan)).toEqual(['a', 'gone']);
    expect(updateOf(plan).missing).toEqual([inputOf('gone', { port: 81 })]);
    expect(JSON.stringify(updateOf(plan).parts[1]?.verdict)).toMatch(/PortConflict.*port 81 belongs to demo\/gone/);
    expect(rendered(planStack(facts(members, { accepted, released: (uid) => uid === 'uid-gone' })))).toEqual(['a', 'b']);
  });
  test('who is only not assigned stays, and is not called missing', () => {
    const plan = updateOf(planStack(facts([live('a')], { accepted, elsewhere: new Set(['uid-gone']), released: () => true })));
    expect(rendered(plan)).toEqual(['a', 'gone']);
    expect(plan.missing).toEqual([]);
  });
  test('the last member leaves, a missing one stays → Update, not Destroy', () => {
    const plan = updateOf(planStack(facts([live('a', { deleting: true })], { accepted })));
    expect(rendered(plan)).toEqual(['gone']);
    expect(plan.leaving).toEqual(['a']);
  });
});

describe('ports that two members want', () => {
  const wants = (name: string, port: number, extra: Partial<MemberFacts<string>> = {}) =>
    live(name, { input: inputOf(name, { port }), ...extra });
  test('the incumbent stays; the other is Stalled, and goes on with what it has', () => {
    const accepted = acceptedInputs(inputOf('a', { port: 80 }), inputOf('b', { port: 81, version: 1 }));
    const plan = planStack(facts([wants('a', 80), wants('b', 80, { createdAt: '2020-01-01T00:00:00Z', serving: true })], { accepted }));
    expect(waiting(plan)).toEqual({ b: 'PortConflict' });
    expect(rendered(plan)).toEqual(['a', 'b1']);
    expect(updateOf(plan).conflicts).toBe(true);
  });
  test('a port is free with the update that deletes its holder', () => {
    const accepted = acceptedInputs(inputOf('a', { port: 80 }));
    const plan = planStack(facts([wants('a', 80, { deleting: true }), wants('b', 80)], { accepted }));
    expect(rendered(plan)).toEqual(['b']);
    expect(updateOf(plan).conflicts).toBe(false);
  });
  test('who is invalid or failed keeps nobody from a port that it does not have', () => {
    const held = { error: new OperatorError('Invalid', 'no') };
    expect(waiting(planStack(facts([wants('a', 80, { held }), wants('b', 80)])))).toEqual({ a: 'Invalid' });
    expect(waiting(planStack(facts([wants('a', 80, { problems: [invalid] }), wants('b', 80)])))).toEqual({ a: 'Invalid' });
  });
});

describe('a load balancer that is given up', () => {
  const accepted = acceptedInputs(inputOf('a'));
  const given = live('a', { lever: GIVEN_UP });

  test('its stack is released while the object lives, and then nothing is done any more', () => {
    expect(planStack(facts([given], { accepted }))).toEqual({ kind: 'Release', released: ['a'] });
    const after = planStack(facts([given], { known: false }));
    expect(after).toEqual({
      kind: 'Hold',
      verdicts: [{ object: 'a', verdict: expect.objectContaining({ state: 'Ready', reason: 'Released' }) as unknown }],
    });
  });
  test('not while nothing may be written, nor alone in a stack that others share', () => {
    expect(planStack(facts([given], { accepted, lever: FROZEN })).kind).toBe('Hold');
    const shared = planStack(facts([given, live('b')], { accepted: acceptedInputs(inputOf('a'), inputOf('b')) }));
    expect(waiting(shared)).toEqual({ a: 'Released' });
    const missing = facts([given], { accepted: acceptedInputs(inputOf('a'), inputOf('gone')) });
    expect(planStack(missing).kind).not.toBe('Release');
  });
  test('deleted afterwards, the object goes, and no engine runs', () => {
    const gone = planStack(facts([{ ...given, deleting: true }], { known: false }));
    expect(gone).toMatchObject({ kind: 'Update', engine: false, released: ['a'], leaving: [] });
  });
});
