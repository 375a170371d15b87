import { codeOfHttpStatus, OperatorError, type ErrorCode, type ErrorDetail } from '../base/errors';

/** The `Status` object with which the API server answers a failed request, or what stands for it when the body was no Status. */
export interface ApiStatus {
  code: number;
  reason: string;
  message: string;
  details?: {
    name?: string;
    kind?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
}

/** The API server's Status behind an error of this folder; undefined for errors that did not come from an answer (a lost connection …). */
export function statusOf(error: unknown): ApiStatus | undefined {
  const cause = error instanceof OperatorError ? error.cause : undefined;
  return isStatus(cause) ? cause : undefined;
}

/** Tells `AlreadyExists` from other conflicts, which share one code. */
export function isAlreadyExists(error: unknown): boolean {
  return statusOf(error)?.reason === 'AlreadyExists';
}

/** 410: the resourceVersion or `continue` token is too old for the API server. */
export function isExpired(error: unknown): boolean {
  const status = statusOf(error);
  return status?.code === 410 || status?.reason === 'Expired' || status?.reason === 'Gone';
}

/** True for the answer to a JSON patch whose `test` did not hold: a 422 like that to an invalid object, but without causes. */
export function isFailedTest(error: unknown): boolean {
  const status = statusOf(error);
  return status?.code === 422 && status.details?.causes === undefined;
}

/** True when the named object is not there; false when the whole resource is unknown to the API server (its CRD is missing). */
export function isObjectNotFound(error: unknown): boolean {
  const status = statusOf(error);
  return status?.code === 404 && status.reason === 'NotFound' && status.details?.name !== undefined;
}

/** True when the API server doesn't know the resource at all. */
export function isResourceMissing(error: unknown): boolean {
  return statusOf(error)?.code === 404 && !isObjectNotFound(error);
}

/** What of an answer's headers tells when to come again. */
export interface AnswerTimes {
  'retry-after'?: string | string[] | undefined;
  date?: string | string[] | undefined;
}

/**
 * Turns a failed answer into the error that this folder throws; its cause is the ApiStatus.
 * @param what the request in words, for example `get services demo/web`
 */
export function errorOfAnswer(what: string, code: number, body: string, headers: AnswerTimes = {}): OperatorError {
  return errorOfStatus(what, parseStatus(code, body), headers);
}

/** As errorOfAnswer, for a Status that is parsed already, such as the object of a watch's ERROR event. */
export function errorOfStatus(what: string, status: ApiStatus, headers: AnswerTimes = {}): OperatorError {
  const detail: ErrorDetail = { cause: status };
  const seconds = retryAfterSeconds(headers) ?? status.details?.retryAfterSeconds;
  if (seconds !== undefined) detail.retryAfterMs = seconds * 1000;
  const field = status.details?.causes?.find((cause) => cause.field !== undefined)?.field;
  if (field !== undefined) detail.field = field;
  const remedy = remedyOf(status);
  if (remedy !== undefined) detail.remedy = remedy;
  const message = `${what}: ${status.code} ${status.reason}: ${fullMessage(status)}`;
  return new OperatorError(codeOf(status), remedy === undefined ? message : `${message}; ${remedy}`, detail);
}

/** A Status from anything that looks like one. */
export function statusFrom(value: unknown, code: number): ApiStatus | undefined {
  if (typeof value !== 'object' || value === null || (value as { kind?: unknown }).kind !== 'Status') return undefined;
  const raw = value as Partial<ApiStatus>;
  return {
    code: raw.code ?? code,
    reason: raw.reason === undefined || raw.reason === '' ? 'Unknown' : raw.reason,
    message: raw.message ?? '',
    ...(raw.details === undefined ? {} : { details: raw.details }),
  };
}

function parseStatus(code: number, body: string): ApiStatus {
  try {
    const status = statusFrom(JSON.parse(body), code);
    if (status !== undefined) return status;
  } catch {
    // Not JSON: a proxy's page, or the API server's plain "404 page not found"; the text itself is the message.
  }
  const text = body.trim().replace(/\s+/g, ' ').slice(0, 300);
  return { code, reason: 'NoStatus', message: text === '' ? 'the answer has no body' : text };
}

function codeOf(status: ApiStatus): ErrorCode {
  if (status.code === 403 && status.message.includes('exceeded quota')) return 'Quota';
  // A namespace that is going away forbids creation; no permission is missing.
  if (status.code === 403 && status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true) return 'Conflict';
  return codeOfHttpStatus(status.code);
}

function remedyOf(status: ApiStatus): string | undefined {
  if (status.code === 401) return 'check the token or client certificate in the kubeconfig';
  if (status.code === 403 && codeOf(status) === 'Credentials') return 'give the operator’s account the RBAC rule for this';
  if (status.code === 404 && status.reason === 'NoStatus')
    return 'the API server doesn’t know this resource: install its CustomResourceDefinition';
  return undefined;
}

/** The server's message, with those causes that it doesn't mention itself. */
function fullMessage(status: ApiStatus): string {
  const unsaid = (status.details?.causes ?? [])
    .filter((cause) => cause.message !== undefined && !status.message.includes(cause.message))
    .map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`));
  return [status.message, ...unsaid].filter((part) => part !== '').join('; ');
}

/** Retry-After is a number of seconds or an HTTP date; the date is by the clock of who answers, which the answer tells: ours may be an hour off. */
function retryAfterSeconds({ 'retry-after': header, date }: AnswerTimes): number | undefined {
  if (header === undefined || header === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const until = Date.parse(String(header));
  const answeredAt = Date.parse(String(date));
  return Number.isNaN(until) ? undefined : Math.max(0, (until - (Number.isNaN(answeredAt) ? Date.now() : answeredAt)) / 1000);
}

function isStatus(cause: unknown): cause is ApiStatus {
  return typeof cause === 'object' && cause !== null && typeof (cause as ApiStatus).code === 'number' && 'reason' in cause;
}
