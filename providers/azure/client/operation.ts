import { armFailure, type ArmError, type ArmErrorBody } from './arm-error';
import { headerOf, type ArmAnswer } from './arm-answer';

/** How an operation of Azure's goes on after the answer that has begun it (learn.microsoft.com, "Track asynchronous Azure operations"). */
export interface Operation {
  /** Where it says how far it is. */
  url: string;
  /** Azure-AsyncOperation says so by `status` in its body, Location by the status of its answer. */
  by: 'Body' | 'Status';
}

/** The operation that an answer begins; undefined where everything is done already. Pure. */
export function operationIn(answer: ArmAnswer): Operation | undefined {
  const statusURL = headerOf(answer, 'azure-asyncoperation');
  if (statusURL !== undefined) return { url: statusURL, by: 'Body' };
  const location = headerOf(answer, 'location');
  return answer.status === 202 && location !== undefined ? { url: location, by: 'Status' } : undefined;
}

/**
 * Whether an operation is over, by what it says of itself. Pure.
 * @param path of the resource that it works on, for its error
 * @throws ArmError when it has failed or was canceled
 */
export function isOver({ by }: Operation, answer: ArmAnswer, path: string): boolean {
  if (by === 'Status') return answer.status !== 202;
  const { status, error } = (answer.body ?? {}) as { status?: string; error?: ArmErrorBody | null };
  if (status === 'Failed' || status === 'Canceled') throw failureOf(status, error ?? {}, path);
  return status === 'Succeeded';
}

/** An operation ends without an HTTP status; what its code doesn't tell is nobody's fault that could be named. */
function failureOf(status: string, { code = status, ...error }: ArmErrorBody, path: string): ArmError {
  return armFailure({ code, ...error }, 500, { method: 'operation on', path });
}
