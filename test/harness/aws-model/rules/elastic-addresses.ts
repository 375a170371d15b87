import type { Clock } from '../../../../operator/base/clock';
import { fieldsOf, refusal } from '../call';
import type { Rule } from '../rule';

/** How long the interfaces of a deleted load balancer keep its addresses. */
export interface Holding {
  clock: Clock;
  holdMs: number;
}

/**
 * An Elastic IP address is on one load balancer, and on that for a while after it is deleted, minutes in AWS
 * (hashicorp/terraform-provider-aws#15031). moto forgets addresses.
 */
export function elasticAddresses({ clock, holdMs }: Holding): Rule {
  const held = new Map<string, { by: string; until: number }>();
  return {
    before(call) {
      const { service, action, parameters } = call;
      if (service !== 'elbv2') return undefined;
      if (action === 'DeleteLoadBalancer') {
        const arn = parameters.get('LoadBalancerArn') ?? '';
        for (const holding of held.values()) if (holding.by === arn) holding.until = clock.monotonic() + holdMs;
      }
      if (action !== 'CreateLoadBalancer') return undefined;
      const isHeld = fieldsOf(call, 'SubnetMappings', 'AllocationId').some((id) => (held.get(id)?.until ?? 0) > clock.monotonic());
      return isHeld ? refusal('ResourceInUse', 'The allocation IDs are not available for use') : undefined;
    },
    after(call, answer) {
      if (call.service !== 'elbv2' || call.action !== 'CreateLoadBalancer' || answer.status !== 200) return answer;
      const by = /<LoadBalancerArn>([^<]+)</.exec(answer.body)?.[1] ?? '';
      for (const id of fieldsOf(call, 'SubnetMappings', 'AllocationId')) held.set(id, { by, until: Number.POSITIVE_INFINITY });
      return answer;
    },
  };
}
