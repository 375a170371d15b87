import type { Clock } from '../../../../operator/base/clock';
import type { Rule } from '../rule';

export interface Provisioning {
  clock: Clock;
  provisioningMs: number;
  /** What else AWS says of one, by its name: the state that it came to, and why. */
  others?: ReadonlyMap<string, { code: 'failed' | 'active_impaired'; reason: string }>;
}

/** A Network Load Balancer is provisioning for some minutes, and active then. moto's is active from the second look on. */
export function provisioning({ clock, provisioningMs, others = new Map() }: Provisioning): Rule {
  const activeAt = new Map<string, number>();
  const stateOf = (arn: string): string => {
    const other = others.get(arn.split('/').at(-2) ?? '');
    if (other !== undefined) return `<Code>${other.code}</Code><Reason>${other.reason}</Reason>`;
    return `<Code>${(activeAt.get(arn) ?? 0) > clock.monotonic() ? 'provisioning' : 'active'}</Code>`;
  };
  return {
    after({ service, action }, answer) {
      if (service !== 'elbv2' || !['CreateLoadBalancer', 'DescribeLoadBalancers'].includes(action)) return answer;
      const arns = [...answer.body.matchAll(/<LoadBalancerArn>([^<]+)</g)].map(([, arn = '']) => arn);
      if (action === 'CreateLoadBalancer') {
        for (const arn of arns.filter((one) => !activeAt.has(one))) activeAt.set(arn, clock.monotonic() + provisioningMs);
      }
      let index = 0;
      // one state for each load balancer, in the same order
      const body = answer.body.replaceAll(/<State>.*?<\/State>/gs, () => `<State>${stateOf(arns[index++] ?? '')}</State>`);
      return { ...answer, body };
    },
  };
}
