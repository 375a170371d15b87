import type { IncomingMessage } from 'node:http';
import { toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { Authenticator } from './authentication';
import type { Authorizer } from './authorization';
import type { User } from './user';

/** Why a request is not served. */
export interface Refusal {
  status: 401 | 403 | 500;
  /** A Status object, as the API server answers. */
  body: string;
}

/** Lets through who may do what they ask. */
export class Guard {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly authorizer: Authorizer,
    private readonly logger: Logger,
  ) {}

  /**
   * @param neverOpen the list of open paths does not count
   * @returns undefined = go on
   */
  async refusal(request: IncomingMessage, path: string, { neverOpen = false } = {}): Promise<Refusal | undefined> {
    const verb = (request.method ?? 'GET').toLowerCase();
    try {
      const user = await this.authenticator.userOf(request);
      if (user === undefined) return refuse(401, 'Unauthorized', 'Unauthorized');
      const decision = await this.authorizer.decide(user, verb, path, { neverOpen });
      return decision.allowed ? undefined : refuse(403, 'Forbidden', forbidden(user, verb, path, decision.reason));
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.logger.warn({ err: error, path }, `who may read ${path} can't be found out: ${error.message}`);
      return refuse(500, 'InternalError', `Internal Server Error: ${JSON.stringify(path)}: ${error.message}`);
    }
  }
}

function forbidden({ name }: User, verb: string, path: string, reason: string | undefined): string {
  const text = `forbidden: User ${JSON.stringify(name)} cannot ${verb} path ${JSON.stringify(path)}`;
  return reason === undefined || reason === '' ? text : `${text}: ${reason}`;
}

function refuse(status: Refusal['status'], reason: string, message: string): Refusal {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(status === 403 ? { details: {} } : {}),
    code: status,
  };
  return { status, body: `${JSON.stringify(body)}\n` };
}
