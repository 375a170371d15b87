import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../../base/errors';
import type { StateStore } from '../state/state-store';
import { identityRoutes } from '../worker/endpoint/identity';
import { isToken, readBody } from '../worker/endpoint/request';
import { type Answer, failure, route } from '../worker/endpoint/router';
import { readRoutes, type ReadContext } from './routes';

/**
 * All stacks for people's own `pulumi` CLI: what reads is answered, what writes is refused with 403. On a loopback port, with a token of
 * its own.
 */
export class StateServer {
  readonly token = randomBytes(24).toString('hex');
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));

  constructor(private readonly store: StateStore) {}

  /** @param port 0 = any free one @throws OperatorError Conflict when the port is taken */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(new OperatorError('Conflict', `port ${port} can't be used: ${cause.message}`, { cause })),
      );
      this.#server.listen(port, '127.0.0.1', resolve);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => failure(400, `Bad Request: ${String(error)}`));
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'token' || !isToken(value, this.token))
      return failure(401, 'Unauthorized: set PULUMI_ACCESS_TOKEN to the token that was printed');
    const target = { method: request.method ?? '', path: (request.url ?? '').split('?')[0] ?? '', body: await readBody(request) };
    const context: ReadContext = { store: this.store, url: this.url };
    const answer = await route<ReadContext>([...identityRoutes, ...readRoutes], target, context);
    if (answer.status !== 404 || target.method === 'GET' || target.method === 'HEAD') return answer;
    return failure(
      403,
      'this endpoint is read-only: only the operator changes stacks; to replace a state, use "cloud-operator state import"',
    );
  }
}
