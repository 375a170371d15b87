import { OperatorError } from '../../base/errors';
import type { MemberInput } from './member-input';
import type { Member } from './stack-kind';
import { inputsOf, type UpdatePlan } from './stack-parts';

/**
 * Those that leave and must wait, after an update that failed of deletions alone: whose things are still there, and all where it can't be told whose some are. Pure.
 * @param ownersOf UIDs of those of the inputs to whom the failure belongs
 */
export function stuckIn<O extends Member>(
  { undeleted = [] }: OperatorError,
  plan: UpdatePlan<O>,
  { inputOf, ownersOf }: { inputOf: (object: O) => MemberInput; ownersOf: (failure: OperatorError, inputs: MemberInput[]) => string[] },
): O[] {
  const inputs = [...plan.leaving.map(inputOf), ...inputsOf(plan, plan.parts)];
  const owners = undeleted.map((urn) => ownersOf(new OperatorError('Unknown', urn, { resource: urn }), inputs));
  if (owners.some((uids) => uids.length === 0)) return plan.leaving;
  return plan.leaving.filter(({ metadata }) => owners.some((uids) => uids.includes(metadata.uid)));
}
