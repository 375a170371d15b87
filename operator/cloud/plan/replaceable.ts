import type { ConnectedCloud } from '../providers/registry';
import type { UpdatePlan } from '../stack/stack-parts';
import type { Part } from '../stack/stack-plan';
import type { Member, StackKind } from '../stack/stack-kind';
import { mustBeAsked } from './approval';
import type { Gated } from './approval-gate';

/**
 * Whose own things an update may replace that nobody has approved: of those that serve nobody yet, and of those that have allowed it beforehand; all that there
 * is where all have. Pure.
 */
export function replaceableIn<O extends Member>(
  plan: UpdatePlan<O>,
  kind: Pick<StackKind<O>, 'lossBy' | 'updatePolicy'>,
  cloud: Pick<ConnectedCloud, 'spec'>,
): Pick<Gated<O>, 'replaces'> {
  const isAsked = ({ object }: Part<O>): boolean => mustBeAsked(kind.updatePolicy?.(object, cloud.spec));
  if (kind.lossBy === undefined) return {};
  if (!hasSilent(plan) && !plan.parts.some((part) => serves(part) && isAsked(part))) return {};
  const may = plan.parts.filter((part) => !serves(part) || !isAsked(part));
  return { replaces: may.map(({ object, candidate, accepted }) => (candidate ?? accepted)?.ownerUID ?? object.metadata.uid) };
}

function serves<O>({ accepted, standing }: Part<O>): boolean {
  return accepted !== undefined || standing === true;
}

/** Some have no object that could say anything. */
function hasSilent<O>({ missing, elsewhere }: UpdatePlan<O>): boolean {
  return missing.length + elsewhere.length > 0;
}
