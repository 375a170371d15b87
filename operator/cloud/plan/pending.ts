import { updateHash } from '../../updates/update-hash';
import { hashWithoutTargets, withoutTargetsOf } from '../stack/hash-without-targets';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf } from '../stack/stack-parts';
import type { ApprovalPass } from './stack-approvals';

/**
 * What an update with what was accepted would change. Nodes = only which Nodes there are, in clouds that say these in a stack's own inputs: targets follow
 * the Nodes, whoever waits for a person or a window (docs/operate/levers.md).
 */
export type Pending = 'Nothing' | 'Nodes' | 'More';

/** What would change even though no spec has; where something is to go, that is an update's own reason. Pure. */
export function pendingIn<O extends Member>(
  { plan, state, drifted, cloud, updateOf }: Pick<ApprovalPass<O>, 'plan' | 'state' | 'drifted' | 'cloud' | 'updateOf'>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
): Pending {
  if (state === undefined || plan.leaving.length + plan.departing.length > 0) return 'Nothing';
  if (drifted || state.open) return 'More';
  const update = updateOf(inputsOf(plan, []));
  if (updateHash(update) === state.inputsHash) return 'Nothing';
  const before = { ...update, inputs: state.inputs };
  if (update.inputs === undefined || updateHash(before) !== state.inputsHash) return 'More';
  const bare = withoutTargetsOf(kind, cloud);
  return hashWithoutTargets(update, bare) === hashWithoutTargets(before, bare) ? 'Nodes' : 'More';
}
