import type { ModelCall } from '../call';
import type { Rule } from '../rule';
import { withZoneAddresses } from './zone-addresses';

const FIELDS = ['PrivateIPv4Address', 'IPv6Address'] as const;

/**
 * A load balancer has the addresses of its subnets that it was made with, and tells them, those of each family by themselves
 * (hashicorp/terraform-provider-aws#49531). moto forgets them.
 */
export function subnetAddresses(): Rule {
  /** By ARN, then by subnet: what stands in the answer of each address. */
  const given = new Map<string, Map<string, string[]>>();
  return {
    after(call, answer) {
      const { service, action } = call;
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      if (action === 'CreateLoadBalancer') given.set(/<LoadBalancerArn>([^<]+)</.exec(answer.body)?.[1] ?? '', askedBy(call));
      if (action !== 'CreateLoadBalancer' && action !== 'DescribeLoadBalancers') return answer;
      return { ...answer, body: withZoneAddresses(answer.body, (arn, subnet) => given.get(arn)?.get(subnet) ?? []) };
    },
  };
}

function askedBy({ parameters }: ModelCall): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const [key, subnet] of parameters) {
    if (!/^SubnetMappings\.member\.\d+\.SubnetId$/.test(key)) continue;
    const values = FIELDS.map((field) => [field, parameters.get(key.replace(/SubnetId$/, field))] as const);
    asked.set(
      subnet,
      values.flatMap(([field, value]) => (value === null ? [] : [`<${field}>${value}</${field}>`])),
    );
  }
  return asked;
}
