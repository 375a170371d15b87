import type { UpdatePlan } from '../stack/stack-parts';
import type { Part } from '../stack/stack-plan';
import type { Member, StackKind } from '../stack/stack-kind';
import { mustBeAsked } from './approval';
import type { Gated } from './approval-gate';
import type { ApprovalPass } from './stack-approvals';

/**
 * Whose own things an update may replace: of those that serve nobody yet, of those whose spec asks for it, and of those that have allowed it beforehand. All that
 * there is where what the update does was planned and consented to, where all have allowed it, and where what was begun with approval goes on. Pure.
 * @param consented to each of which a plan was made; all undefined = none was, or it replaces nothing
 */
export function replaceableIn<O extends Member>(
  { plan, cloud, state }: Pick<ApprovalPass<O>, 'plan' | 'cloud' | 'state'>,
  kind: Pick<StackKind<O>, 'lossBy' | 'updatePolicy'>,
  consented: readonly unknown[],
): Pick<Gated<O>, 'replaces'> {
  const isAsked = ({ object }: Part<O>): boolean => mustBeAsked(kind.updatePolicy?.(object, cloud.spec));
  if (kind.lossBy === undefined || [...consented, state?.underway].some((one) => one !== undefined)) return {};
  if (!hasSilent(plan) && !plan.parts.some((part) => serves(part) && isAsked(part))) return {};
  const may = plan.parts.filter((part) => !serves(part) || part.replacement !== undefined || !isAsked(part));
  return { replaces: may.map(({ object, candidate, accepted }) => (candidate ?? accepted)?.ownerUID ?? object.metadata.uid) };
}

function serves<O>({ accepted, standing }: Part<O>): boolean {
  return accepted !== undefined || standing === true;
}

/** Some have no object that could say anything. */
function hasSilent<O>({ missing, elsewhere }: UpdatePlan<O>): boolean {
  return missing.length + elsewhere.length > 0;
}
