import type { PlannedOperation } from '../../../crds';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { Plan } from '../../updates/plan';
import type { MemberInput } from '../stack/member-input';
import type { Member, StackKind } from '../stack/stack-kind';
import { suspectsOf, type UpdatePlan } from '../stack/stack-parts';
import type { Part } from '../stack/stack-plan';
import { mustBeAsked } from './approval';
import { cutIn, type Cut } from './cut';
import type { ApprovalPass } from './stack-approvals';
import { goesOn } from './underway';

/** What every update of a stack does, whoever asks for it. */
export interface Unasked<O> {
  /** Members whose accepted inputs can't be made any more stand: no update leaves out what they ask for now. */
  plan: UpdatePlan<O>;
  /** Absent = nobody loses anything. */
  cut?: Cut;
}

export interface UnaskedOptions<O extends Member> {
  kind: StackKind<O>;
  /** What an update of these inputs would do; nothing is made again because it was found changed. */
  plan: (inputs: MemberInput[]) => Promise<Plan>;
}

/** What brings a stack to the settings, the program and the cloud of today; `standing` where what they had before can't be brought there. */
type Today<O> = Pick<Plan, 'operations'> | { standing: Part<O>[] };

/**
 * What other settings, a newer program, or a change that somebody has made in the cloud would take away from those that stay. Only a plan can tell, and it is made
 * only where somebody would have to be asked (docs/decisions/0023-consent-in-place-of-protection.md).
 * @throws OperatorError when no plan can be made
 */
export async function unaskedOf<O extends Member>(pass: ApprovalPass<O>, { kind, plan: planFor }: UnaskedOptions<O>): Promise<Unasked<O>> {
  const { plan, cloud, state } = pass;
  const made = Object.values(state?.accepted ?? {}) as unknown as MemberInput[];
  if (kind.lossBy === undefined || !plan.engine || made.length === 0 || !isAnybodyAsked(pass, kind)) return { plan };
  const remade = pass.remade();
  const why = remade ?? whyOtherwise(pass, kind);
  if (why === undefined) return { plan };
  const today = await planOfToday(made, plan, planFor).catch((thrown: unknown): Today<O> => {
    const error = toOperatorError(thrown);
    const standing = error.code === 'Invalid' ? withoutWayBack(plan, kind.attribute(error, made, cloud)) : [];
    if (standing.length === 0) throw error;
    return { standing };
  });
  if ('standing' in today) return { plan: withStanding(plan, today.standing) };
  const lossBy = (operation: PlannedOperation): string | undefined =>
    // What nobody knew of, such as the twin of an interrupted create, goes.
    remade === undefined && operation.op !== 'replace' ? undefined : kind.lossBy?.(operation, cloud);
  const cut = cutIn({
    why,
    operations: today.operations,
    staying: [...atStake(plan).flatMap(({ accepted }) => accepted ?? []), ...plan.missing, ...plan.elsewhere],
    askable: new Set(askable(plan).map(({ object }) => object.metadata.uid)),
    lossBy,
    ownersOf: ({ urn }) => kind.attribute(new OperatorError('Unknown', '', { resource: urn }), made, cloud),
  });
  return { plan, ...(cut !== undefined && { cut }) };
}

/** Parts of a plan who can be asked before something of theirs is cut. Pure. */
export function askable<O extends Member>(plan: Pick<UpdatePlan<O>, 'parts'>): Part<O>[] {
  return atStake(plan).filter(({ object }) => object.metadata.deletionTimestamp === undefined);
}

function atStake<O>({ parts }: Pick<UpdatePlan<O>, 'parts'>): Part<O>[] {
  return parts.filter(({ accepted }) => accepted !== undefined);
}

/** False where all that have something have given consent beforehand: of those who can't be asked nobody has. */
function isAnybodyAsked<O extends Member>({ plan, cloud }: ApprovalPass<O>, kind: StackKind<O>): boolean {
  const asked = askable(plan);
  if (plan.missing.length + plan.elsewhere.length > 0 || asked.length < atStake(plan).length) return true;
  return asked.some(({ object }) => mustBeAsked(kind.updatePolicy?.(object, cloud.spec)));
}

/** Why the cloud may have something else than what was accepted, and nobody asks for that: the beginning of a sentence. */
function whyOtherwise<O extends Member>(pass: ApprovalPass<O>, kind: StackKind<O>): string | undefined {
  if (isFoundChanged(pass)) return 'the cloud was changed by somebody else';
  return isLeftOfApproved(pass, kind) ? 'an update that was approved has stopped halfway' : undefined;
}

/** It was written into the state, or is about to be. While an update is open, it may be what that has left, unless there is nobody whose it could be. */
function isFoundChanged<O>({ state, drifted, plan }: ApprovalPass<O>): boolean {
  if (state?.open !== true) return state !== undefined && (drifted || state.inputsHash === '');
  return drifted && state.underway === undefined && state.departures === undefined && isAtRest(plan);
}

/** Nobody asks for anything that could have been begun, nor has asked for what failed. */
function isAtRest<O>(plan: UpdatePlan<O>): boolean {
  return suspectsOf(plan).length === 0 && plan.parts.every(({ candidate, held }) => candidate !== undefined || held === true);
}

/** An approved update has stopped halfway, and neither goes on nor is there anybody who is asked for what it was for. */
function isLeftOfApproved<O extends Member>(pass: ApprovalPass<O>, kind: StackKind<O>): boolean {
  const { state, plan, cloud } = pass;
  if (state?.open !== true || (state.underway === undefined && state.departures === undefined)) return false;
  const isAsked = ({ object, replacement, standing }: Part<O>): boolean =>
    replacement !== undefined || standing === true || kind.updatePolicy?.(object, cloud.spec)?.approval === 'Manual';
  return !suspectsOf(plan).some(isAsked) && !goesOn(pass, kind);
}

/** With those that go as well, so that what goes with them is not taken for a loss, unless it is theirs that can't be made any more. */
async function planOfToday<O extends Member>(
  made: MemberInput[],
  { leaving, departing }: UpdatePlan<O>,
  planFor: UnaskedOptions<O>['plan'],
): Promise<Pick<Plan, 'operations'>> {
  const going = [...leaving.map(({ metadata }) => metadata.uid), ...departing.map(({ uid }) => uid)];
  const staying = made.filter(({ uid }) => !going.includes(uid));
  return planFor(made).catch((thrown: unknown) => {
    if (toOperatorError(thrown).code !== 'Invalid' || staying.length === made.length || staying.length === 0) throw thrown;
    return planFor(staying);
  });
}

/**
 * Those that ask for something else than what can't be made any more.
 * @param blamed UIDs of those whose fault that is; empty = it could be any of them
 */
function withoutWayBack<O extends Member>(plan: UpdatePlan<O>, blamed: readonly string[]): Part<O>[] {
  return atStake({ parts: suspectsOf(plan) }).filter(({ object }) => blamed.length === 0 || blamed.includes(object.metadata.uid));
}

function withStanding<O>(plan: UpdatePlan<O>, standing: readonly Part<O>[]): UpdatePlan<O> {
  return { ...plan, parts: plan.parts.map((part) => (standing.includes(part) ? { ...part, standing: true } : part)) };
}
