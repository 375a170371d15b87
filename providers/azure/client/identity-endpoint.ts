import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccessToken } from './credentials';

/** The one version of the protocol that Azure's libraries speak. */
const VERSION = '2019-08-01';

export interface IdentityOptions {
  token: AccessToken;
  /** The APIs that the token is made out for, by the names under which it is asked for. */
  resources: readonly string[];
}

/**
 * Gives one token to processes that look for a managed identity, by the protocol of App Service (learn.microsoft.com, "How to use managed identities for App
 * Service and Azure Functions", REST endpoint reference): on loopback, to who shows the header that its environment has, and for the token's own APIs.
 */
export class IdentityEndpoint {
  /** What the header X-IDENTITY-HEADER must say. */
  readonly header = randomBytes(32).toString('hex');
  private readonly server: Server;

  constructor(private readonly options: IdentityOptions) {
    this.server = createServer((request, response) => this.serve(request, response));
    this.server.unref();
  }

  /** @returns the URL to ask at */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private serve({ method, url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(url, 'http://127.0.0.1');
    const resource = query.get('resource') ?? '';
    if (!this.isTold(headers['x-identity-header']))
      return refuse(response, 401, 'the header X-IDENTITY-HEADER is not that of this endpoint');
    if (method !== 'GET' || pathname !== '/token' || query.get('api-version') !== VERSION)
      return refuse(response, 400, `GET /token with api-version ${VERSION} is all that is here`);
    if (!this.options.resources.some((one) => withoutSlash(one) === withoutSlash(resource)))
      return refuse(response, 400, `the operator's token is for Azure Resource Manager alone, and not for "${resource}"`);
    const { value, expiresAt } = this.options.token;
    send(response, 200, { access_token: value, expires_on: String(Math.floor(expiresAt / 1000)), resource, token_type: 'Bearer' });
  }

  private isTold(header: string | string[] | undefined): boolean {
    const [given, wanted] = [Buffer.from(String(header)), Buffer.from(this.header)];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, { statusCode: status, message });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
