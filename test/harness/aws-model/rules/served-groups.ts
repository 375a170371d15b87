import { fieldsOf, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** A target group tells the load balancers that route to it: none any more once its listener is gone. moto goes on telling it. */
export function servedGroups(): Rule {
  /** Load balancers by target group. */
  const former = new Map<string, Set<string>>();
  const ends = new WeakMap<ModelCall, { loadBalancer: string; groups: string[] }>();
  return {
    async before(call, moto) {
      if (call.service === 'elbv2' && call.action === 'DeleteListener')
        ends.set(call, await routeOf(call.parameters.get('ListenerArn') ?? '', moto));
      return undefined;
    },
    after(call, answer) {
      const { service, action, parameters } = call;
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      const { loadBalancer, groups } = ends.get(call) ?? { loadBalancer: '', groups: [] };
      for (const group of groups) former.set(group, (former.get(group) ?? new Set()).add(loadBalancer));
      if (action === 'CreateListener') {
        const begins = parameters.get('LoadBalancerArn') ?? '';
        for (const group of fieldsOf(call, 'DefaultActions', 'TargetGroupArn')) former.get(group)?.delete(begins);
      }
      return action === 'DescribeTargetGroups' ? { ...answer, body: without(answer.body, former) } : answer;
    },
  };
}

/** A target group in an answer, as far as its load balancers. */
const GROUP = /<TargetGroupArn>([^<]+)<\/TargetGroupArn>(?:(?!<TargetGroupArn>)[\s\S])*?<\/LoadBalancerArns>/g;

function without(body: string, former: ReadonlyMap<string, ReadonlySet<string>>): string {
  return body.replaceAll(GROUP, (told: string, group: string) =>
    [...(former.get(group) ?? [])].reduce((text, arn) => text.replace(`<member>${arn}</member>`, ''), told),
  );
}

async function routeOf(arn: string, { elb }: MotoState): Promise<{ loadBalancer: string; groups: string[] }> {
  const { Listeners = [] } = await elb.describeListeners({ ListenerArns: [arn] }).catch(() => ({ Listeners: [] }));
  const [{ LoadBalancerArn = '', DefaultActions = [] } = {}] = Listeners;
  return { loadBalancer: LoadBalancerArn, groups: DefaultActions.map(({ TargetGroupArn = '' }) => TargetGroupArn) };
}
