import { refusal } from '../call';
import type { Rule } from '../rule';

/** How many a region may have, by AWS's names. */
export type RegionLimits = Readonly<Record<'network-load-balancers' | 'target-groups', number>>;

/** A region has room for so many. moto has room for any number, and tells other limits. */
export function regionLimits(most: RegionLimits): Rule {
  return {
    async before({ service, action }, { elb }) {
      if (service !== 'elbv2') return undefined;
      if (action === 'CreateLoadBalancer') {
        const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
        if (LoadBalancers.length >= most['network-load-balancers'])
          return refusal('TooManyLoadBalancers', 'The maximum number of load balancers has been reached');
      }
      if (action === 'CreateTargetGroup') {
        const { TargetGroups = [] } = await elb.describeTargetGroups({});
        if (TargetGroups.length >= most['target-groups'])
          return refusal('TooManyTargetGroups', 'The maximum number of target groups has been reached');
      }
      return action === 'DescribeAccountLimits' ? { status: 200, body: answer(most) } : undefined;
    },
  };
}

function answer(most: RegionLimits): string {
  const members = Object.entries(most).map(([name, max]) => `<member><Name>${name}</Name><Max>${max}</Max></member>`);
  const result = `<DescribeAccountLimitsResult><Limits>${members.join('')}</Limits></DescribeAccountLimitsResult>`;
  return `<DescribeAccountLimitsResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">${result}</DescribeAccountLimitsResponse>`;
}
