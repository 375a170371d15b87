import type { JsonObject } from '../../../operator/base/json';
import { classicLoadBalancer } from '../../../providers/aws/resources/classic-load-balancer';
import type { Api, ResourceDescription } from '../../../providers/aws/resources/description';
import { loadBalancer } from '../../../providers/aws/resources/load-balancer';
import { securityGroup } from '../../../providers/aws/resources/security-group';
import { securityGroupRule } from '../../../providers/aws/resources/security-group-rule';
import { targetGroup } from '../../../providers/aws/resources/target-group';
import { healthProperties } from '../../../providers/aws/resources/target-group-health';
import { TAG } from '../../../providers/aws/tags';

/** Names of the calls that a change makes, in their order. */
async function callsOf(description: ResourceDescription<never>, has: object, wanted: object): Promise<string[]> {
  const calls: string[] = [];
  const client = new Proxy({}, { get: (_target, name) => (): Promise<void> => Promise.resolve(void calls.push(String(name))) });
  const api = { elb: client, classic: client, ec2: client, options: {} } as unknown as Api;
  await description.change('id', { ...wanted, ...has, tags: {} } as never, { ...wanted, tags: { [TAG.clusterID]: 'c' } } as never, api);
  return calls;
}

const check = { target: 'TCP:30080', interval: 10, timeout: 5, healthyThreshold: 2, unhealthyThreshold: 6 };

interface Case {
  of: ResourceDescription<never>;
  has: JsonObject;
  wanted: JsonObject;
  calls: string[];
}

const CASES: Record<string, Case> = {
  'a Network load balancer': {
    of: loadBalancer as ResourceDescription<never>,
    has: { ipAddressType: 'ipv4', securityGroups: ['sg-0a'], enableCrossZoneLoadBalancing: false },
    wanted: { ipAddressType: 'dualstack', securityGroups: ['sg-0b'], enableCrossZoneLoadBalancing: true },
    calls: ['addTags', 'modifyLoadBalancerAttributes', 'setIpAddressType', 'setSecurityGroups'],
  },
  'a Network load balancer that gets IPv6, prefixes and capacity': {
    of: loadBalancer as ResourceDescription<never>,
    has: { ipAddressType: 'ipv4', enablePrefixForIpv6SourceNat: undefined as never, minimumLoadBalancerCapacity: undefined as never },
    wanted: {
      ipAddressType: 'dualstack',
      subnetMappings: [],
      enablePrefixForIpv6SourceNat: 'on',
      minimumLoadBalancerCapacity: { capacityUnits: 3000 },
    },
    calls: ['addTags', 'setSubnets', 'modifyCapacityReservation'],
  },
  'a target group': {
    of: targetGroup as ResourceDescription<never>,
    has: { healthCheck: { protocol: 'TCP' }, deregistrationDelay: 0 },
    wanted: {
      ...healthProperties({}, false),
      healthCheck: { protocol: 'HTTP' },
      deregistrationDelay: 300,
      stickiness: { type: 'source_ip', enabled: false },
    },
    calls: ['addTags', 'modifyTargetGroup', 'modifyTargetGroupAttributes'],
  },
  'a Classic load balancer': {
    of: classicLoadBalancer as ResourceDescription<never>,
    has: { healthCheck: check, securityGroups: ['sg-0a'] },
    wanted: { healthCheck: { ...check, timeout: 6 }, securityGroups: ['sg-0b'], listeners: [], subnets: [] },
    calls: ['addTags', 'setSecurityGroups', 'configureHealthCheck'],
  },
  'a security group': {
    of: securityGroup as ResourceDescription<never>,
    has: { egress: [] },
    wanted: { egress: [{}] },
    calls: ['createTags', 'authorize'],
  },
  'a rule': {
    of: securityGroupRule('Ingress') as ResourceDescription<never>,
    has: { ipProtocol: 'tcp', cidrIpv4: '10.0.0.0/8' },
    wanted: { ipProtocol: 'udp', cidrIpv4: '10.0.0.0/8' },
    calls: ['createTags', 'modifySecurityGroupRule'],
  },
};

test.each(Object.keys(CASES))(
  '%s that is taken over bears our mark before it is changed: the IAM policy allows it on nothing else',
  async (name) => {
    const { of, has, wanted, calls } = CASES[name]!;
    expect(await callsOf(of, has, wanted)).toEqual(calls);
  },
);
