import { refusal, type ModelCall } from '../call';
import type { Rule } from '../rule';

const SECONDARY = 'secondary_ips.auto_assigned.per_subnet';

/** A load balancer's nodes get more addresses, and none is taken back. moto takes any figure. */
export function secondaryAddresses(): Rule {
  return {
    async before(call, { elb }) {
      if (call.service !== 'elbv2' || call.action !== 'ModifyLoadBalancerAttributes') return undefined;
      const asked = askedBy(call);
      if (asked === undefined) return undefined;
      const LoadBalancerArn = call.parameters.get('LoadBalancerArn') ?? '';
      const { Attributes = [] } = await elb.describeLoadBalancerAttributes({ LoadBalancerArn }).catch(() => ({ Attributes: [] }));
      const has = Number(Attributes.find(({ Key }) => Key === SECONDARY)?.Value ?? 0);
      if (asked >= has) return undefined;
      return refusal('InvalidConfigurationRequest', `The value of '${SECONDARY}' cannot be decreased from ${has} to ${asked}`);
    },
  };
}

function askedBy({ parameters }: ModelCall): number | undefined {
  const [key] = [...parameters].find(([, value]) => value === SECONDARY) ?? [];
  return key === undefined ? undefined : Number(parameters.get(key.replace(/Key$/, 'Value')));
}
