import { systemErrorOf } from './system-error';

/** The class of a failure; it decides the back-off and whether the object is Stalled (design: Updates, Failures are classed). */
export type ErrorCode =
  | 'Transient' // try again soon
  | 'Throttled' // try again after retryAfterMs
  | 'Credentials' // a person must repair credentials or permissions
  | 'Quota' // a limit of the cloud is reached
  | 'Invalid' // the input can never work as it is
  | 'Taken' // what was asked for by name belongs to somebody else
  | 'Conflict' // somebody else changed or holds the thing at this moment
  | 'NotFound' // the thing is not there
  | 'Canceled' // we stopped it ourselves
  | 'Unknown';

export interface ErrorDetail {
  /** Wait at least this long before the next try, in milliseconds. */
  retryAfterMs?: number;
  /** Path of the field at fault, for example `spec.listeners[0].port`. */
  field?: string;
  /** What a person can do about it. */
  remedy?: string;
  /** Name of the resource at fault: a Pulumi URN or a cloud id. */
  resource?: string;
  /** Condition reason in place of the code's own, where people look up something more exact (docs/conditions.md). */
  reason?: string;
  /** URNs of what could not be deleted, where an update has failed of that alone: all else is as it was asked for. */
  undeleted?: readonly string[];
  cause?: unknown;
}

/** Classes of failure that only a person can mend. */
const TERMINAL: readonly ErrorCode[] = ['Invalid', 'Credentials', 'Quota', 'Taken'];

/** The only error class that crosses a folder's border. */
export class OperatorError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number;
  readonly field?: string;
  readonly remedy?: string;
  readonly resource?: string;
  readonly reason?: string;
  readonly undeleted?: readonly string[];

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'OperatorError';
    this.code = code;
    if (detail.retryAfterMs !== undefined) this.retryAfterMs = detail.retryAfterMs;
    if (detail.field !== undefined) this.field = detail.field;
    if (detail.remedy !== undefined) this.remedy = detail.remedy;
    if (detail.resource !== undefined) this.resource = detail.resource;
    if (detail.reason !== undefined) this.reason = detail.reason;
    if (detail.undeleted !== undefined) this.undeleted = detail.undeleted;
  }

  /** True where only a person can help: the object becomes Stalled. */
  get terminal(): boolean {
    return TERMINAL.includes(this.code);
  }
}

const TRANSIENT_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Turns anything thrown into an OperatorError, keeping it as the cause. */
export function toOperatorError(thrown: unknown): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  if (!isError(thrown)) return new OperatorError('Unknown', String(thrown), { cause: thrown });
  if (thrown.name === 'AbortError') return new OperatorError('Canceled', thrown.message, { cause: thrown });
  const systemCode = findSystemCode(thrown);
  if (systemCode !== undefined) return new OperatorError('Transient', `${systemCode}: ${thrown.message}`, { cause: thrown });
  const system = systemErrorOf(thrown);
  if (system !== undefined) return new OperatorError('Unknown', system.message, { remedy: system.remedy, cause: thrown });
  return new OperatorError('Unknown', thrown.message, { cause: thrown });
}

/** The message, and what to do about it, which some messages say themselves. */
export function messageWithRemedy({ message, remedy }: { message: string; remedy?: string | undefined }, separator = '; '): string {
  return remedy === undefined || message.includes(remedy) ? message : `${message}${separator}${remedy}`;
}

/** Milliseconds after which whoever refused for now wants to be asked again, and not sooner or later: upstream's RetryError (contract 2.4). */
export function toldDelayMs({ code, retryAfterMs }: OperatorError): number | undefined {
  return code === 'Throttled' && retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : undefined;
}

/** The class that an HTTP status stands for. */
export function codeOfHttpStatus(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'Credentials';
  if (status === 404 || status === 410) return 'NotFound';
  if (status === 409 || status === 412) return 'Conflict';
  if (status === 429) return 'Throttled';
  if (status >= 500 || status === 408) return 'Transient';
  return status >= 400 ? 'Invalid' : 'Unknown';
}

function findSystemCode(error: Error): string | undefined {
  for (let at: unknown = error, depth = 0; isError(at) && depth < 5; at = at.cause, depth++) {
    const code = (at as NodeJS.ErrnoException).code;
    if (code !== undefined && TRANSIENT_SYSTEM_CODES.has(code)) return code;
  }
  return undefined;
}

/** By shape: Node's own errors come from another realm where code runs in a VM context, and are then no instances of this realm's Error. */
function isError(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && 'name' in thrown && typeof thrown.message === 'string';
}
