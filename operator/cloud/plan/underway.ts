import { hashWithoutTargets, withoutTargetsOf } from '../stack/hash-without-targets';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf, standingOf } from '../stack/stack-parts';
import type { Part } from '../stack/stack-plan';
import type { ApprovalPass } from './stack-approvals';

type Pass<O> = Pick<ApprovalPass<O>, 'plan' | 'state' | 'cloud' | 'updateOf'>;

/**
 * True when the update that would make the candidates of these parts, and of those that no update leaves out, and of all else what was accepted, was approved, and
 * stopped halfway with the operator. A Node that came meanwhile makes no other one of it.
 */
export function isUnderway<O extends Member>(
  { plan, state, cloud, updateOf }: Pass<O>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
  chosen: readonly Part<O>[],
): boolean {
  if (state?.open !== true || state.underway === undefined) return false;
  const update = updateOf(inputsOf(plan, [...chosen, ...standingOf(plan)]));
  return hashWithoutTargets(update, withoutTargetsOf(kind, cloud)) === state.underway;
}

/** What is open was approved, and this pass goes on with it. */
export function goesOn<O extends Member>(pass: Pass<O>, kind: Pick<StackKind<O>, 'withoutTargets'>): boolean {
  return isUnderway(pass, kind, []) || pass.plan.parts.some((part) => isUnderway(pass, kind, [part]));
}
