import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { identityRoutes } from './identity';
import { isToken, readBody } from './request';
import { type Answer, type EndpointContext, failure, route } from './router';
import { secretRoutes } from './secrets';
import { stackRoutes } from './stacks';
import { updateRoutes } from './updates';

const ROUTES = [...identityRoutes, ...stackRoutes, ...updateRoutes, ...secretRoutes];

/**
 * The state endpoint: the part of the Pulumi service API that the pinned CLI uses, on a random loopback port of the worker.
 * The token is random per process; only the worker's own engine knows it.
 */
export class StateEndpoint {
  readonly token = randomBytes(24).toString('hex');
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));
  #context: EndpointContext | undefined;

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Serves this update until the next call; undefined = none. */
  serve(update: Pick<EndpointContext, 'session' | 'cipher'> | undefined): void {
    // Random per update: what an earlier update's engine still sends is refused.
    const leaseToken = randomBytes(24).toString('hex');
    this.#context = update === undefined ? undefined : { ...update, leaseToken, url: this.url };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => failure(400, `Bad Request: ${String(error)}`));
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (!this.#authorized(request)) return failure(401, 'Unauthorized: this endpoint serves its own worker only');
    const path = (request.url ?? '').split('?')[0] ?? '';
    return route(ROUTES, { method: request.method ?? '', path, body: await readBody(request) }, this.#context);
  }

  #authorized(request: IncomingMessage): boolean {
    const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ');
    const expected = scheme === 'token' ? this.token : scheme === 'update-token' ? this.#context?.leaseToken : undefined;
    if (expected === undefined) return false;
    return isToken(value, expected);
  }
}
