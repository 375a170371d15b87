import { createSocket } from 'node:dgram';
import { request } from 'node:http';

export interface Endpoint {
  ip: string;
  port: number;
}

/** One HTTP request on a new connection. @returns the answer's body; rejects when there is none within `timeoutMs` */
export function httpGet({ ip, port }: Endpoint, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: ip, port, path: '/', agent: false, timeout: timeoutMs }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer from ${ip}:${port} within ${timeoutMs} ms`)));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Sends one datagram and waits for the answer. */
export function udpEcho({ ip, port }: Endpoint, text: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const timer = setTimeout(() => finish(() => reject(new Error(`no datagram from ${ip}:${port} within ${timeoutMs} ms`))), timeoutMs);
    const finish = (then: () => void): void => {
      clearTimeout(timer);
      socket.close();
      then();
    };
    socket.on('message', (message) => finish(() => resolve(message.toString())));
    socket.on('error', (error) => finish(() => reject(error)));
    socket.send(text, port, ip);
  });
}

export interface LoadResult {
  requests: number;
  failures: string[];
}

/** Constant load, `concurrency` requests at a time, each on a new connection, until `stop` is called. */
export class Load {
  private running = true;
  private readonly result: LoadResult = { requests: 0, failures: [] };
  private readonly workers: Promise<void>[];

  constructor(
    private readonly endpoint: Endpoint,
    concurrency: number,
    private readonly pauseMs: number,
  ) {
    this.workers = Array.from({ length: concurrency }, () => this.work());
  }

  /** Sent so far. */
  get requests(): number {
    return this.result.requests;
  }

  async stop(): Promise<LoadResult> {
    this.running = false;
    await Promise.all(this.workers);
    return this.result;
  }

  private async work(): Promise<void> {
    while (this.running) {
      this.result.requests += 1;
      await httpGet(this.endpoint, 2000).catch((error: Error) => this.result.failures.push(error.message));
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }
}
