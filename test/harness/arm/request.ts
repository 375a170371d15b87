import type { JsonObject } from '../../../operator/base/json';

/** A request to Azure Resource Manager, as it came in. */
export interface ArmRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: JsonObject;
}

/** What goes back. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export type CallVerb = 'create' | 'update' | 'delete' | 'get' | 'list';

/** An error in ARM's form. @param details as RetryableError has them */
export function refusal(status: number, code: string, message: string, details: { code: string; message: string }[] = []): Answer {
  return { status, body: { error: { code, message, details } } };
}

/** NRP's answer while something else happens to a resource: it is status 429, and not a limit of the subscription. */
export function busy(code: string, message: string): Answer {
  return { ...refusal(429, 'RetryableError', 'A retryable error occurred.', [{ code, message }]), headers: { 'retry-after': '0' } };
}
