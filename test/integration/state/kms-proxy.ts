import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';

/** Stands between a client and moto's KMS: counts calls, and answers in its place as AWS would where moto has no such rule. */
export class KmsProxy extends LoopbackServer {
  /** `Decrypt` … of all calls so far, also of those that met a fault. */
  readonly calls: string[] = [];
  /** Name of the exception that a call is answered with; `cut` = no answer. */
  fault: (call: string) => string | undefined = () => undefined;

  constructor(private readonly motoURL: string) {
    super();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { 'x-amz-target': target = '', authorization = '', 'content-type': type = '' } = request.headers;
    const call = String(target).split('.').at(-1) ?? '';
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault === 'cut') return void response.destroy();
    if (fault !== undefined) return answer(response, 400, JSON.stringify({ __type: fault, message: `told to say ${fault}` }));
    const headers = { 'x-amz-target': String(target), authorization, 'content-type': type };
    const forwarded = await fetch(this.motoURL, { method: 'POST', headers, body });
    answer(response, forwarded.status, await forwarded.text());
  }
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(body);
}
