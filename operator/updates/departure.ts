import { OperatorError } from '../base/errors';
import { nameOfUrn, shortType, typeOfUrn } from './checkpoint';
import type { FailureEvidence } from './failure';

/** Reason of the failure of an update that is not, or was not to the end, what somebody has approved. */
export const PLAN_OUTDATED = 'PlanOutdated';

/**
 * What the engine says where an update becomes something else than the plan that it is held to (`up --plan`), and ends there: inputs, or a step
 * (pkg/resource/deploy of Pulumi 3.274: step_generator.go).
 */
const DEPARTURE = /violates plan|is not allowed by the plan/;
/** … or one that did not come (deployment_executor.go). After any failure, what was to come is missed in these words as well. */
export const MISSED = /expected resource operations for .* but none were seen/;
/** How the engine sums up what it has said before. */
const SUMMARY = /^(?:update|preview) (?:failed|canceled)$/;
const URN = /urn:pulumi:\S+/;
/** A property after the signs of what was planned of it and what came: `=~former[…]`. */
const PROPERTY = /(?:properties changed: |, )[-+~=]{2}([\w$-]+)/g;

/** The failure of an update that was stopped because it was not what somebody has approved; undefined = nothing speaks of that. Pure. */
export function departureOf(evidence: FailureEvidence): OperatorError | undefined {
  const { stack, refusal, canceled, approved, resources, diagnostics } = evidence;
  if (approved !== true || refusal !== undefined || canceled !== undefined || hasFailed(evidence)) return undefined;
  const words = resources.length === 0 ? [DEPARTURE, MISSED] : [DEPARTURE];
  const told = diagnostics.find(({ message }) => words.some((word) => word.test(message)));
  if (told === undefined) return endedWithoutAWord(evidence) ? departure(stack, 'what the stack gives') : undefined;
  return departure(stack, whatDeparted(told.urn ?? URN.exec(told.message)?.[0], told.message));
}

/** Something went wrong in the cloud, or in somebody else's plugin, of which only the engine tells. What was stopped by ourselves did not. */
function hasFailed({ resources, diagnostics }: FailureEvidence): boolean {
  if (resources.some(({ error }) => error.code !== 'Canceled')) return true;
  const stopped = resources.map(({ urn }) => urn);
  return diagnostics.some(
    ({ urn = '', message }) => ![DEPARTURE, MISSED, SUMMARY].some((word) => word.test(message)) && !stopped.includes(urn),
  );
}

function departure(stack: string, what: string): OperatorError {
  const message =
    `stack ${stack}: ${what} became something else than the plan that was approved, so the update was stopped there: the cloud has changed since ` +
    'that plan was made. What was done before stays as it is; the rest is planned anew, and waits where that plan has to be approved.';
  return new OperatorError('Conflict', message, { reason: PLAN_OUTDATED });
}

/** Of a stack's outputs that are not what was planned the engine says nothing (step_executor.go, ExecuteRegisterResourceOutputs): it fails when all else is done. */
function endedWithoutAWord({ resources, program, diagnostics, exit }: FailureEvidence): boolean {
  if (program !== undefined || exit === undefined) return false;
  return resources.length + diagnostics.length === 0 && exit.code !== null && exit.stderr.trim() === '';
}

/** Values may be secrets: only what they are of is told. */
function whatDeparted(urn: string | undefined, message: string): string {
  if (urn === undefined) return 'a resource';
  const properties = [...message.matchAll(PROPERTY)].map(([, name]) => name);
  return `${shortType(typeOfUrn(urn))} ${nameOfUrn(urn)}${properties.length === 0 ? '' : ` (${properties.join(', ')})`}`;
}
