import type { Problem, Replacement } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';
import { sentence, verdictOfError, type Verdict } from '../conditions';
import type { Lever } from '../levers';
import type { Held } from './candidate-holds';
import { keyOfInput, type MemberInput } from './member-input';
import { conflictsOf, type Claim, type Conflict } from './port-conflicts';

/** A member of a stack, as far as the plan depends on it. */
export interface MemberFacts<O> {
  object: O;
  /** What its spec asks for. */
  input: MemberInput;
  /** RFC 3339. */
  createdAt: string;
  deleting: boolean;
  /** Its deletion leaves the cloud as it is. */
  orphan?: boolean;
  /** What keeps it as it is. */
  lever?: Lever | undefined;
  /** What policy and provider have against it; only Errors count. */
  problems: Problem[];
  /** An earlier version of it is in the cloud. */
  serving: boolean;
  /** Its spec was tried and failed, and the back-off goes on. */
  held?: (Pick<Held, 'error'> & Partial<Held>) | undefined;
  /** Why its spec must wait for something that comes by itself. */
  waiting?: Verdict | undefined;
  /** What its spec would replace. */
  replacement?: Replacement | undefined;
  /** What serves is another stack's. */
  moving?: boolean;
  /** It takes over what serves from somebody else; `Begun`: an update of before may have done so. */
  takesOver?: 'Now' | 'Begun';
}

/** Accepted inputs by UID. */
export type AcceptedInputs = Readonly<Record<string, MemberInput>>;

export interface StackFacts<O> {
  members: MemberFacts<O>[];
  /** There is state for the stack. */
  known: boolean;
  /** A sweep has found it in the cloud, and nothing accounts for it. */
  leftover: boolean;
  /** Kept with the state; undefined where the state does not say (it is new, lost, or of an older version). */
  accepted: AcceptedInputs | undefined;
  /** Of these UIDs there are objects, but no members: they are in no stack at the moment, or another one is about to take them over. */
  elsewhere: ReadonlySet<string>;
  /** Of these UIDs nothing is needed here any more: another stack has them, or they are being deleted there. */
  departing: ReadonlySet<string>;
  /** A person has released the missing member with this UID. */
  released: (uid: string) => boolean;
  /** A person has released the whole stack, or nobody needs what there is. */
  abandoned: boolean;
  /** What keeps the whole stack as it is. */
  lever?: Lever | undefined;
  /** What only one member of the stack can have, such as a port of an address, in words. */
  claims: (input: MemberInput) => Claim[];
  /** What is said to the one that does not get it. */
  conflict: (claim: string) => { reason: string; remedy: string };
}

/** One member in an update. */
export interface Part<O> {
  object: O;
  /** What its spec asks for; absent where that can't be tried now, and `verdict` says why. */
  candidate?: MemberInput;
  /** What the member goes on with where its candidate can't be tried, or fails. */
  accepted?: MemberInput;
  verdict?: Verdict;
  /** A lever keeps its targets as they are. */
  targets?: 'Kept';
  /** A lever keeps it as it is, or its object goes and leaves it so: no approval and no window of its own counts. */
  held?: true;
  /** What the candidate replaces. */
  replacement?: Replacement;
  /** It serves, and with which input is not known, or is taken over: an update without its candidate would delete it. */
  standing?: true;
}

export type StackPlan<O> =
  /** Nothing wanted, nothing known: the record may go. */
  | { kind: 'Forget' }
  /** State without members, none of which left by its deletion: kept until a person releases it. */
  | { kind: 'Keep'; missing: MemberInput[] }
  /** Nothing is done now; each member gets its verdict. Without members, the stack's record says so. */
  | { kind: 'Hold'; verdicts: { object: O; verdict: Verdict }[] }
  | {
      kind: 'Update';
      parts: Part<O>[];
      leaving: O[];
      /** These objects go, and what they have in the cloud stays. */
      released: O[];
      /** False: levers keep all of it as it is, but for targets. */
      engine: boolean;
      /** Vanished without a deletion: they go on with their accepted inputs until a person releases them. */
      missing: MemberInput[];
      /** The same, of those that have an object which is not a member, or not any more. */
      elsewhere: MemberInput[];
      /** They go, since another stack has them. */
      departing: MemberInput[];
      /** Somebody waits for what another member has. */
      conflicts: boolean;
    }
  | { kind: 'Destroy'; leaving: O[] }
  /** The stack is forgotten, and what it has in the cloud is nobody's. */
  | { kind: 'Release'; released: O[] };

/** Levers that are said by all members, whatever these have of their own. */
const HOLDS_ALL: readonly Lever['kind'][] = ['KindDeleted', 'Frozen'];

/** What to do about a stack. Pure; the levers in the order of the design (section 4, Levers). */
export function planStack<O>(facts: StackFacts<O>): StackPlan<O> {
  const { members, lever } = facts;
  if (lever?.kind === 'NoLease') return { kind: 'Hold', verdicts: [] };
  const absent = withoutMember(facts);
  const { missing, elsewhere, departing } = absent;
  const asked = members.length + elsewhere.length + (missing.length > 0 ? departing.length : 0) > 0;
  if (!facts.known && !asked && !facts.leftover) return { kind: 'Forget' };
  if (lever !== undefined && HOLDS_ALL.includes(lever.kind))
    return hold(members, (member) => stalledBy(member) ?? heldBy(lever, member, facts.accepted));
  return underLever(lever, asked ? planAsked(facts, absent) : planEmpty(facts, missing));
}

/** What of a plan a CloudProvider's lever lets through, where there is no member to say it. */
function underLever<O>(lever: Lever | undefined, plan: StackPlan<O>): StackPlan<O> {
  // What is kept anyway is said as ever.
  if (lever === undefined || plan.kind === 'Keep') return plan;
  return lever.members && plan.kind === 'Update' ? { ...plan, engine: false } : hold([], () => STACK_HELD);
}

function planAsked<O>(facts: StackFacts<O>, absent: Absent): StackPlan<O> {
  const { members } = facts;
  const alone = absent.missing.length + absent.elsewhere.length + absent.departing.length === 0;
  if (facts.known && alone && members.every(isGivenUp)) return { kind: 'Release', released: members.map(({ object }) => object) };
  if (members.length > 0 && members.every(standsStill)) return hold(members, (member) => ownObstacle(member, facts.accepted) ?? STACK_HELD);
  return planUpdate(facts, absent);
}

function planUpdate<O>(facts: StackFacts<O>, { missing, elsewhere, departing }: Absent): StackPlan<O> {
  const { members } = facts;
  const leaving = members.filter(isLeaving).map((member) => member.object);
  const staying = members.filter((member) => !isLeaving(member));
  if (staying.length + missing.length + elsewhere.length === 0) return { kind: 'Destroy', leaving };
  const others = staying.filter((member) => !isReleased(member)).length + missing.length + elsewhere.length;
  const last = others === 0 && staying.every(({ lever }) => lever === undefined);
  const quiet = leaving.length + departing.length === 0;
  if (last && quiet) return { kind: 'Release', released: staying.map((member) => member.object) };
  const conflicts = conflictsOf([...staying.map((member) => claimant(facts, member)), ...[...missing, ...elsewhere].map(holder(facts))]);
  const verdicts = new Map(staying.map((member) => [member, obstacle(facts, member, conflicts.get(member.input.uid))]));
  const parts = staying.map((member) => partOf(member, facts.accepted?.[member.input.uid], verdicts.get(member)));
  // The last ones go with the stack, once nothing else is in it.
  const released = last ? [] : staying.filter(isReleased).map((member) => member.object);
  const rendered = parts.filter(({ candidate, accepted }) => candidate ?? accepted).length + missing.length + elsewhere.length;
  const nothing = rendered + leaving.length + departing.length + released.length === 0;
  const engine = !quiet || staying.length === 0 || staying.some((member) => member.lever === undefined && !isReleased(member));
  if (nothing || (engine && parts.some(isUnknown))) return hold(members, (member) => verdicts.get(member) ?? STACK_HELD);
  return { kind: 'Update', parts, leaving, released, engine, missing, elsewhere, departing, conflicts: conflicts.size > 0 };
}

/** Nobody asks for the stack. */
function planEmpty<O>({ accepted, abandoned }: StackFacts<O>, left: MemberInput[]): StackPlan<O> {
  return abandoned || (accepted !== undefined && left.length === 0) ? { kind: 'Destroy', leaving: [] } : { kind: 'Keep', missing: left };
}

type Absent = Record<'missing' | 'elsewhere' | 'departing', MemberInput[]>;

/** Accepted inputs whose object is not a member, without those that a person has released. */
function withoutMember<O>({ members, accepted = {}, elsewhere, departing, released }: StackFacts<O>): Absent {
  const present = new Set(members.map(({ input }) => input.uid));
  const absent = Object.values(accepted).filter(({ uid }) => !present.has(uid));
  return {
    missing: absent.filter(({ uid }) => !elsewhere.has(uid) && !departing.has(uid) && !released(uid)),
    elsewhere: absent.filter(({ uid }) => elsewhere.has(uid)),
    departing: absent.filter(({ uid }) => departing.has(uid)),
  };
}

function partOf<O>(member: MemberFacts<O>, accepted: MemberInput | undefined, verdict: Verdict | undefined): Part<O> {
  const { object, input, replacement, lever } = member;
  const kept = lever?.members === false ? { targets: 'Kept' as const } : {};
  const standing = accepted === undefined && stands(member, verdict);
  const held = lever !== undefined || isReleased(member);
  const fallback = { ...kept, ...(held && { held }), ...(accepted === undefined ? {} : { accepted }), ...(standing && { standing }) };
  if (verdict !== undefined) return { object, verdict, ...fallback };
  return { object, candidate: input, ...fallback, ...(replacement === undefined ? {} : { replacement }) };
}

/** What it has in the cloud must stay, although no state says what that is. */
function stands<O>({ serving, moving, takesOver }: MemberFacts<O>, verdict: Verdict | undefined): boolean {
  const taken = takesOver === 'Begun' || (takesOver === 'Now' && verdict === undefined);
  return (serving || taken) && moving !== true;
}

/** Nothing can be rendered of what is in the cloud. */
function isUnknown<O>({ candidate, standing }: Part<O>): boolean {
  return candidate === undefined && standing === true;
}

/** Why a member's spec can't be tried now. */
function obstacle<O>(facts: StackFacts<O>, member: MemberFacts<O>, conflict: Conflict | undefined): Verdict | undefined {
  const verdict = ownObstacle(member, facts.accepted) ?? (conflict === undefined ? undefined : waitingFor(facts, conflict, member.serving));
  return verdict === undefined ? undefined : { ...verdict, ...servingOf(member, verdict) };
}

function ownObstacle<O>(member: MemberFacts<O>, accepted: AcceptedInputs | undefined): Verdict | undefined {
  if (member.lever !== undefined) return heldBy(member.lever, member, accepted);
  if (isReleased(member)) return waiting('Deleting', 'the object goes, and what it has in the cloud stays (spec.deletionPolicy)');
  const refused = stalledBy(member);
  if (refused !== undefined) return refused;
  if (member.waiting !== undefined) return member.waiting;
  return member.held === undefined ? undefined : verdictOfError(member.held.error, member.serving, member.held.retry);
}

/** What its author must change, whatever else holds it up. */
function stalledBy<O>(member: MemberFacts<O>): Verdict | undefined {
  const errors = errorsOf(member);
  if (errors.length === 0) return undefined;
  return stalled('Invalid', errors.map((problem) => problem.message).join('; '), member.serving);
}

function waitingFor<O>({ conflict }: StackFacts<O>, { claim, incumbent }: Conflict, serving: boolean): Verdict {
  const { reason, remedy } = conflict(claim);
  return stalled(reason, `${claim} belongs to ${incumbent}; it goes on by itself when that is free, or ${remedy}`, serving);
}

function claimant<O>(facts: StackFacts<O>, member: MemberFacts<O>): Parameters<typeof conflictsOf>[0][number] {
  const { input, createdAt } = member;
  const before = facts.accepted?.[input.uid];
  const claims = { held: before === undefined ? [] : facts.claims(before) };
  const able = ownObstacle(member, facts.accepted) === undefined;
  return { uid: input.uid, key: keyOfInput(input), createdAt, ...claims, ...(able ? { wanted: facts.claims(input) } : {}) };
}

/** A member without an object still has what it has. */
function holder<O>({ claims }: StackFacts<O>): (input: MemberInput) => Parameters<typeof conflictsOf>[0][number] {
  return (input) => ({ uid: input.uid, key: keyOfInput(input), createdAt: '', held: claims(input) });
}

function isLeaving<O>({ deleting, lever, orphan }: MemberFacts<O>): boolean {
  return deleting && lever === undefined && orphan !== true;
}

function isReleased<O>({ deleting, lever, orphan }: MemberFacts<O>): boolean {
  return deleting && (lever === undefined ? orphan === true : lever.deletion === 'Releases');
}

function isGivenUp<O>({ lever }: MemberFacts<O>): boolean {
  return lever?.kind === 'Released';
}

/** Nothing at all is done about it. */
function standsStill<O>(member: MemberFacts<O>): boolean {
  return member.lever?.members === false && !isReleased(member);
}

function hold<O>(members: MemberFacts<O>[], verdictFor: (member: MemberFacts<O>) => Verdict): StackPlan<O> {
  const verdicts = members.map((member) => {
    const verdict = verdictFor(member);
    return { object: member.object, verdict: { ...verdict, ...servingOf(member, verdict) } };
  });
  return { kind: 'Hold', verdicts };
}

/** Ready stays true while work only waits; where a person is needed, it must be seen. */
function servingOf<O>({ serving, held, deleting }: MemberFacts<O>, verdict: Verdict): { serving?: boolean } {
  return verdict.state === 'Ready' ? {} : { serving: serving && verdict.state !== 'Stalled' && held === undefined && !deleting };
}

export const STACK_HELD: ReturnType<typeof waiting> = waiting(
  'StackHeld',
  'another load balancer of the same placement can’t be tried, and what it has in the cloud is not known; see its condition',
);

/** To be observed is no state that something comes after: what is there is as good as ready. */
function heldBy<O>(lever: Lever, member: MemberFacts<O>, accepted: AcceptedInputs | undefined): Verdict {
  if (lever.kind === 'Released') return givenUp(lever, member, accepted);
  const message = `${lever.why}${whatWaits(member, accepted)}`;
  if (lever.mistaken === true) return { state: 'Stalled', reason: lever.reason, message };
  if (lever.kind !== 'Observe') return waiting(lever.reason, message);
  if (member.serving) return { state: 'Ready', reason: lever.reason, message };
  return waiting(lever.reason, `${message}; there is nothing of it yet`);
}

/** Of a stack that others share, nothing can be given up alone. */
function givenUp<O>({ reason, why }: Lever, { input }: MemberFacts<O>, accepted: AcceptedInputs | undefined): Verdict {
  if (accepted?.[input.uid] === undefined) return { state: 'Ready', reason, message: why };
  return waiting(reason, 'it shares its load balancer with others: that is given up when spec.managementPolicy of all of them is Released');
}

function whatWaits<O>({ deleting, input }: MemberFacts<O>, accepted: AcceptedInputs | undefined): string {
  if (deleting) return '; its deletion waits';
  const before = accepted?.[input.uid];
  return before === undefined || canonicalJson(before) === canonicalJson(input) ? '' : '; a change of its spec waits';
}

function stalled(reason: string, text: string, serving: boolean): Verdict {
  return { state: 'Stalled', reason, message: serving ? `${sentence(text)} The last good version keeps serving.` : text };
}

function waiting(reason: string, message: string): Extract<Verdict, { state: 'Reconciling' }> {
  return { state: 'Reconciling', reason, message };
}

function errorsOf<O>(member: MemberFacts<O>): Problem[] {
  return member.problems.filter((problem) => problem.severity === 'Error');
}
