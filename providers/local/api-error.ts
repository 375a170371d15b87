import { codeOfHttpStatus, OperatorError, type ErrorCode, type ErrorDetail } from '../../operator/base/errors';
import type { ApiError } from './api';

/** Class of each code of the API; what is not here goes by the HTTP status. */
const CLASSES: Record<ApiError['code'], ErrorCode> = {
  Unauthorized: 'Credentials',
  Forbidden: 'Credentials',
  NotFound: 'NotFound',
  NameTaken: 'Conflict',
  InUse: 'Conflict',
  EtagMismatch: 'Conflict',
  AddressInUse: 'Taken',
  TokenMismatch: 'Conflict',
  Throttled: 'Throttled',
  QuotaExceeded: 'Quota',
  InvalidArgument: 'Invalid',
  Unavailable: 'Transient',
  Internal: 'Transient',
};

const REMEDIES: Partial<Record<ApiError['code'], string>> = {
  Unauthorized: 'Check the token in spec.local.tokenFile or spec.local.tokenSecretRef of the CloudProvider.',
  Forbidden: 'Give the token the right to do this, or use another one.',
  QuotaExceeded: 'Delete what is no longer needed, or raise the quota of the local cloud.',
  AddressInUse: 'Ask for another address, or leave the address out.',
};

/** A refusal of the local cloud's API, with its own code beside the class. */
export class LocalCloudError extends OperatorError {
  constructor(
    code: ErrorCode,
    message: string,
    /** The API's own code; undefined when the answer was not one of the API's. */
    readonly apiCode: ApiError['code'] | undefined,
    detail: ErrorDetail,
  ) {
    super(code, message, detail);
  }

  /** The same, of another field. */
  at(field: string): LocalCloudError {
    const { retryAfterMs, remedy } = this;
    const detail = { field, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(remedy !== undefined && { remedy }), cause: this };
    return new LocalCloudError(this.code, this.message, this.apiCode, detail);
  }
}

/**
 * The error for an answer that is not 2xx.
 * @param call what was tried, for example `POST /v1/addresses`
 * @param retryAfterMs of the answer's header
 */
export function errorOfAnswer(call: string, status: number, body: unknown, retryAfterMs: number | undefined): LocalCloudError {
  if (!isApiError(body)) {
    const detail = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new LocalCloudError(codeOfHttpStatus(status), `local cloud, ${call}: HTTP ${status}`, undefined, detail);
  }
  const remedy = REMEDIES[body.code];
  const message = `${body.message} (local cloud, ${call}: ${body.code})${remedy === undefined ? '' : `. ${remedy}`}`;
  const wait = body.retryAfterMs ?? retryAfterMs;
  return new LocalCloudError(CLASSES[body.code] ?? codeOfHttpStatus(status), message, body.code, {
    ...(body.field !== undefined && { field: body.field }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(remedy !== undefined && { remedy }),
  });
}

function isApiError(body: unknown): body is ApiError {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body && typeof body.code === 'string';
}
