import { listOf, refusal, type ModelAnswer, type ModelCall } from '../call';
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
/** Classic load balancers are known by name. */
const NAMED = /<LoadBalancerName>([^<]+)</g;

/** Ids in what the service answered; what makes a Classic load balancer is not answered with its name. */
function idsIn({ service, verb, parameters }: ModelCall, { body }: ModelAnswer): string[] {
  if (service === 'elb' && verb === 'create') return parameters.getAll('LoadBalancerName');
  return [...new Set([...body.matchAll(service === 'elb' ? NAMED : MADE)].map(([, id = '']) => id))];
}

/** Counts down by id, from when it was met first. */
class Countdown {
  private readonly left = new Map<string, number>();

  constructor(private readonly times: number) {}

  begin(ids: readonly string[]): void {
    for (const id of ids) if (!this.left.has(id)) this.left.set(id, this.times);
  }

  /** True for so many times. */
  readonly use = (id: string): boolean => {
    const now = this.left.get(id) ?? 0;
    this.left.set(id, Math.max(0, now - 1));
    return now > 0;
  };
}

/** What was made is in no list for so many lists that it belongs to, and a group of EC2's is unknown to as many calls that name it. */
export function unknownAtFirst(times: number): Rule {
  const unknown = new Countdown(times);
  return {
    before({ service, verb, parameters }) {
      if (verb === 'list') return undefined;
      const group = [...parameters.values()].find((value) => value.startsWith('sg-') && unknown.use(value));
      if (group === undefined) return undefined;
      return service === 'ec2'
        ? refusal('InvalidGroup.NotFound', `The security group '${group}' does not exist`)
        : refusal('InvalidSecurityGroup', `Security group '${group}' does not exist`);
    },
    after(call, answer) {
      if (answer.status !== 200) return answer;
      const ids = idsIn(call, answer);
      if (call.verb === 'create') unknown.begin(ids);
      return call.verb === 'list' ? { ...answer, body: ids.filter(unknown.use).reduce(without, answer.body) } : answer;
    },
  };
}

/** So many calls for the tags of what was made are refused, for all that they ask for: it is not there yet. */
export function untaggedAtFirst(times: number): Rule {
  const unknown = new Countdown(times);
  return {
    before(call) {
      if (call.action !== 'DescribeTags' || call.service === 'ec2') return undefined;
      const asked = [...listOf(call, 'ResourceArns'), ...listOf(call, 'LoadBalancerNames')];
      const first = asked.find(unknown.use);
      if (first === undefined) return undefined;
      const kind = /:(targetgroup|listener)\//.exec(first)?.[1];
      const code = kind === 'targetgroup' ? 'TargetGroupNotFound' : kind === 'listener' ? 'ListenerNotFound' : 'LoadBalancerNotFound';
      return refusal(code, `'${first}' not found`);
    },
    after(call, answer) {
      if (call.verb === 'create' && answer.status === 200) unknown.begin(idsIn(call, answer));
      return answer;
    },
  };
}

/** A list without the entry of that id. */
function without(xml: string, id: string): string {
  const entry = [...blocksOf(xml, 'member'), ...blocksOf(xml, 'item')].find((block) => block.includes(id));
  return entry === undefined ? xml : xml.replace(entry, '');
}
