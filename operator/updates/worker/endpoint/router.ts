import { type OperatorError, toOperatorError } from '../../../base/errors';
import type { SecretsCipher } from './secrets';
import type { UpdateSession } from './session';

/** What handlers work with: one update at a time in a worker. */
export interface EndpointContext {
  session: UpdateSession;
  cipher: SecretsCipher;
  /** Base address of this endpoint. */
  url: string;
  /** What the engine shows for everything inside the update. */
  leaseToken: string;
}

export interface EndpointRequest {
  /** Groups of the route's pattern. */
  params: string[];
  /** Parsed JSON; undefined without a body. */
  body: unknown;
}

export interface Route<Context = EndpointContext> {
  method: string;
  /** Matched against the whole path, without the query. */
  pattern: RegExp;
  /** May give a promise. */
  handle: (request: EndpointRequest, context: Context) => unknown;
}

export interface Answer {
  status: number;
  body: unknown;
}

/** Everything under a stack: the organization, the project, the stack. */
export const STACK = '/api/stacks/[^/]+/([^/]+)/([^/]+)';

/** Finds the route for a request and gives its answer; errors become Pulumi's error body, which the CLI prints verbatim. */
export async function route<Context>(
  routes: readonly Route<Context>[],
  target: { method: string; path: string; body: unknown },
  context: Context | undefined,
): Promise<Answer> {
  for (const { method, pattern, handle } of routes) {
    const match = method === target.method ? pattern.exec(target.path) : null;
    if (match === null) continue;
    if (context === undefined) return failure(403, 'no update is running');
    try {
      return { status: 200, body: (await handle({ params: match.slice(1), body: target.body }, context)) ?? {} };
    } catch (thrown) {
      return refusal(toOperatorError(thrown));
    }
  }
  return failure(404, `Not Found: ${target.method} ${target.path}`);
}

export function failure(code: number, message: string): Answer {
  return { status: code, body: { code, message } };
}

/** 403 stops the engine at once; every other status would make it try again for a minute. */
function refusal(error: OperatorError): Answer {
  return error.code === 'NotFound' ? failure(404, error.message) : failure(403, error.message);
}
