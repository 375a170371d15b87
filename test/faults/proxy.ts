import http, { type IncomingMessage, type RequestOptions, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** One request on its way through the proxy, with its answer once there is one. */
export interface Exchange {
  side: Side;
  method: string;
  /** Without the query. */
  path: string;
  /** The X-Caller header of the local cloud's API; empty where there is none. */
  caller: string;
  body: string;
  /** Milliseconds on the monotonic clock at which it arrived here, before anything held it. */
  arrivedAt: number;
  answer?: { status: number; body: string };
}
export type Side = 'api' | 'cloud';

/** `request`: not sent on yet; `answered`: carried out, the answer is still here; `delivered`: the caller has it. */
export type Moment = 'request' | 'answered' | 'delivered';

/** What becomes of an exchange: goes on, its connection is closed without an answer, or it is answered here. */
export type Action = 'pass' | 'drop' | { status: number; headers?: Record<string, string>; body: string };

export type Tap = (exchange: Exchange, moment: Moment) => Action | Promise<Action>;

export interface ProxyOptions {
  side: Side;
  /** `http://127.0.0.1:1234` or https. */
  target: string;
  /** Of the target's certificate; the proxy shows the same one to its callers. */
  tls?: { ca: Buffer; cert: Buffer; key: Buffer };
  /** Path of a unix socket to listen on; absent = any free port of 127.0.0.1. */
  socket?: string;
  /** Sees every request but watches. */
  tap: Tap;
  /** Sees watches before they are sent on; absent = all are. */
  watchTap?: Tap;
}

/** Stands between the operator and a server, so that requests can be seen, held, lost, refused, and the whole connection broken. */
export class FaultProxy {
  private readonly server: Server;
  private readonly agent: http.Agent;
  private readonly sockets = new Set<Socket>();
  private refusing = false;
  private stalled: { opened: Promise<void>; open: () => void } | undefined;

  private constructor(private readonly options: ProxyOptions) {
    const { tls } = options;
    this.agent = tls === undefined ? new http.Agent({ keepAlive: true }) : new https.Agent({ keepAlive: true, ca: tls.ca });
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      this.handle(request, response).catch(() => request.socket.destroy());
    };
    this.server = tls === undefined ? http.createServer(handle) : https.createServer({ cert: tls.cert, key: tls.key }, handle);
    this.server.keepAliveTimeout = 120_000;
    this.server.on('connection', (socket: Socket) => {
      if (this.refusing) return void socket.destroy();
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(options: ProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    const where = options.socket === undefined ? { host: '127.0.0.1', port: 0 } : { path: options.socket };
    await new Promise<void>((resolve) => proxy.server.listen(where, resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Closes all connections, and every new one at once. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /** Closes all connections, watches too. */
  cut(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  /** Connections stay, and nothing comes through any more. */
  stall(): void {
    if (this.stalled !== undefined) return;
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.stalled = { opened, open };
  }

  /** Everything goes through again; what was held goes on. */
  open(): void {
    this.refusing = false;
    this.stalled?.open();
    this.stalled = undefined;
  }

  async stop(): Promise<void> {
    this.open();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    this.agent.destroy();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://proxy');
    const arrivedAt = performance.now();
    const body = await textOf(request);
    await this.stalled?.opened;
    const isWatch = url.searchParams.has('watch');
    const caller = request.headers['x-caller'];
    const exchange: Exchange = {
      side: this.options.side,
      method: request.method ?? 'GET',
      path: url.pathname,
      caller: typeof caller === 'string' ? caller : '',
      body,
      arrivedAt,
    };
    const tap = isWatch ? this.options.watchTap : this.options.tap;
    if (carriedOut((await tap?.(exchange, 'request')) ?? 'pass', request, response)) return;
    if (isWatch) return this.stream(request, response);
    const { status, headers, text } = await this.forward(request, body);
    exchange.answer = { status, body: text };
    await this.stalled?.opened;
    if (carriedOut(await this.options.tap(exchange, 'answered'), request, response)) return;
    response.writeHead(status, headers);
    response.end(text, () => void this.options.tap(exchange, 'delivered'));
  }

  private forward(request: IncomingMessage, body: string): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = this.send(request, (answer) => {
        const headers = { ...answer.headers };
        delete headers['transfer-encoding'];
        textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 502, headers, text }), reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  /** A watch: each piece goes on as it comes. */
  private stream(request: IncomingMessage, response: ServerResponse): void {
    const sent = this.send(request, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('data', (piece: Buffer) => {
        const { stalled } = this;
        if (stalled === undefined) return void response.write(piece);
        answer.pause();
        void stalled.opened.then(() => {
          response.write(piece);
          answer.resume();
        });
      });
      answer.once('end', () => response.end());
      answer.once('error', () => response.destroy());
    });
    sent.once('error', () => response.destroy());
    response.once('close', () => sent.destroy());
    sent.end();
  }

  private send(request: IncomingMessage, onAnswer: (answer: IncomingMessage) => void): http.ClientRequest {
    const { target, tls } = this.options;
    const { hostname, port } = new URL(target);
    const options: RequestOptions = {
      hostname,
      port,
      path: request.url,
      method: request.method,
      headers: request.headers,
      agent: this.agent,
    };
    return tls === undefined ? http.request(options, onAnswer) : https.request({ ...options, ca: tls.ca }, onAnswer);
  }
}

function carriedOut(action: Action, request: IncomingMessage, response: ServerResponse): boolean {
  if (action === 'pass') return false;
  if (action === 'drop') request.socket.destroy();
  else {
    response.writeHead(action.status, { 'content-type': 'application/json', ...action.headers });
    response.end(action.body);
  }
  return true;
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
