import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands between a client and moto's KMS: counts calls, and answers in its place as AWS would where moto has no such rule. */
export class KmsProxy {
  /** `Decrypt` … of all calls so far, also of those that met a fault. */
  readonly calls: string[] = [];
  /** Name of the exception that a call is answered with; `cut` = no answer. */
  fault: (call: string) => string | undefined = () => undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(private readonly motoURL: string) {}

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { 'x-amz-target': target = '', authorization = '', 'content-type': type = '' } = request.headers;
    const call = String(target).split('.').at(-1) ?? '';
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault === 'cut') return void response.destroy();
    if (fault !== undefined) return answer(response, 400, JSON.stringify({ __type: fault, message: `told to say ${fault}` }));
    const headers = { 'x-amz-target': String(target), authorization, 'content-type': type };
    const forwarded = await fetch(this.motoURL, { method: 'POST', headers, body: Buffer.concat(chunks) });
    answer(response, forwarded.status, await forwarded.text());
  }
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(body);
}
