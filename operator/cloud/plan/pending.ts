import { transformOf, updateHash } from '../../updates/update-hash';
import type { StackState, StackUpdate } from '../../updates/update';
import { hashWithoutTargets, withoutTargetsOf } from '../stack/hash-without-targets';
import type { Member, StackKind } from '../stack/stack-kind';
import { inputsOf } from '../stack/stack-parts';
import type { ApprovalPass } from './stack-approvals';
import { hasBegun } from './underway';

/**
 * What an update with what was accepted would change. Nodes = only which Nodes there are, in clouds that say these in a stack's own inputs: targets follow
 * the Nodes, whoever waits for a person or a window (docs/operate/levers.md). Begun = it has begun and did not end: it goes on, whatever waits by now
 * (docs/decisions/0018-maintenance-windows.md).
 */
export type Pending = 'Nothing' | 'Nodes' | 'Begun' | 'More';

/** What would change even though no spec has; where something is to go, that is an update's own reason. Pure. */
export function pendingIn<O extends Member>(
  pass: Pick<ApprovalPass<O>, 'plan' | 'state' | 'drifted' | 'cloud' | 'updateOf'>,
  kind: Pick<StackKind<O>, 'withoutTargets'>,
): Pending {
  const { plan, state, drifted, cloud, updateOf } = pass;
  if (state === undefined || plan.leaving.length + plan.departing.length > 0) return 'Nothing';
  if (state.open ? !hasBegun(pass, kind, []) : drifted) return 'More';
  const update = updateOf(inputsOf(plan, []));
  const withoutTargets = withoutTargetsOf(kind, cloud);
  const bare = (of: StackUpdate): string => hashWithoutTargets(of, withoutTargets);
  if (!state.open) return pendingAtRest(update, state, bare);
  // What is found while an update is open may be what it has left.
  return !drifted && isSameProgram(update, state) && isOfNodes(update, state, bare) ? 'Nodes' : 'Begun';
}

/** Hash of an update that stays the same while Nodes come and go. */
type Bare = (update: StackUpdate) => string;

function pendingAtRest(update: StackUpdate, state: StackState, bare: Bare): Pending {
  if (updateHash(update) === state.inputsHash) return 'Nothing';
  const isMadeOtherwise = updateHash({ ...update, inputs: state.inputs }) !== state.inputsHash;
  return !isMadeOtherwise && isOfNodes(update, state, bare) ? 'Nodes' : 'More';
}

/** Other Nodes are all in which it differs from the last one that succeeded. */
function isOfNodes(update: StackUpdate, state: StackState, bare: Bare): boolean {
  const before = { ...update, inputs: state.inputs };
  return bare(update) === bare(before) && updateHash(update) !== updateHash(before);
}

function isSameProgram({ programVersion, extension }: StackUpdate, state: StackState): boolean {
  return state.programVersion === programVersion && state.transform === transformOf(extension);
}
