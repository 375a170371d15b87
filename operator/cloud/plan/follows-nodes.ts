import { updateHash } from '../../updates/update-hash';
import { hashWithoutTargets, withoutTargetsOf } from '../stack/hash-without-targets';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf } from '../stack/stack-parts';
import type { ApprovalPass } from './stack-approvals';

/**
 * True when all that an update with what was accepted would change is which Nodes there are, in clouds that say these in a stack's own inputs: targets follow
 * the Nodes, whoever waits for a person or a window (docs/operate/levers.md). Pure.
 */
export function followsNodes<O extends Member>(
  { plan, state, drifted, cloud, updateOf }: Pick<ApprovalPass<O>, 'plan' | 'state' | 'drifted' | 'cloud' | 'updateOf'>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
): boolean {
  if (kind.withoutTargets === undefined || state?.inputs === undefined || state.open || drifted) return false;
  const update = updateOf(inputsOf(plan, []));
  const before = { ...update, inputs: state.inputs };
  if (update.inputs === undefined || updateHash(before) !== state.inputsHash || updateHash(update) === state.inputsHash) return false;
  const bare = withoutTargetsOf(kind, cloud);
  return hashWithoutTargets(update, bare) === hashWithoutTargets(before, bare);
}
