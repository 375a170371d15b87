import { request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { OperatorError, toOperatorError } from '../../../base/errors';
import { PAGE_PATH } from '../../../ui/page';

/** Where the operator's HTTPS server is reached. */
export interface Upstream {
  host: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Asks for something beneath the page's path; its body is the caller's to read, or to leave.
 * The certificate is not verified: it is made at each start, and the token opens nothing but the page.
 * @throws OperatorError Transient when there is no answer
 */
export function pageRequest(
  { host, port }: Upstream,
  path: string,
  token: string,
  headers: IncomingHttpHeaders = {},
): Promise<IncomingMessage> {
  const { accept, 'if-none-match': known } = headers;
  const sent = {
    authorization: `Bearer ${token}`,
    ...(accept === undefined ? {} : { accept }),
    ...(known === undefined ? {} : { 'if-none-match': known }),
  };
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path: `${PAGE_PATH}/${path}`, headers: sent, rejectUnauthorized: false, timeout: 15_000 }, resolve);
    asked.on('timeout', () => asked.destroy(new Error('no answer within 15 s')));
    asked.on('error', (cause) => {
      const remedy = 'see whether the operator runs, and serves HTTPS there (--secure-port)';
      reject(
        new OperatorError('Transient', `the operator's HTTPS server can't be reached: ${toOperatorError(cause).message}`, {
          cause,
          remedy,
        }),
      );
    });
    asked.end();
  });
}
