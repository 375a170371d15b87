import { refusal } from '../call';
import type { Rule } from '../rule';

const PROTECTION = 'deletion_protection.enabled';

/** A load balancer with deletion protection is not deleted. moto keeps the attribute, and deletes it. */
export function deletionProtection(): Rule {
  return {
    async before({ service, action, parameters }, { elb }) {
      if (service !== 'elbv2' || action !== 'DeleteLoadBalancer') return undefined;
      const LoadBalancerArn = parameters.get('LoadBalancerArn') ?? '';
      const { Attributes = [] } = await elb.describeLoadBalancerAttributes({ LoadBalancerArn }).catch(() => ({ Attributes: [] }));
      if (!Attributes.some(({ Key, Value }) => Key === PROTECTION && Value === 'true')) return undefined;
      return refusal(
        'OperationNotPermitted',
        `Load balancer '${LoadBalancerArn}' cannot be deleted because deletion protection is enabled`,
      );
    },
  };
}
