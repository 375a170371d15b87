import type { EC2 } from '@aws-sdk/client-ec2';
import { listOf, refusal, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

const CODE = 'InvalidConfigurationRequest';

/** A Classic load balancer has one subnet in each zone at most, and is never without any (ansible/ansible#8312). moto takes any. */
export function subnetsOfClassic(): Rule {
  return {
    async before(call, moto) {
      if (call.service !== 'elb') return undefined;
      const asked = listOf(call, 'Subnets');
      if (call.action === 'DetachLoadBalancerFromSubnets') {
        const left = (await subnetsOf(call, moto)).filter((id) => !asked.includes(id));
        return left.length === 0 ? refusal(CODE, 'ELB cannot be detached from all of its subnets.', 409) : undefined;
      }
      if (!['CreateLoadBalancer', 'AttachLoadBalancerToSubnets'].includes(call.action)) return undefined;
      const there = call.action === 'CreateLoadBalancer' ? [] : await subnetsOf(call, moto);
      const zones = await zonesOf(moto.ec2, [...new Set([...there, ...asked])]);
      return new Set(zones).size < zones.length
        ? refusal(CODE, 'ELB cannot be attached to multiple subnets in the same AZ.', 409)
        : undefined;
    },
  };
}

async function subnetsOf({ parameters }: ModelCall, { classic }: MotoState): Promise<string[]> {
  const names = [parameters.get('LoadBalancerName') ?? ''];
  const found = await classic.describeLoadBalancers({ LoadBalancerNames: names }).catch(() => ({ LoadBalancerDescriptions: [] }));
  return found.LoadBalancerDescriptions?.[0]?.Subnets ?? [];
}

async function zonesOf(ec2: EC2, SubnetIds: string[]): Promise<string[]> {
  if (SubnetIds.length === 0) return [];
  const { Subnets = [] } = await ec2.describeSubnets({ SubnetIds }).catch(() => ({ Subnets: [] }));
  return Subnets.map(({ AvailabilityZone = '' }) => AvailabilityZone);
}
