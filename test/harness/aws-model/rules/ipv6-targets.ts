import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { fieldsOf, refusal, type ModelAnswer, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/**
 * Target groups of IPv6 are behind load balancers of both families, and take instances with a primary IPv6 address: one without refuses the whole call
 * (docs.aws.amazon.com, "Target groups for your Network Load Balancers"; kubernetes-sigs/aws-load-balancer-controller#3692). moto knows neither.
 * @param primaries ids of instances that have such an address; a test changes them
 */
export function ipv6TargetGroups(primaries: ReadonlySet<string>): Rule {
  return {
    async before(call, moto) {
      if (call.service !== 'elbv2') return undefined;
      if (call.action === 'RegisterTargets') return refuseInstances(call, moto, primaries);
      return ['CreateListener', 'ModifyListener'].includes(call.action) ? refuseListener(call, moto) : undefined;
    },
    after({ action }, answer) {
      if (action !== 'DescribeInstances') return answer;
      return { ...answer, body: [...primaries].reduce(withPrimary, answer.body) };
    },
  };
}

const NONE = '<ipv6AddressesSet/>';
const PRIMARY =
  '<ipv6AddressesSet><item><ipv6Address>2001:db8::1</ipv6Address><isPrimaryIpv6>true</isPrimaryIpv6></item></ipv6AddressesSet>';

/** An instance's interfaces stand before its id. */
function withPrimary(xml: string, id: string): string {
  const at = xml.lastIndexOf(NONE, xml.indexOf(`<instanceId>${id}</instanceId>`));
  return at < 0 ? xml : `${xml.slice(0, at)}${PRIMARY}${xml.slice(at + NONE.length)}`;
}

async function refuseInstances(call: ModelCall, moto: MotoState, primaries: ReadonlySet<string>): Promise<ModelAnswer | undefined> {
  const [group] = await groupsOf([call.parameters.get('TargetGroupArn') ?? ''], moto);
  const lacking = group?.IpAddressType === 'ipv6' ? fieldsOf(call, 'Targets', 'Id').filter((id) => !primaries.has(id)) : [];
  if (lacking.length === 0) return undefined;
  const words = 'The following targets cannot be used with this IPv6 target group because of missing primary IPv6 addresses';
  return refusal('InvalidTarget', `${words}: ${lacking.join("', '")}`);
}

async function refuseListener(call: ModelCall, moto: MotoState): Promise<ModelAnswer | undefined> {
  const groups = await groupsOf(fieldsOf(call, 'DefaultActions', 'TargetGroupArn'), moto);
  if (groups.every(({ IpAddressType }) => IpAddressType !== 'ipv6')) return undefined;
  const { LoadBalancers = [] } = await moto.elb.describeLoadBalancers({ LoadBalancerArns: [await balancerOf(call, moto)] });
  return LoadBalancers[0]?.IpAddressType === 'dualstack'
    ? undefined
    : refusal('InvalidConfigurationRequest', 'Target groups of IPv6 need a load balancer of the IP address type dualstack');
}

async function balancerOf({ parameters }: ModelCall, { elb }: MotoState): Promise<string> {
  const named = parameters.get('LoadBalancerArn');
  if (named !== null) return named;
  const { Listeners = [] } = await elb.describeListeners({ ListenerArns: [parameters.get('ListenerArn') ?? ''] });
  return Listeners[0]?.LoadBalancerArn ?? '';
}

async function groupsOf(arns: string[], { elb }: MotoState): Promise<TargetGroup[]> {
  if (arns.length === 0) return [];
  return (await elb.describeTargetGroups({ TargetGroupArns: arns }).catch(() => ({ TargetGroups: [] }))).TargetGroups ?? [];
}
