import type { ApiError } from '../api';

const STATUS: Record<ApiError['code'], number> = {
  InvalidArgument: 400,
  Unauthorized: 401,
  Forbidden: 403,
  QuotaExceeded: 403,
  NotFound: 404,
  NameTaken: 409,
  InUse: 409,
  AddressInUse: 409,
  TokenMismatch: 409,
  EtagMismatch: 412,
  Throttled: 429,
  Internal: 500,
  Unavailable: 503,
};

/** An answer that is not 2xx. It never leaves the server except as JSON. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly body: ApiError;

  constructor(code: ApiError['code'], message: string, detail: { field?: string; retryAfterMs?: number; status?: number } = {}) {
    super(message);
    this.name = 'ApiFailure';
    this.status = detail.status ?? STATUS[code];
    this.body = {
      code,
      message,
      ...(detail.field === undefined ? {} : { field: detail.field }),
      ...(detail.retryAfterMs === undefined ? {} : { retryAfterMs: detail.retryAfterMs }),
    };
  }
}

/** 400: the input can never work as it is. The message names the field as well, for people who see only that. */
export function invalid(field: string, problem: string): ApiFailure {
  return new ApiFailure('InvalidArgument', field === '' ? problem : `${field}: ${problem}`, field === '' ? {} : { field });
}

/** 404 for one resource. */
export function notFound(collection: string, id: string): ApiFailure {
  return new ApiFailure('NotFound', `${collection}/${id} does not exist`);
}

/** The failure as it is, or 500 for what nobody expected. */
export function toApiFailure(thrown: unknown): ApiFailure {
  if (thrown instanceof ApiFailure) return thrown;
  return new ApiFailure('Internal', thrown instanceof Error ? thrown.message : String(thrown));
}
