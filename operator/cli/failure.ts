import { messageWithRemedy, OperatorError, toOperatorError } from '../base/errors';
import { systemErrorOf } from '../base/system-error';

export interface Failure {
  /** Without the command's name in front; what to do stands in the first line. */
  text: string;
  exitCode: 1 | 2;
}

/**
 * What a person at a terminal is told of a failure: one line, followed only by what a failed process wrote last.
 * @param debug adds the stack trace and the causes
 */
export function describeFailure(thrown: unknown, debug: boolean): Failure {
  const error = toOperatorError(thrown);
  const system = systemErrorOf(thrown);
  const expected = thrown instanceof OperatorError || error.code !== 'Unknown' || system !== undefined;
  const remedy = error.remedy ?? (expected ? undefined : 'this is a defect; --debug shows where');
  const [first = '', ...rest] = error.message.split('\n');
  const lines = [messageWithRemedy({ message: first, remedy }), ...rest];
  if (debug) lines.push(...stacks(thrown));
  return { text: lines.join('\n'), exitCode: error.code === 'Invalid' || system?.unusable === true ? 2 : 1 };
}

function stacks(thrown: unknown): string[] {
  const found: string[] = [];
  for (let at = thrown; at instanceof Error && found.length < 5; at = at.cause) found.push(at.stack ?? at.message);
  return found;
}
