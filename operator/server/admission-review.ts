import { toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';

/** `request` of an AdmissionReview v1, as far as webhooks here read it. */
export interface AdmissionRequest {
  uid: string;
  operation: string;
  resource: { group: string; version: string; resource: string };
  object?: unknown;
}

/** What a webhook says; the request's UID is added. */
export interface AdmissionAnswer {
  allowed: boolean;
  /** Why not. */
  status?: { code: number; message: string };
  /** RFC 6902; empty = the object stays as it is. */
  patch?: readonly object[];
  warnings?: string[];
}

export type AdmissionHandler = (request: AdmissionRequest) => Promise<AdmissionAnswer>;

export interface ReviewAnswer {
  status: 200 | 400 | 500;
  body: string;
}

const API_VERSION = 'admission.k8s.io/v1';

/**
 * Answers one AdmissionReview as upstream's webhook hosting does (contract 7.3): 400 for what is no review, 500 when the handler fails, else 200.
 * Never throws.
 */
export async function answerReview(
  handler: AdmissionHandler,
  { contentType, body }: { contentType: string; body: string },
  logger: Logger,
): Promise<ReviewAnswer> {
  const request = readReview(contentType, body);
  if (typeof request === 'string') return { status: 400, body: `${request}\n` };
  try {
    const response = responseOf(request.uid, await handler(request));
    return { status: 200, body: JSON.stringify({ apiVersion: API_VERSION, kind: 'AdmissionReview', response }) };
  } catch (thrown) {
    const error = toOperatorError(thrown);
    logger.warn({ err: error, uid: request.uid }, `a request for admission can't be answered: ${error.message}`);
    return { status: 500, body: `${error.message}\n` };
  }
}

/** The request in a review, or what is wrong with it. */
function readReview(contentType: string, body: string): AdmissionRequest | string {
  if (contentType.split(';')[0]?.trim().toLowerCase() !== 'application/json')
    return `contentType=${contentType}, expected application/json`;
  if (body === '') return 'empty body';
  const review = parsed(body);
  if (review?.apiVersion !== API_VERSION || review.kind !== 'AdmissionReview') return `the body is no AdmissionReview of ${API_VERSION}`;
  const { request } = review;
  if (!isObject(request) || typeof request.uid !== 'string' || typeof request.operation !== 'string' || !isObject(request.resource))
    return 'the AdmissionReview has no request';
  return request as unknown as AdmissionRequest;
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // said by the caller
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function responseOf(uid: string, { patch = [], ...answer }: AdmissionAnswer): object {
  if (patch.length === 0) return { uid, ...answer };
  return { uid, ...answer, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}
