import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { toOperatorError } from '../../../base/errors';
import { silentLogger } from '../../../base/log';
import { close, listen } from '../../../server/listener';
import type { PageToken } from './page-token';
import { pageRequest, type Upstream } from './upstream';

/** What the browser needs of an answer. */
const HEADERS = [
  'content-type',
  'etag',
  'cache-control',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
];

/**
 * The operator's page on this machine. Its address holds a key, so that others who are on the machine, and web pages in the same browser, can't
 * look at it; other Host headers than its own are refused, against names that somebody makes point here.
 */
export class PageGateway {
  private readonly key = randomBytes(18).toString('base64url');
  private readonly server = createServer((request, response) => void this.handle(request, response));
  private host = '';

  constructor(
    private readonly upstream: Upstream,
    private readonly token: PageToken,
  ) {}

  /** @returns the page's address. @throws OperatorError Invalid when the port is taken */
  async listen(port: number): Promise<string> {
    const where = await listen(this.server, { bindAddress: '127.0.0.1', port, what: 'the page', logger: silentLogger });
    this.host = `127.0.0.1:${where.port}`;
    return `http://${this.host}/${this.key}/`;
  }

  close(): Promise<void> {
    return close(this.server);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const prefix = `/${this.key}/`;
    const path = request.url ?? '';
    if (request.headers.host !== this.host || !path.startsWith(prefix)) return answer(response, 404, 'not found\n');
    if (request.method !== 'GET') return answer(response, 405, 'only GET\n');
    try {
      const found = await pageRequest(this.upstream, path.slice(prefix.length), await this.token.value(), request.headers);
      const headers = HEADERS.flatMap((name) => (found.headers[name] === undefined ? [] : [[name, found.headers[name]] as const]));
      response.writeHead(found.statusCode ?? 502, Object.fromEntries(headers));
      await pipeline(found, response);
    } catch (thrown) {
      answer(response, 502, `${toOperatorError(thrown).message}\n`);
    }
  }
}

function answer(response: ServerResponse, status: number, body: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }).end(body);
}
