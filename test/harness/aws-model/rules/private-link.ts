import type { Rule } from '../rule';

const ENFORCEMENT = 'EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic';

/** Whether the groups of a load balancer hold for what comes by PrivateLink is said with the groups, and told of it. moto forgets it. */
export function privateLinkRules(): Rule {
  const said = new Map<string, string>();
  return {
    after({ service, action, parameters }, answer) {
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      const word = parameters.get(ENFORCEMENT);
      if (action === 'SetSecurityGroups' && word !== null) said.set(parameters.get('LoadBalancerArn') ?? '', word);
      if (action !== 'DescribeLoadBalancers') return answer;
      const body = answer.body.replaceAll(/<LoadBalancerArn>([^<]+)<\/LoadBalancerArn>/g, (told: string, arn: string) => {
        const known = said.get(arn);
        return known === undefined ? told : `${told}<${ENFORCEMENT}>${known}</${ENFORCEMENT}>`;
      });
      return { ...answer, body };
    },
  };
}
