import { refusal, type ModelAnswer, type ModelCall } from '../call';
import type { Rule } from '../rule';
import { blocksOf } from '../xml';

/** What was asked before is answered as before a write, for so many more questions of the same words: reads are behind. moto's never are. */
export function laggingReads(behind: number): Rule {
  const answers = new Map<string, ModelAnswer>();
  const left = new Map<string, number>();
  const stale = new WeakSet<ModelCall>();
  return {
    before(call) {
      const question = call.parameters.toString();
      const [old, times] = [answers.get(question), left.get(question) ?? 0];
      if (call.verb !== 'list' || old === undefined || times === 0) return undefined;
      left.set(question, times - 1);
      stale.add(call);
      return old;
    },
    after(call, answer) {
      if (call.verb === 'list' && !stale.has(call)) answers.set(call.parameters.toString(), answer);
      if (call.verb !== 'list' && answer.status === 200) for (const question of answers.keys()) left.set(question, behind);
      return answer;
    },
  };
}

const MADE = /<(?:LoadBalancerArn|TargetGroupArn|ListenerArn|groupId|securityGroupRuleId)>([^<]+)</g;

/** What was made is in no list for so many lists that it belongs to, and a group of EC2's is unknown to as many calls that name it. */
export function unknownAtFirst(times: number): Rule {
  const left = new Map<string, number>();
  const use = (id: string): boolean => {
    const now = left.get(id) ?? 0;
    left.set(id, Math.max(0, now - 1));
    return now > 0;
  };
  return {
    before({ service, verb, parameters }) {
      if (verb === 'list') return undefined;
      const unknown = [...parameters.values()].find((value) => value.startsWith('sg-') && use(value));
      if (unknown === undefined) return undefined;
      return service === 'ec2'
        ? refusal('InvalidGroup.NotFound', `The security group '${unknown}' does not exist`)
        : refusal('InvalidSecurityGroup', `Security group '${unknown}' does not exist`);
    },
    after({ verb }, answer) {
      if (answer.status !== 200) return answer;
      const ids = [...new Set([...answer.body.matchAll(MADE)].map(([, id = '']) => id))];
      if (verb === 'create') for (const id of ids.filter((one) => !left.has(one))) left.set(id, times);
      return verb === 'list' ? { ...answer, body: ids.filter(use).reduce(without, answer.body) } : answer;
    },
  };
}

/** A list without the entry of that id. */
function without(xml: string, id: string): string {
  const entry = [...blocksOf(xml, 'member'), ...blocksOf(xml, 'item')].find((block) => block.includes(id));
  return entry === undefined ? xml : xml.replace(entry, '');
}
