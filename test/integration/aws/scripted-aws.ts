import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';

/** One call, as the query protocol of EC2 and ELBv2 has it. */
export interface ReceivedCall {
  action: string;
  parameters: URLSearchParams;
  /** What it is signed for, such as `eu-central-1/ec2`. */
  scope: string;
}

/** What a call is answered: a status with a body, or `cut` for a connection that ends without an answer. */
export type Answer = 'cut' | { status: number; body: string; headers?: Record<string, string> };

/** A real HTTP server that answers like the APIs of AWS, as it is told. */
export class ScriptedAws extends LoopbackServer {
  readonly calls: ReceivedCall[] = [];
  answer: (call: ReceivedCall, number: number) => Answer = () => failure('Unscripted', 400);

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = new URLSearchParams((await bodyOf(request)).toString());
    const [, scope = ''] = /Credential=[^/]+\/\d{8}\/([^/]+\/[^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
    const call = { action: parameters.get('Action') ?? '', parameters, scope };
    this.calls.push(call);
    const answer = this.answer(call, this.calls.length);
    if (answer === 'cut') return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'text/xml', ...answer.headers });
    response.end(answer.body);
  }
}

/** An error in the form of both APIs. */
export function failure(code: string, status: number, message = 'told so', headers: Record<string, string> = {}): Answer {
  const error = `<Code>${code}</Code><Message>${message}</Message>`;
  const body = `<Response><Errors><Error>${error}</Error></Errors><Error>${error}</Error><RequestID>1</RequestID></Response>`;
  return { status, body, headers };
}

/** One page of DescribeInstances. */
export function instancesPage(ids: string[], next?: string): Exclude<Answer, 'cut'> {
  const items = ids.map((id) => `<item><instanceId>${id}</instanceId></item>`).join('');
  const token = next === undefined ? '' : `<nextToken>${next}</nextToken>`;
  const set = `<reservationSet><item><instancesSet>${items}</instancesSet></item></reservationSet>`;
  return { status: 200, body: `<DescribeInstancesResponse><requestId>1</requestId>${set}${token}</DescribeInstancesResponse>` };
}
