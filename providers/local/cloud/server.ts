import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmod, unlink } from 'node:fs/promises';
import type { Clock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { ApiFailure, invalid, notFound, toApiFailure } from './api-failure';
import { isCollection } from './entry';
import { failureAnswer, verbOf, type Answer, type Service } from './service';
import type { Admin } from './admin';
import type { Metrics } from './metrics';
import { isAuthorized } from './token';

export interface ServerOptions {
  service: Service;
  admin: Admin;
  metrics: Metrics;
  clock: Clock;
  token: string;
}

const LARGEST_BODY = 4 * 1024 * 1024;
/** A longer body is read to its end, so that the answer arrives, but not beyond this. */
const LONGEST_DRAIN = 8 * LARGEST_BODY;
/** Calls on their way have so long to end when the server closes. */
const CLOSE_GRACE_MS = 2000;
/** Longer than clients keep idle connections, so that they close them and not we. */
const KEEP_ALIVE_MS = 65_000;
const CALLER = /^[\x21-\x7e]{1,64}$/;

/** HTTP in front of the service. */
export class Server {
  private readonly http: HttpServer;
  private closing = false;

  constructor(private readonly options: ServerOptions) {
    this.http = createServer((request, response) => void this.handle(request, response));
    this.http.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  /**
   * Listens on 127.0.0.1:port (0 = any free one) or on a unix socket that only this user can open.
   * @returns the endpoint: `http://127.0.0.1:PORT` or `unix:PATH`
   * @throws OperatorError Conflict when the port is taken
   */
  async listen({ port, socket }: { port?: number; socket?: string }): Promise<string> {
    // The directory's lock is ours: a socket file that is still there belongs to a process that died.
    if (socket !== undefined) await unlink(socket).catch(() => undefined);
    await new Promise<void>((resolve, reject) => {
      this.http.once('error', (error) => reject(describeListen(error, port)));
      const done = (): void => {
        this.http.removeAllListeners('error');
        resolve();
      };
      if (socket === undefined) this.http.listen({ host: '127.0.0.1', port: port ?? 0 }, done);
      else this.http.listen({ path: socket }, done);
    });
    if (socket === undefined) return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
    await chmod(socket, 0o600);
    return `unix:${socket}`;
  }

  /** Lets calls on their way end for a moment; resolves when all connections are closed. */
  close(): Promise<void> {
    this.closing = true;
    return new Promise((resolve) => {
      const cancel = this.options.clock.after(CLOSE_GRACE_MS, () => this.http.closeAllConnections());
      this.http.close(() => {
        cancel();
        resolve();
      });
      this.http.closeIdleConnections();
    });
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.answer(request).catch((error: unknown) => failureAnswer(toApiFailure(error)));
    if (answer.lost === true) {
      request.socket.destroy();
      return;
    }
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    const type = typeof answer.body === 'string' ? 'text/plain; version=0.0.4' : 'application/json';
    if (this.closing) response.setHeader('Connection', 'close');
    response.writeHead(answer.status, { 'Content-Type': type, 'X-Request-Id': randomUUID(), ...answer.headers });
    response.end(text);
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    const url = parseURL(request.url ?? '/');
    const method = request.method ?? 'GET';
    if (url.pathname === '/healthz') return this.options.admin.health();
    if (!isAuthorized(request.headers.authorization, this.options.token)) {
      throw new ApiFailure('Unauthorized', 'send the token of the token file as "Authorization: Bearer <token>"');
    }
    const path = url.pathname.split('/').slice(1).map(decode);
    const body = method === 'GET' || method === 'DELETE' ? undefined : await readJson(request);
    if (path[0] === 'v1') return this.api(request, path.slice(1), url.searchParams, body);
    const answer = await this.options.admin.answer(`${method} ${url.pathname}`, body);
    if (answer === undefined) throw new ApiFailure('NotFound', `there is no ${url.pathname}`);
    return answer;
  }

  private async api(request: IncomingMessage, path: string[], query: URLSearchParams, body: unknown): Promise<Answer> {
    const [collection = '', id, sub, ...more] = path;
    const known = more.length === 0 && (sub === undefined || (sub === 'targets' && collection === 'pools'));
    if (!isCollection(collection) || !known) throw new ApiFailure('NotFound', `there is no /v1/${path.join('/')}`);
    if (id === '') throw notFound(collection, id);
    const verb = verbOf(request.method ?? 'GET', id, sub);
    const ifMatch = request.headers['if-match'];
    const started = this.options.clock.monotonic();
    const answer = await this.options.service.answer({
      verb,
      collection,
      query,
      body,
      caller: callerOf(request),
      ...(id === undefined ? {} : { id }),
      ...(ifMatch === undefined ? {} : { ifMatch }),
    });
    this.options.metrics.observe(verb, collection, answer.status, (this.options.clock.monotonic() - started) / 1000);
    return answer;
  }
}

function parseURL(text: string): URL {
  if (!text.startsWith('/') || !URL.canParse(`http://localhost${text}`)) throw invalid('path', `"${text}" is not a path`);
  return new URL(`http://localhost${text}`);
}

function describeListen(error: NodeJS.ErrnoException, port: number | undefined): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new OperatorError('Conflict', `port ${port} on 127.0.0.1 is taken`, {
    cause: error,
    remedy: 'choose another port, or 0 for any free one',
  });
}

function callerOf(request: IncomingMessage): string {
  const caller = request.headers['x-caller'];
  return typeof caller === 'string' && CALLER.test(caller) ? caller : 'unknown';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('path', `"${part}" is not well encoded`);
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LARGEST_BODY) chunks.push(chunk);
    if (size > LONGEST_DRAIN) break; // leaving the loop closes the connection
  }
  if (size > LARGEST_BODY) {
    throw new ApiFailure('InvalidArgument', `the body is longer than ${LARGEST_BODY} bytes`, { field: 'body', status: 413 });
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw invalid('body', `is not JSON: ${(error as Error).message}`);
  }
}
