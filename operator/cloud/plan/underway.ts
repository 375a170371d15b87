import { OperatorError } from '../../base/errors';
import { hashWithoutTargets, withoutTargetsOf } from '../stack/hash-without-targets';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf, standingOf, suspectsOf } from '../stack/stack-parts';
import type { Part } from '../stack/stack-plan';
import type { ApprovalPass } from './stack-approvals';

type Pass<O> = Pick<ApprovalPass<O>, 'plan' | 'state' | 'cloud' | 'updateOf'>;

/**
 * True when the update that would make the candidates of these parts, and of those that no update leaves out, and of all else what was accepted, was approved, and
 * stopped halfway with the operator. A Node that came meanwhile makes no other one of it.
 */
export function isUnderway<O extends Member>(
  pass: Pass<O>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
  chosen: readonly Part<O>[],
): boolean {
  const { state } = pass;
  return state?.open === true && state.underway !== undefined && hashOf(pass, kind, chosen) === state.underway;
}

/** The parts for which an update that was approved is under way. Each of those that ask for nothing of their own would make the same one. */
export function underwayIn<O extends Member>(pass: Pass<O>, kind: Pick<StackKind<O>, 'withoutTargets'>): Part<O>[] {
  const asking = askingIn(pass);
  let common: boolean | undefined;
  return pass.plan.parts.filter((part) => (asking.has(part) ? isUnderway(pass, kind, [part]) : (common ??= isUnderway(pass, kind, []))));
}

/** The update that would make the candidates of these parts, and of all else what was accepted, is the one that has begun and did not end, approved or not. */
export function hasBegun<O extends Member>(pass: Pass<O>, kind: Pick<StackKind<O>, 'withoutTargets'>, chosen: readonly Part<O>[]): boolean {
  const { state } = pass;
  return state?.open === true && state.begun !== undefined && hashOf(pass, kind, chosen) === state.begun;
}

/** What is open was approved, and this pass goes on with it. */
export function goesOn<O extends Member>(pass: Pass<O>, kind: Pick<StackKind<O>, 'withoutTargets'>): boolean {
  return isUnderway(pass, kind, []) || [...askingIn(pass)].some((part) => isUnderway(pass, kind, [part]));
}

/** Parts that make another update of it when they are chosen: each has the whole stack rendered anew. */
function askingIn<O>({ plan }: Pick<Pass<O>, 'plan'>): Set<Part<O>> {
  const standing = standingOf(plan);
  return new Set(suspectsOf(plan).filter((part) => !standing.includes(part)));
}

/** Undefined = that can't be made: it has not begun. */
function hashOf<O extends Member>(
  { plan, cloud, updateOf }: Pass<O>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
  chosen: readonly Part<O>[],
): string | undefined {
  try {
    const update = updateOf(inputsOf(plan, [...chosen, ...standingOf(plan)]));
    return hashWithoutTargets(update, withoutTargetsOf(kind, cloud));
  } catch (thrown) {
    if (thrown instanceof OperatorError) return undefined;
    throw thrown;
  }
}
