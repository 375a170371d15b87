import type { DiscoveredResource, Replacement } from '../../../providers/provider';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import { hashJson } from '../../base/json';
import type { EventRecorder } from '../../kube/api';
import type { Plan } from '../../updates/plan';
import { updateHash } from '../../updates/update-hash';
import type { StackState, StackUpdate, UpdateHooks, Updates } from '../../updates/update';
import type { MemberInput } from '../stack/member-input';
import type { CloudRegistry, ConnectedCloud } from '../providers/registry';
import { isBlamable, isPermission } from '../stack/blame';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf, standingOf, suspectsOf, type UpdatePlan } from '../stack/stack-parts';
import type { ApprovalGuard } from './approval-guard';
import type { Part } from '../stack/stack-plan';
import { untilWindow, windowOf } from '../windows/windows-of';
import { isChange, lossIn, whyApproval, type ApprovalFacts, type UpdatePolicy } from './approval';
import { ApprovalGate, type Gated } from './approval-gate';
import type { Cut } from './cut';
import { PlanCache } from './plan-cache';
import { beginsMove, planOfMove, promising } from './promise';
import { replaceableIn } from './replaceable';
import { askable, unaskedOf, type Unasked } from './unasked';
import { pendingIn, type Pending } from './pending';
import { hasBegun, isUnderway, underwayIn } from './underway';

export interface StackApprovalsOptions<O extends Member> {
  kind: StackKind<O>;
  registry: Pick<CloudRegistry, 'accounts'>;
  updates: Updates;
  events: EventRecorder;
  guard: Pick<ApprovalGuard, 'problem'>;
  /** Asks for another pass over a stack after so many milliseconds. */
  again: (stack: string, afterMs: number) => void;
  clock: Pick<Clock, 'now'>;
}

/** Nobody tells us when the guard is installed. */
const GUARD_POLL_MS = 10_000;
/** Nor when somebody gives up what a plan asks for. */
const TAKEN_POLL_MS = 60_000;
/** Nor of what else a plan lacks in the cloud: a subnet, a role. As often as what was refused is tried again. */
const UNPLANNED_POLL_MS = 300_000;

/** One pass over a stack that would change something. */
export interface ApprovalPass<O> {
  stack: string;
  plan: UpdatePlan<O>;
  cloud: ConnectedCloud;
  state: StackState | undefined;
  /** What the cloud has, where no state says it: a plan depends on that. */
  found: readonly DiscoveredResource[] | undefined;
  /** The cloud was found changed. */
  drifted: boolean;
  /** Of an update of these inputs. */
  hooksOf: (inputs: readonly MemberInput[]) => UpdateHooks;
  serving: (object: O) => boolean;
  updateOf: (inputs: MemberInput[]) => StackUpdate;
  /** Why what was accepted is made otherwise by now, for another reason than the Nodes: the beginning of a sentence; undefined = it isn't. */
  remade: () => string | undefined;
  /** How the stack that an object moves away from gives it up. @throws OperatorError when that can't be said now */
  givingUp: (object: O) => GivingUp | undefined;
}

/** The update of a stack that gives something up. */
export interface GivingUp {
  state: StackState | undefined;
  found?: readonly DiscoveredResource[] | undefined;
  update: StackUpdate;
  hooks: UpdateHooks;
}

/** Finds out which changes of a stack wait for a person, and what they would do. */
export class StackApprovals<O extends Member> {
  private readonly gate: ApprovalGate<O>;
  private readonly cache = new PlanCache();

  constructor(private readonly options: StackApprovalsOptions<O>) {
    this.gate = new ApprovalGate(options.events);
  }

  /** @throws OperatorError when a plan can't be made */
  async open(pass: ApprovalPass<O>): Promise<Gated<O>> {
    const { plan: wanted, cut } = await this.unasked(pass);
    const gated = await this.gated({ ...pass, plan: wanted }, cut);
    const plan = promising(gated.plan, this.options.clock.now());
    if (plan === gated.plan) return gated;
    // What was approved is made once the old stack has given up what exists only once.
    const made: Gated<O> = { ...gated, plan };
    delete made.approved;
    return made;
  }

  private async gated(pass: ApprovalPass<O>, cut: Cut | undefined): Promise<Gated<O>> {
    const { stack, plan, cloud, serving } = pass;
    const cutParts = cut === undefined ? [] : partsCut(plan, cut);
    if (cut !== undefined && cutParts.length === 0) return this.gate.shut({ plan, serving }, nobodyToAsk(cut));
    const policyOf = (object: O): UpdatePolicy | undefined => this.options.kind.updatePolicy?.(object, cloud.spec);
    const windows = this.closedWindows(pass);
    const manual = plan.parts.some(({ object }) => policyOf(object)?.approval === 'Manual');
    const changes: Pending = manual || windows.size > 0 ? asked(pendingIn(pass, this.options.kind), manual) : 'Nothing';
    const pending = changes === 'More';
    const loss = await this.lossOf(pass);
    const isCut = (part: Part<O>): boolean => cutParts.includes(part);
    const goesOn = cut !== undefined && isUnderway(pass, this.options.kind, []);
    const going = underwayIn(pass, this.options.kind);
    const why = (part: Part<O>): string | undefined => {
      const policy = policyOf(part.object);
      if (cut !== undefined && isCut(part)) return whyCut(cut, { part: asAccepted(part), pending: true, policy, underway: goesOn });
      const replacement = part.replacement ?? (part.standing === true ? loss : undefined);
      return whyApproval({ part, pending, policy, replacement, underway: going.includes(part) });
    };
    let begun: readonly Part<O>[] | undefined;
    // A window that closes stops nothing that has begun; who must be asked by now is.
    const isBegun = (part: Part<O>): boolean => {
      if (begun === undefined) {
        const asking = suspectsOf(plan).filter((one) => !isCut(one) && why(one) === undefined);
        begun = hasBegun(pass, this.options.kind, asking) ? asking : [];
      }
      return begun.includes(part);
    };
    let problem: Promise<string | undefined> | undefined;
    const gated = await this.gate.open({
      stack,
      plan,
      serving: (object) => serving(object),
      cut: (part) => isCut(part) && !goesOn,
      follows: changes === 'Nodes' || changes === 'Begun',
      unprotected: async ({ object }) => {
        if (policyOf(object)?.approval !== 'Manual') return undefined;
        problem ??= this.options.guard.problem();
        const found = await problem;
        if (found !== undefined) this.options.again(stack, GUARD_POLL_MS);
        return found;
      },
      why,
      closed: (part) => {
        const facts = isCut(part)
          ? { part: asAccepted(part), pending: true, underway: goesOn }
          : { part, pending, underway: going.includes(part) || (windows.has(part) && isBegun(part)) };
        return isChange(facts) ? windows.get(part) : undefined;
      },
      preview: (inputs, part) => this.planOf(pass, inputs, part),
      isOwn: (error, inputs, { object }) => this.blamed(error, inputs, cloud).includes(object.metadata.uid),
      unplanned: ({ code }) => this.options.again(stack, code === 'Taken' ? TAKEN_POLL_MS : UNPLANNED_POLL_MS),
    });
    const consented = gated.approved !== undefined || goesOn || gated.plan.parts.some((part) => going.includes(part));
    return { ...gated, ...(!consented && replaceableIn(plan, this.options.kind, cloud)) };
  }

  /** All that an update with what was accepted would change is which Nodes there are. */
  follows(pass: Pick<ApprovalPass<O>, 'plan' | 'state' | 'drifted' | 'cloud' | 'updateOf'>): boolean {
    return pendingIn(pass, this.options.kind) === 'Nodes';
  }

  /** What an update with these inputs, which are for the part, would do. */
  private async planOf(pass: ApprovalPass<O>, inputs: MemberInput[], part: Part<O>): Promise<Plan> {
    const { state, found } = pass;
    const made = await this.preview({ state, found, hooks: pass.hooksOf(inputs), update: pass.updateOf(inputs) });
    const giving = beginsMove(part) ? pass.givingUp(part.object) : undefined;
    return giving === undefined ? made : planOfMove(made, { stack: giving.update.stack, plan: await this.preview(giving) });
  }

  /** UIDs of those whose fault it is that a plan of these inputs can't be made; empty = it is nobody's, or not known. */
  private blamed(error: OperatorError, inputs: MemberInput[], cloud: ConnectedCloud): string[] {
    const { kind, registry } = this.options;
    const isSomebodys = isBlamable(error) || isPermission(error, cloud.name, registry.accounts);
    return isSomebodys ? kind.attribute(error, inputs, cloud) : [];
  }

  /** Why each part of whose windows none is open must wait; the stack is looked at again when the first one opens. */
  private closedWindows({ stack, plan, cloud }: ApprovalPass<O>): Map<Part<O>, string> {
    const now = this.options.clock.now();
    const found = new Map<Part<O>, string>();
    for (const part of plan.parts) {
      const limits = this.options.kind.newAtOnce === true && isNew(part) ? undefined : cloud;
      const window = windowOf(part.object, limits, now);
      if (window.state === 'Open') continue;
      found.set(part, window.state === 'Closed' ? window.why : 'its maintenance windows never open');
      if (window.state === 'Closed') this.options.again(stack, untilWindow([part.object], limits, now));
    }
    return found;
  }

  /** Where no state says what serves, only a plan can tell whether that would be replaced (design: Crashes and drift). */
  private async lossOf(pass: ApprovalPass<O>): Promise<Replacement | undefined> {
    const { plan, cloud, state, found, hooksOf, updateOf } = pass;
    const isAsked = ({ object }: Part<O>): boolean => {
      const { approval, replace } = this.options.kind.updatePolicy?.(object, cloud.spec) ?? {};
      return approval !== 'Manual' && replace !== 'Allow';
    };
    if (!standingOf(plan).some(isAsked)) return undefined;
    const inputs = inputsOf(plan, suspectsOf(plan));
    const update = updateOf(inputs);
    return lossIn((await this.preview({ state, found, hooks: hooksOf(inputs), update })).operations, whyStanding(plan, update));
  }

  private unasked(pass: ApprovalPass<O>): Promise<Unasked<O>> {
    const { state, found, hooksOf, updateOf } = pass;
    const plan = (inputs: MemberInput[]): Promise<Plan> =>
      this.preview({ state, found, hooks: hooksOf(inputs), update: { ...updateOf(inputs), force: false } });
    return unaskedOf(pass, { kind: this.options.kind, plan });
  }

  private preview({ state, found, update, hooks }: GivingUp): Promise<Plan> {
    const key = `${updateHash(update)}${found === undefined ? '' : ` ${hashJson(found)}`}`;
    return this.cache.plan(update.stack, state, key, () => this.options.updates.preview(update, hooks));
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.cache.forget(stack);
  }

  /** The object with this UID is gone. */
  forgetMember(uid: string): void {
    this.gate.forget(uid);
  }
}

/** Nothing of it is in the cloud yet. */
function isNew<O>({ accepted, standing }: Part<O>): boolean {
  return accepted === undefined && standing !== true;
}

/** To have begun is no consent. */
function asked(pending: Pending, manual: boolean): Pending {
  return pending === 'Begun' && manual ? 'More' : pending;
}

/** Why nothing says how it would be made as it is: the beginning of a sentence. */
function whyStanding<O>(plan: UpdatePlan<O>, { adopts }: StackUpdate): string {
  if (adopts === true) return 'it is taken over from others';
  const isKnown = standingOf(plan).every(({ accepted }) => accepted !== undefined);
  return isKnown ? 'as it was made before, it can’t be made any more' : 'the state of what serves was lost';
}

/** Those that are asked before something is cut: who loses by it, or, where none of these is left, all that share the update. */
function partsCut<O extends Member>(plan: UpdatePlan<O>, { members }: Cut): Part<O>[] {
  const all = askable(plan);
  const own = all.filter(({ object }) => members.has(object.metadata.uid));
  return own.length > 0 ? own : all;
}

/** Consent that was given beforehand does for oneself alone. */
function whyCut<O>({ replacement, silent }: Cut, facts: Omit<ApprovalFacts<O>, 'replacement'>): string | undefined {
  const why = whyApproval({ ...facts, replacement });
  if (why !== undefined || silent === undefined || !isChange(facts)) return why;
  return `${replacement.why}, of whom ${silent} can’t be asked`;
}

function nobodyToAsk({ replacement }: Cut): string {
  return (
    `nothing is updated: ${replacement.why}, and none of those can be asked. Make their objects again, let those that move to another ` +
    `placement go there, or release what nobody needs (the CloudStack’s condition MemberMissing says how)`
  );
}

/** What it has is at stake, whatever its spec asks for by now, and also where a lever keeps it as it is. */
function asAccepted<O>({ object, accepted }: Part<O>): Part<O> {
  return { object, ...(accepted !== undefined && { accepted, candidate: accepted }) };
}
