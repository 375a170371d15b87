import type { IncomingMessage, ServerResponse } from 'node:http';
import { EC2 } from '@aws-sdk/client-ec2';
import { ElasticLoadBalancing } from '@aws-sdk/client-elastic-load-balancing';
import { ElasticLoadBalancingV2 } from '@aws-sdk/client-elastic-load-balancing-v2';
import { bodyOf, LoopbackServer } from '../loopback-server';
import { parseCall, refusal, type CallVerb, type ModelAnswer, type ModelCall } from './call';
import type { MotoState, Rule } from './rule';
import { alwaysRules } from './rules';

/** A call that came in, and the status of its answer once there is one. */
export interface RecordedCall extends Pick<ModelCall, 'service' | 'action' | 'verb'> {
  status?: number;
}

/**
 * Stands in front of moto and keeps those of AWS's rules that moto does not; counts calls, loses answers, refuses lists. What it knows of AWS is
 * the right column of the table in which moto and AWS differ.
 */
export class AwsModel extends LoopbackServer {
  readonly calls: RecordedCall[] = [];
  /** Every action that anybody has asked for since the start, as IAM calls it. */
  readonly actions = new Set<string>();
  /** Answers of which kind get lost, and how many more. */
  lost: { verb: CallVerb; times: number } | undefined;
  failsLists = false;
  private readonly moto: MotoState;

  /** @param rules an earlier one's answer stands; absent = those that need no settings */
  constructor(
    private readonly motoURL: string,
    region: string,
    private readonly rules: readonly Rule[] = alwaysRules(),
  ) {
    super();
    const config = { region, endpoint: motoURL, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
    this.moto = { ec2: new EC2(config), elb: new ElasticLoadBalancingV2(config), classic: new ElasticLoadBalancing(config) };
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.moto.ec2.destroy();
    this.moto.elb.destroy();
    this.moto.classic.destroy();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = parseCall((await bodyOf(request)).toString());
    const { service, action, verb } = call;
    const record: RecordedCall = { service, action, verb };
    this.calls.push(record);
    this.actions.add(`${service === 'ec2' ? 'ec2' : 'elasticloadbalancing'}:${action}`);
    const { status, body } = await this.answer(call, request).catch((thrown: unknown) => refusal('InternalError', String(thrown), 500));
    record.status = status;
    if (this.lost?.verb === verb && this.lost.times-- > 0) return void response.destroy();
    response.writeHead(status, { 'content-type': 'text/xml' });
    response.end(body);
  }

  private async answer(call: ModelCall, request: IncomingMessage): Promise<ModelAnswer> {
    if (this.failsLists && call.verb === 'list') return refusal('UnauthorizedOperation', 'told to refuse', 403);
    let answer = (await this.ruledOut(call)) ?? (await this.forward(call, request));
    for (const rule of this.rules) answer = (await rule.after?.(call, answer, this.moto)) ?? answer;
    return answer;
  }

  private async ruledOut(call: ModelCall): Promise<ModelAnswer | undefined> {
    for (const rule of this.rules) {
      const answer = await this.ask(rule, call);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** What a call names may be gone when a rule looks at it: then moto says so. */
  private async ask(rule: Rule, call: ModelCall): Promise<ModelAnswer | undefined> {
    try {
      return await rule.before?.(call, this.moto);
    } catch (thrown) {
      if (thrown instanceof Error && /NotFound(Exception)?$/.test(thrown.name)) return undefined;
      throw thrown;
    }
  }

  private async forward({ parameters }: ModelCall, { headers }: IncomingMessage): Promise<ModelAnswer> {
    const { authorization = '', 'content-type': type = '' } = headers;
    const sent = await fetch(this.motoURL, {
      method: 'POST',
      headers: { authorization, 'content-type': type },
      body: parameters.toString(),
    });
    return { status: sent.status, body: await sent.text() };
  }
}
