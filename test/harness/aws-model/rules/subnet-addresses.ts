import type { ModelCall } from '../call';
import type { Rule } from '../rule';

const FIELDS = ['PrivateIPv4Address', 'IPv6Address'] as const;

/** A load balancer has the addresses of its subnets that it was made with, and tells them. moto forgets them. */
export function subnetAddresses(): Rule {
  /** By ARN, then by subnet: what stands in the answer. */
  const given = new Map<string, Map<string, string>>();
  return {
    after(call, answer) {
      const { service, action } = call;
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      if (action === 'CreateLoadBalancer') given.set(/<LoadBalancerArn>([^<]+)</.exec(answer.body)?.[1] ?? '', askedBy(call));
      if (action !== 'CreateLoadBalancer' && action !== 'DescribeLoadBalancers') return answer;
      let of = '';
      const body = answer.body.replaceAll(/<(LoadBalancerArn|SubnetId)>([^<]+)<\/\1>/g, (told: string, name: string, value: string) => {
        if (name === 'LoadBalancerArn') of = value;
        const addresses = name === 'SubnetId' ? given.get(of)?.get(value) : undefined;
        return addresses === undefined ? told : `${told}<LoadBalancerAddresses><member>${addresses}</member></LoadBalancerAddresses>`;
      });
      return { ...answer, body };
    },
  };
}

function askedBy({ parameters }: ModelCall): Map<string, string> {
  const asked = new Map<string, string>();
  for (const [key, subnet] of parameters) {
    if (!/^SubnetMappings\.member\.\d+\.SubnetId$/.test(key)) continue;
    const values = FIELDS.map((field) => [field, parameters.get(key.replace(/SubnetId$/, field))] as const);
    const told = values.flatMap(([field, value]) => (value === null ? [] : [`<${field}>${value}</${field}>`]));
    if (told.length > 0) asked.set(subnet, told.join(''));
  }
  return asked;
}
