import type { Rule } from '../rule';

const ENFORCEMENT = 'EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic';

/** A load balancer with security groups: all from its ARN to the first of them. */
const GROUPED = /<LoadBalancerArn>([^<]+)<\/LoadBalancerArn>(?:(?!<LoadBalancerArn>)[^])*?<SecurityGroups>\s*<member>/g;

/** Whether the groups of a load balancer hold for what comes by PrivateLink is said with the groups, and told of each that has any. moto forgets it. */
export function privateLinkRules(): Rule {
  const said = new Map<string, string>();
  return {
    after({ service, action, parameters }, answer) {
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      const word = parameters.get(ENFORCEMENT);
      if (action === 'SetSecurityGroups' && word !== null) said.set(parameters.get('LoadBalancerArn') ?? '', word);
      if (action !== 'DescribeLoadBalancers') return answer;
      const body = answer.body.replaceAll(
        GROUPED,
        (told: string, arn: string) => `<${ENFORCEMENT}>${said.get(arn) ?? 'on'}</${ENFORCEMENT}>${told}`,
      );
      return { ...answer, body };
    },
  };
}
