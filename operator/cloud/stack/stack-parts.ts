import { CLEANUP_FINALIZER } from '../../../crds';
import { canonicalJson, type JsonObject } from '../../base/json';
import type { MemberInput } from './member-input';
import type { Member } from './stack-kind';
import type { Part, StackPlan } from './stack-plan';

export type UpdatePlan<O> = Extract<StackPlan<O>, { kind: 'Update' }>;

/** Parts whose candidate is not what the cloud was last brought to: when an update fails, they are asked first. Pure. */
export function suspectsOf<O>({ parts }: UpdatePlan<O>): Part<O>[] {
  return parts.filter(({ candidate, accepted }) => candidate !== undefined && canonicalJson(candidate) !== canonicalJson(accepted));
}

/** Parts that no update may leave out. Pure. */
export function standingOf<O>({ parts }: UpdatePlan<O>): Part<O>[] {
  return parts.filter(({ standing, candidate }) => standing === true && candidate !== undefined);
}

/**
 * What an update renders: the candidates that are not under suspicion, those of the chosen suspects, and of all others the accepted inputs,
 * else nothing (design: Stacks). Pure.
 */
export function inputsOf<O>(plan: UpdatePlan<O>, chosen: readonly Part<O>[]): MemberInput[] {
  const suspects = suspectsOf(plan);
  const own = plan.parts.flatMap((part) => inputOfPart(part, !suspects.includes(part) || chosen.includes(part)) ?? []);
  return [...own, ...plan.missing, ...plan.elsewhere];
}

/** @param trusted whether the candidate may be rendered */
export function inputOfPart<O>({ candidate, accepted }: Part<O>, trusted: boolean): MemberInput | undefined {
  return trusted ? (candidate ?? accepted) : accepted;
}

/** The inputs as they are kept with the stack's state. Pure. */
export function acceptedOf(inputs: readonly MemberInput[]): JsonObject {
  return Object.fromEntries(inputs.map((input) => [input.uid, input as unknown as JsonObject]));
}

/** Who was seen before has our finalizer from then; without state, that was lost. Pure. */
export function mayExist<O extends Member>({ parts }: UpdatePlan<O>): boolean {
  return parts.some(({ object }) => object.metadata.finalizers?.includes(CLEANUP_FINALIZER));
}

/** Something of the stack has to go. */
export function anyIsLeaving(members: readonly Member[]): boolean {
  return members.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}
