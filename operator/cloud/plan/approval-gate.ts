import { ANNOTATIONS, type WaitingPlan } from '../../../crds';
import { OperatorError, toOperatorError, type ErrorCode } from '../../base/errors';
import { canonicalJson } from '../../base/json';
import type { EventRecorder } from '../../kube/api';
import { keyOf } from '../../kube/object';
import { capped, summaryOf, type Plan } from '../../updates/plan';
import { sentence, verdictOfError, type Verdict } from '../conditions';
import type { MemberInput } from '../stack/member-input';
import type { Member } from '../stack/stack-kind';
import { inputsOf, standingOf, suspectsOf, type UpdatePlan } from '../stack/stack-parts';
import { STACK_HELD, type Part } from '../stack/stack-plan';
import { unprotected } from './approval-guard';
import { approvalMessage } from './approval-message';

/** What one pass over a stack says of its members' changes. */
export interface GateFacts<O> {
  stack: string;
  plan: UpdatePlan<O>;
  /** Why the part must be approved; undefined = it need not. */
  why: (part: Part<O>) => string | undefined;
  /** Why the part must wait for a maintenance window; undefined = it need not. */
  closed: (part: Part<O>) => string | undefined;
  serving: (object: O) => boolean;
  /** Its approvals may come from anybody. Asked only of parts that wait. */
  unprotected: (part: Part<O>) => Promise<string | undefined>;
  /** Whatever update runs, it would be cut by what no spec asks for: what is planned for it, and approved, is that alone. */
  cut: (part: Part<O>) => boolean;
  /** There are other Nodes, which nobody has to approve; absent = there are not. */
  follows?: boolean;
  /** What an update with these inputs, which are for the part, would do. */
  preview: (inputs: MemberInput[], part: Part<O>) => Promise<Plan>;
  /** The failure of that preview is the part's, and nobody else's. */
  isOwn: (error: OperatorError, inputs: MemberInput[], part: Part<O>) => boolean;
  /** Told of a failure that is said to its own part alone, and that nobody else will try again. */
  unplanned: (error: OperatorError) => void;
}

/** What may be done now. */
export interface Gated<O> {
  /** Its parts that must wait have verdicts that say so. */
  plan: UpdatePlan<O>;
  /** The hash that a person has approved: the update is exactly that plan, or fails. */
  approved?: string;
  /**
   * UIDs of the owners whose own resources the update may replace, as the cloud's marks name them; absent = everything: what it replaces was planned, or all
   * have allowed it beforehand.
   */
  replaces?: readonly string[];
  /** False: nothing is left for an update. */
  run: boolean;
  waiting: WaitingPlan[];
  /** What waits for a maintenance window, and for no person; absent = nothing does. */
  held?: HeldByWindow;
  /** What is said to those that are to go, and can't without that which waits; absent = they go. */
  leaving?: HeldUp;
  /** What is said of the stack itself, where nobody's plan says why nothing is done; absent = as it is. */
  rests?: HeldUp;
}

type HeldUp = Extract<Verdict, { state: 'Reconciling' }>;

export interface HeldByWindow {
  /** namespace/name of the object whose change waits. */
  member: string;
  /** Until when, and why. */
  message: string;
}

const AWAITING_WINDOW = 'AwaitingWindow';
const AWAITING_APPROVAL = 'AwaitingApproval';
/** Why a plan can't be made which says nothing of the others, whatever it names. */
const OWN_FAULT: readonly ErrorCode[] = ['Invalid', 'Taken'];

type GatedPart<O> = { part: Part<O>; why: string | undefined; closed: string | undefined };

/** What a part's update would do, or why that can't be planned. */
type PlanFor<O> = (part: Part<O>) => Promise<Plan | OperatorError>;

/** A part that must wait, with its plan where a person has to approve it. */
interface Waiting<O> {
  part: Part<O>;
  verdict: Verdict;
  plan?: WaitingPlan;
}

/** Lets nothing to the cloud that a person must approve first, and has not and nothing before its window opens (design: Levers). */
export class ApprovalGate<O extends Member> {
  /** Hash of the plan that was last told of, by UID. */
  private readonly told = new Map<string, string>();

  constructor(private readonly events: EventRecorder) {}

  /** @throws OperatorError when a plan can't be made for a reason that is nobody's fault */
  async open(facts: GateFacts<O>): Promise<Gated<O>> {
    const { plan } = facts;
    const gated = plan.parts.flatMap((part) => {
      const [why, closed] = [facts.why(part), facts.closed(part)];
      return why === undefined && closed === undefined ? [] : [{ part, why, closed }];
    });
    plan.parts.filter((part) => !gated.some((one) => one.part === part)).forEach(({ object }) => this.told.delete(object.metadata.uid));
    if (gated.length === 0) return { plan, run: true, waiting: [] };
    // What no update may leave out is done together, or not at all.
    const together = gated.map(({ part }) => part).filter((part) => part.standing === true || facts.cut(part));
    let ofCut: Promise<Plan | OperatorError> | undefined;
    const planFor: PlanFor<O> = (part) => (facts.cut(part) ? (ofCut ??= this.plan(facts, part)) : this.plan(facts, part));
    let nothing = false;
    const waiting: Waiting<O>[] = [];
    for (const one of gated) {
      const judged = await this.judge(facts, one, { together, planFor });
      if (judged === 'Nothing') nothing = true;
      else if ('approved' in judged) return this.approved(facts, one.part, judged.approved);
      else waiting.push(judged);
    }
    return this.held(facts, waiting, nothing);
  }

  /** The object with this UID is gone. */
  forget(uid: string): void {
    this.told.delete(uid);
  }

  /** Nobody is left who could be asked for what every update of the stack would do. @param why in words */
  shut({ plan, serving }: Pick<GateFacts<O>, 'plan' | 'serving'>, why: string): Gated<O> {
    const verdict: HeldUp = { state: 'Reconciling', reason: STACK_HELD.reason, message: why };
    const parts = plan.parts.map((part) => (isAccepted(part) ? part : without(part, { ...verdict, serving: serving(part.object) })));
    return { plan: { ...plan, parts }, run: false, waiting: [], leaving: verdict, rests: { ...verdict, serving: true } };
  }

  /** @param nothing something was looked at that changes nothing, so that an update may run for it */
  private held(facts: GateFacts<O>, waiting: readonly Waiting<O>[], nothing: boolean): Gated<O> {
    const { plan } = facts;
    const cutting = waiting.find(({ part }) => facts.cut(part));
    const holder = cutting ?? waiting.find(({ part }) => part.standing === true);
    const others = holder === undefined ? undefined : heldBy(holder);
    const parts = plan.parts.map((part) => {
      const own = waiting.find((one) => one.part === part);
      if (own !== undefined) return without(part, beside(part.verdict, own.verdict));
      const asksForNothing = part.candidate === undefined || (cutting !== undefined && isAccepted(part));
      return others !== undefined && !asksForNothing ? without(part, { ...others, serving: facts.serving(part.object) }) : part;
    });
    const left = { ...plan, parts };
    const held = waiting.find(({ verdict }) => verdict.reason === AWAITING_WINDOW);
    const lacking = waiting.flatMap(({ part, plan: of }) => (of === undefined ? [] : [{ of, given: approvalOf(part.object) === of.hash }]));
    return {
      ...(held !== undefined && { held: { member: keyOf(held.part.object.metadata), message: held.verdict.message } }),
      ...(others !== undefined && { leaving: others }),
      plan: left,
      run:
        (nothing || facts.follows === true || suspectsOf(left).length + plan.leaving.length + plan.departing.length > 0) &&
        others === undefined,
      // Whose approval is still wanted is shown first: not all of many are.
      waiting: [...lacking.filter(({ given }) => !given), ...lacking.filter(({ given }) => given)].map(({ of }) => of),
    };
  }

  /** A plan may be approved while no window is open. @param together those of whom none can be left out */
  private async judge(
    facts: GateFacts<O>,
    { part, why, closed }: GatedPart<O>,
    { together, planFor }: { together: readonly Part<O>[]; planFor: PlanFor<O> },
  ): Promise<Waiting<O> | { approved: string } | 'Nothing'> {
    const serving = facts.serving(part.object);
    const what = isAccepted(part) ? 'what differs in the cloud, or a newer program would make otherwise,' : 'a change of its spec';
    if (why === undefined) return this.waitForWindow(part, `${what} waits: ${closed}`, serving);
    const open = await facts.unprotected(part);
    if (open !== undefined) return { part, verdict: { ...unprotected(open), serving } };
    const found = await planFor(part);
    if (found instanceof OperatorError) return { part, verdict: verdictOfError(found, serving) };
    if (found.operations.length === 0 && (isAccepted(part) || facts.cut(part))) return 'Nothing';
    if ([part, ...together].some(({ object }) => approvalOf(object) !== found.hash))
      return this.wait(facts, { part, why, closed, plan: found });
    return closed === undefined
      ? { approved: found.hash }
      : this.waitForWindow(part, `plan ${found.hash} is approved, and waits: ${closed}`, serving);
  }

  private waitForWindow(part: Part<O>, message: string, serving: boolean): Waiting<O> {
    const { uid } = part.object.metadata;
    if (this.told.get(uid) !== message) this.events.event(part.object, 'Normal', AWAITING_WINDOW, message);
    this.told.set(uid, message);
    return { part, verdict: { state: 'Reconciling', reason: AWAITING_WINDOW, message, serving } };
  }

  /** Everybody else stays as it is meanwhile, so that what is done is what was approved. */
  private approved({ plan, cut }: GateFacts<O>, chosen: Part<O>, hash: string): Gated<O> {
    const who = keyOf(chosen.object.metadata);
    const message = `The stack first carries out plan ${hash} of ${who}`;
    const parts = plan.parts.map((part) => {
      if ((part === chosen && !cut(part)) || part.standing === true || isAccepted(part)) return part;
      return without(part, { state: 'Reconciling', reason: 'Updating', message, serving: part.accepted !== undefined });
    });
    return { plan: { ...plan, parts }, approved: hash, run: true, waiting: [] };
  }

  /** @returns the failure where it is the candidate's own fault */
  private async plan({ plan, cut, preview, isOwn, unplanned }: GateFacts<O>, part: Part<O>): Promise<Plan | OperatorError> {
    const isCut = cut(part);
    const chosen = [...(isCut ? [] : [part]), ...standingOf(plan).filter((other) => other !== part)];
    const alone = plan.parts.map((other) => (chosen.includes(other) ? other : accepted(other)));
    const inputs = inputsOf({ ...plan, parts: alone }, chosen);
    try {
      return await preview(inputs, isCut ? accepted(part) : part);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      // What is cut is cut for all, and who is alone holds up nobody.
      const isItsOwn = !isCut && plan.parts.length > 1 && isOwn(error, inputs, part);
      if (!OWN_FAULT.includes(error.code) && !isItsOwn) throw error;
      unplanned(error);
      return error;
    }
  }

  private wait({ stack, serving }: GateFacts<O>, { part, why, closed, plan }: GatedPart<O> & { why: string; plan: Plan }): Waiting<O> {
    const { object } = part;
    const { hash } = plan;
    const summary = summaryOf(plan);
    const member = keyOf(object.metadata);
    const message = approvalMessage({ stack, object, hash, summary, why, given: approvalOf(object), closed });
    if (this.told.get(object.metadata.uid) !== hash) {
      this.events.event(object, 'Normal', AWAITING_APPROVAL, `Plan ${hash} waits for approval, since ${why}: ${summary}`);
      this.told.set(object.metadata.uid, hash);
    }
    const verdict: Verdict = { state: 'Reconciling', reason: AWAITING_APPROVAL, message, serving: serving(object) };
    return { part, verdict, plan: { member, hash, reason: why.slice(0, 1024), summary, ...capped(plan.operations) } };
  }
}

function approvalOf(object: Member): string | undefined {
  return object.metadata.annotations?.[ANNOTATIONS.approve]?.trim();
}

/** What is said to the others of a stack of which nothing may be done before one of them goes on. Who waits for that by consent is told apart from who waits for a failure. */
function heldBy<O extends Member>({ part, verdict }: Waiting<O>): HeldUp {
  const who = keyOf(part.object.metadata);
  const all = 'every update of the stack would do what waits';
  if (verdict.reason === AWAITING_APPROVAL) {
    const message = `${all} for approval at ${who}; this goes on once that is approved, or no longer so`;
    return { state: 'Reconciling', reason: 'StackAwaitingApproval', message };
  }
  const reason = verdict.reason === AWAITING_WINDOW ? AWAITING_WINDOW : STACK_HELD.reason;
  return { state: 'Reconciling', reason, message: `${all} at ${who}: ${verdict.message}` };
}

/** What a lever holds of it stays so. */
function without<O>({ object, accepted: before, targets, held }: Part<O>, verdict: Verdict): Part<O> {
  return { object, verdict, ...(targets && { targets }), ...(held && { held }), ...(before === undefined ? {} : { accepted: before }) };
}

function accepted<O>({ object, accepted: before }: Part<O>): Part<O> {
  return { object, ...(before === undefined ? {} : { accepted: before }) };
}

/** Its spec asks for nothing new, or can't be tried now. */
function isAccepted<O>({ candidate, accepted: before }: Part<O>): boolean {
  return candidate === undefined || canonicalJson(candidate) === canonicalJson(before);
}

/** Why its spec can't be tried now is said first, where that is so. */
function beside(own: Verdict | undefined, waits: Verdict): Verdict {
  return own === undefined ? waits : { ...own, message: `${sentence(own.message)} Besides: ${waits.message}` };
}
