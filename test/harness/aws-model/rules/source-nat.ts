import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { fieldsOf, refusal, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/**
 * Source addresses of a prefix of each subnet are for load balancers of both families, and UDP on these needs them; who changes that names all subnets again.
 * moto knows no such prefixes.
 */
export function ipv6SourceNat(): Rule {
  const on = new Set<string>();
  return {
    async before(call, moto) {
      if (call.service !== 'elbv2') return undefined;
      const { action, parameters } = call;
      const arn = parameters.get('LoadBalancerArn') ?? '';
      const wanted = parameters.get('EnablePrefixForIpv6SourceNat') === 'on';
      if (action === 'CreateLoadBalancer' && wanted && parameters.get('IpAddressType') !== 'dualstack') return needsBoth();
      if (action === 'SetSubnets') return setSubnets(call, moto, on);
      if (action !== 'CreateListener' || !/UDP/.test(parameters.get('Protocol') ?? '') || on.has(arn)) return undefined;
      const { IpAddressType } = await balancer(arn, moto);
      return IpAddressType === 'dualstack'
        ? refusal('InvalidConfigurationRequest', 'UDP listeners of a dualstack load balancer need source NAT prefixes')
        : undefined;
    },
    after({ service, action, parameters }, answer) {
      if (service !== 'elbv2' || !['CreateLoadBalancer', 'DescribeLoadBalancers'].includes(action)) return answer;
      const arnOf = /<LoadBalancerArn>([^<]+)<\/LoadBalancerArn>/g;
      if (action === 'CreateLoadBalancer' && parameters.get('EnablePrefixForIpv6SourceNat') === 'on') {
        for (const [, arn = ''] of answer.body.matchAll(arnOf)) on.add(arn);
      }
      const body = answer.body.replaceAll(arnOf, (told: string, arn: string) => {
        return `${told}<EnablePrefixForIpv6SourceNat>${on.has(arn) ? 'on' : 'off'}</EnablePrefixForIpv6SourceNat>`;
      });
      return { ...answer, body };
    },
  };
}

/** moto asks for two zones at least, which is a rule of Application Load Balancers, so the answer is given here. */
async function setSubnets(call: ModelCall, moto: MotoState, on: Set<string>): Promise<ReturnType<typeof refusal>> {
  const { parameters } = call;
  const LoadBalancerArn = parameters.get('LoadBalancerArn') ?? '';
  const { AvailabilityZones = [], IpAddressType: has } = await balancer(LoadBalancerArn, moto);
  const named = fieldsOf(call, 'SubnetMappings', 'SubnetId');
  if (AvailabilityZones.some(({ SubnetId = '' }) => !named.includes(SubnetId))) {
    return refusal('InvalidConfigurationRequest', 'All subnets of a Network Load Balancer must be named');
  }
  const wanted = parameters.get('EnablePrefixForIpv6SourceNat');
  const IpAddressType = (parameters.get('IpAddressType') ?? has) as typeof has;
  if (wanted === 'on' && IpAddressType !== 'dualstack') return needsBoth();
  await moto.elb.setIpAddressType({ LoadBalancerArn, IpAddressType });
  if (wanted === 'on') on.add(LoadBalancerArn);
  if (wanted === 'off') on.delete(LoadBalancerArn);
  const result = '<SetSubnetsResult><AvailabilityZones/></SetSubnetsResult>';
  return {
    status: 200,
    body: `<SetSubnetsResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">${result}</SetSubnetsResponse>`,
  };
}

async function balancer(arn: string, { elb }: MotoState): Promise<LoadBalancer> {
  const { LoadBalancers = [] } = await elb.describeLoadBalancers({ LoadBalancerArns: [arn] }).catch(() => ({ LoadBalancers: [] }));
  return LoadBalancers[0] ?? {};
}

function needsBoth(): ReturnType<typeof refusal> {
  return refusal('InvalidConfigurationRequest', 'Source NAT prefixes need the IP address type dualstack');
}
