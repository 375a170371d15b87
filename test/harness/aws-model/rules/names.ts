import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { fieldsOf, listOf, refusal, type ModelCall } from '../call';
import type { Rule } from '../rule';

const NAME = /^(?!internal-)[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$/;

/** Names of load balancers and target groups have at most 32 letters, digits and dashes; moto takes longer ones. */
export function nameLengths(): Rule {
  const named: Readonly<Record<string, string>> = { CreateLoadBalancer: 'Name', CreateTargetGroup: 'Name' };
  const classic: Readonly<Record<string, string>> = { CreateLoadBalancer: 'LoadBalancerName' };
  return {
    before({ service, action, parameters }) {
      const parameter = service === 'ec2' ? undefined : (service === 'elb' ? classic : named)[action];
      const name = parameter === undefined ? undefined : (parameters.get(parameter) ?? '');
      if (name === undefined || NAME.test(name)) return undefined;
      return refusal('ValidationError', `name '${name}' must be 1 to 32 letters, digits and dashes`);
    },
  };
}

/** One load balancer for each name: the same settings again give the one that is there, others are refused. moto makes a second one. */
export function duplicateLoadBalancerName(): Rule {
  const again = new WeakSet<ModelCall>();
  return {
    async before(call, { elb }) {
      if (call.service !== 'elbv2' || call.action !== 'CreateLoadBalancer') return undefined;
      const { parameters } = call;
      const name = parameters.get('Name') ?? '';
      const [there] = (await elb.describeLoadBalancers({ Names: [name] }).catch(() => ({ LoadBalancers: [] }))).LoadBalancers ?? [];
      if (there === undefined) return undefined;
      if (!sameSettings(call, there)) {
        return refusal('DuplicateLoadBalancerName', `A load balancer with the same name '${name}' exists, but with different settings`);
      }
      // moto is asked the question that has the same answer
      for (const key of [...parameters.keys()]) if (key !== 'Version') parameters.delete(key);
      parameters.set('Action', 'DescribeLoadBalancers');
      parameters.set('Names.member.1', name);
      again.add(call);
      return undefined;
    },
    after: (call, answer) =>
      again.has(call) ? { ...answer, body: answer.body.replaceAll('DescribeLoadBalancersRes', 'CreateLoadBalancerRes') } : answer,
  };
}

/** What AWS has where nothing is said; moto then says nothing either. */
const PUBLIC = 'internet-facing';

function sameSettings(
  call: ModelCall,
  { Type, Scheme, AvailabilityZones = [], SecurityGroups = [], IpAddressType }: LoadBalancer,
): boolean {
  const { parameters } = call;
  const subnets = [...fieldsOf(call, 'SubnetMappings', 'SubnetId'), ...listOf(call, 'Subnets')];
  return (
    Type === (parameters.get('Type') ?? 'application') &&
    (Scheme ?? PUBLIC) === (parameters.get('Scheme') ?? PUBLIC) &&
    IpAddressType === (parameters.get('IpAddressType') ?? 'ipv4') &&
    sameSet(
      AvailabilityZones.map(({ SubnetId = '' }) => SubnetId),
      subnets,
    ) &&
    sameSet(SecurityGroups, listOf(call, 'SecurityGroups'))
  );
}

function sameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}
