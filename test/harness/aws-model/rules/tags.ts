import { listOf, refusal } from '../call';
import type { Rule } from '../rule';

/** The tags of Classic load balancers are written one load balancer at a time. moto takes many. */
export function oneClassicAtATime(): Rule {
  return {
    before(call) {
      if (call.service !== 'elb' || !['AddTags', 'RemoveTags'].includes(call.action)) return undefined;
      return listOf(call, 'LoadBalancerNames').length > 1
        ? refusal('ValidationError', 'Only one load balancer can be specified')
        : undefined;
    },
  };
}
