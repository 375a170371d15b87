import type { Clock } from '../../../../operator/base/clock';
import type { Rule } from '../rule';

/** A Network Load Balancer is provisioning for some minutes, and active then. moto's is active from the second look on. */
export function provisioning({ clock, provisioningMs }: { clock: Clock; provisioningMs: number }): Rule {
  const activeAt = new Map<string, number>();
  const stateOf = (arn: string): string => ((activeAt.get(arn) ?? 0) > clock.monotonic() ? 'provisioning' : 'active');
  return {
    after({ service, action }, answer) {
      if (service !== 'elbv2' || !['CreateLoadBalancer', 'DescribeLoadBalancers'].includes(action)) return answer;
      const arns = [...answer.body.matchAll(/<LoadBalancerArn>([^<]+)</g)].map(([, arn = '']) => arn);
      if (action === 'CreateLoadBalancer') {
        for (const arn of arns.filter((one) => !activeAt.has(one))) activeAt.set(arn, clock.monotonic() + provisioningMs);
      }
      let index = 0;
      // one state for each load balancer, in the same order
      const body = answer.body.replaceAll(/(<State>\s*<Code>)[^<]*/g, (_all, before: string) => before + stateOf(arns[index++] ?? ''));
      return { ...answer, body };
    },
  };
}
