import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '../../../operator/kube/kube-config';

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => unknown;

/** A real HTTP server on loopback that answers as the test says: for the failures that a real API server can't be made to show. */
export class FakeApiServer {
  readonly requests: SeenRequest[] = [];
  /** TCP connections accepted so far. */
  connections = 0;
  private readonly server: Server;
  private answer: Answer;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.server = createServer((request, response) => void this.handle(request, response));
    this.server.on('connection', () => (this.connections += 1));
  }

  static async start(answer: Answer): Promise<FakeApiServer> {
    const fake = new FakeApiServer(answer);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  answerWith(answer: Answer): void {
    this.answer = answer;
  }

  kubeConfig(user: Record<string, unknown> = {}): KubeConfig {
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'fake', server: this.url, skipTLSVerify: true }, { name: 'tester', ...user });
    return config;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    this.requests.push(seen);
    await this.answer(seen, response);
  }
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function statusBody(code: number, reason: string, message: string, details?: object): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, ...(details === undefined ? {} : { details }) };
}
