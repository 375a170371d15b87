import type { AvailabilityZone, LoadBalancer, SubnetMapping } from '@aws-sdk/client-elastic-load-balancing-v2';
import { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { toAwsTags } from '../tags';
import { attributeChanges, attributesOf, defaultsOf, propertiesOf, type Attribute } from './attributes';
import { changeReservation, reservedUnits } from './capacity-reservation';
import type { Api, Listed, ResourceDescription } from './description';
import { changeElbTags, elbTagsOf, emptyWhenGone, withTags } from './elb-tags';

/** Where a load balancer is, and by which addresses. */
export const subnetMapping = z.strictObject({
  subnetId: z.string(),
  allocationId: z.string().optional(),
  privateIpv4Address: z.string().optional(),
  ipv6Address: z.string().optional(),
});

const accessLogs = z.strictObject({ bucket: z.string(), enabled: z.literal(true), prefix: z.string().optional() });

const schema = z.strictObject({
  name: z.string().min(1).max(32),
  loadBalancerType: z.literal('network'),
  internal: z.boolean(),
  ipAddressType: z.enum(['ipv4', 'dualstack']),
  subnetMappings: z.array(subnetMapping).min(1),
  /** Absent = none, which can't be changed later. */
  securityGroups: z.array(z.string()).min(1).optional(),
  enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: z.enum(['on', 'off']).optional(),
  enableCrossZoneLoadBalancing: z.boolean(),
  enableDeletionProtection: z.boolean(),
  dnsRecordClientRoutingPolicy: z.enum(['any_availability_zone', 'availability_zone_affinity', 'partial_availability_zone_affinity']),
  enableZonalShift: z.boolean(),
  secondaryIpsAutoAssignedPerSubnet: z.number().int(),
  /** Absent = off. */
  enablePrefixForIpv6SourceNat: z.literal('on').optional(),
  /** Absent = none is reserved. */
  minimumLoadBalancerCapacity: z.strictObject({ capacityUnits: z.number().int().min(1) }).optional(),
  /** Absent = none are written. */
  accessLogs: accessLogs.optional(),
  tags: z.record(z.string(), z.string()),
});
export type LoadBalancerInputs = z.infer<typeof schema>;

const PROTECTION = 'deletion_protection.enabled';
const ATTRIBUTES: readonly Attribute[] = [
  { property: 'enableCrossZoneLoadBalancing', attribute: 'load_balancing.cross_zone.enabled', kind: 'Boolean', default: 'false' },
  { property: 'enableDeletionProtection', attribute: PROTECTION, kind: 'Boolean', default: 'false' },
  {
    property: 'dnsRecordClientRoutingPolicy',
    attribute: 'dns_record.client_routing_policy',
    kind: 'Text',
    default: 'any_availability_zone',
  },
  { property: 'enableZonalShift', attribute: 'zonal_shift.config.enabled', kind: 'Boolean', default: 'false' },
  { property: 'secondaryIpsAutoAssignedPerSubnet', attribute: 'secondary_ips.auto_assigned.per_subnet', kind: 'Number', default: '0' },
];
const LOGS = { enabled: 'access_logs.s3.enabled', bucket: 'access_logs.s3.bucket', prefix: 'access_logs.s3.prefix' } as const;

/** A Network Load Balancer. What it becomes active for is not waited for. */
export const loadBalancer: ResourceDescription<LoadBalancerInputs, LoadBalancer> = {
  token: 'aws:lb/loadBalancer:LoadBalancer',
  replaceOn: ['name', 'loadBalancerType', 'internal', 'subnetMappings'],
  replaceOnPresence: ['securityGroups'],
  growOnly: ['secondaryIpsAutoAssignedPerSubnet'],
  schema,

  async create(inputs, { elb, options }) {
    const sentAt = elb.retryPolicy.clock.now();
    const made = await elb.createLoadBalancer(
      {
        Name: inputs.name,
        Type: 'network',
        Scheme: inputs.internal ? 'internal' : 'internet-facing',
        IpAddressType: inputs.ipAddressType,
        SubnetMappings: sentMappings(inputs),
        EnablePrefixForIpv6SourceNat: inputs.enablePrefixForIpv6SourceNat,
        ...(inputs.securityGroups !== undefined && { SecurityGroups: inputs.securityGroups }),
        Tags: toAwsTags(inputs.tags),
      },
      options,
    );
    const id = made.LoadBalancerArn ?? '';
    if (!isNew(made, sentAt)) return { id, observed: observed(made), existed: true };
    const changes = attributeChanges({ ...defaultsOf(ATTRIBUTES), [LOGS.enabled]: 'false' }, allAttributes(inputs));
    if (changes.length > 0) await elb.modifyLoadBalancerAttributes({ LoadBalancerArn: id, Attributes: changes }, options);
    // What the groups' rules hold for is set with the groups, after they are there.
    if (inputs.enforceSecurityGroupInboundRulesOnPrivateLinkTraffic === 'off') await setSecurityGroups(id, inputs, { elb, options });
    await changeReservation(id, { wanted: unitsOf(inputs) }, { elb, options });
    return { id, observed: observed(made) };
  },

  async find({ name }, api) {
    return only(await emptyWhenGone(api.elb.loadBalancers({ Names: [name] }, api.options)), api);
  },

  async byID(id, api) {
    return only(await emptyWhenGone(api.elb.loadBalancers({ LoadBalancerArns: [id] }, api.options)), api);
  },

  tagsOf: elbTagsOf,

  async describe({ id, raw, tags }, api) {
    const [attributes, units] = await Promise.all([api.elb.loadBalancerAttributes(id, api.options), reservedUnits(id, api)]);
    const reserved = units === undefined ? {} : { minimumLoadBalancerCapacity: { capacityUnits: units } };
    return { inputs: { ...properties(raw, attributes), ...reserved, tags: { ...tags } }, observed: observed(raw) };
  },

  async change(id, has, wanted, api) {
    const { elb, options } = api;
    await changeElbTags(id, has.tags, wanted.tags, api);
    const changes = attributeChanges(allAttributes(has), allAttributes(wanted));
    if (changes.length > 0) await elb.modifyLoadBalancerAttributes({ LoadBalancerArn: id, Attributes: changes }, options);
    await changeAddressing(id, has, wanted, api);
    if (canonicalJson(groupsOf(has)) !== canonicalJson(groupsOf(wanted))) await setSecurityGroups(id, wanted, api);
    // AWS may have none to give; all else is done by then.
    await changeReservation(id, { has: unitsOf(has), wanted: unitsOf(wanted) }, api);
  },

  onlyOnce({ subnetMappings }) {
    const addresses = subnetMappings.flatMap(({ allocationId, privateIpv4Address, ipv6Address }) => [
      allocationId,
      privateIpv4Address,
      ipv6Address,
    ]);
    const asked = addresses.filter((address) => address !== undefined);
    return asked.length === 0 ? undefined : asked.join(', ');
  },

  remove: (id, { elb, options }) => elb.deleteLoadBalancer({ LoadBalancerArn: id }, options),

  async inUseBy(id, { elb, options }) {
    const { [PROTECTION]: isProtected } = await elb.loadBalancerAttributes(id, options);
    if (isProtected !== 'true') return undefined;
    const off = `aws elbv2 modify-load-balancer-attributes --load-balancer-arn ${id} --attributes Key=${PROTECTION},Value=false`;
    const remedy = `Turn it off ("${off}"), or keep the load balancer and let the object go by spec.deletionPolicy: Orphan.`;
    return { why: 'deletion protection is on', remedy };
  },
};

/** How far the clocks of AWS and of this host may be apart, in milliseconds; where they are farther, a create costs some reads more. */
const CLOCK_SKEW_MS = 2_000;

/**
 * The same name and settings again give what is there, whoever made it. A new one is never ready at once, and was not there before it was asked for.
 * @param sentAt when the create went out, milliseconds since 1970
 */
function isNew({ State, CreatedTime }: LoadBalancer, sentAt: number): boolean {
  return State?.Code === 'provisioning' && (CreatedTime?.getTime() ?? sentAt) >= sentAt - CLOCK_SKEW_MS;
}

async function only(found: LoadBalancer[], api: Api): Promise<Listed<LoadBalancer> | undefined> {
  const [first] = await withTags(found.slice(0, 1), ({ LoadBalancerArn }) => LoadBalancerArn, api);
  return first;
}

/** A prefix for source NAT needs both families, so both are told at once. */
async function changeAddressing(id: string, has: LoadBalancerInputs, wanted: LoadBalancerInputs, { elb, options }: Api): Promise<void> {
  const { ipAddressType: IpAddressType, enablePrefixForIpv6SourceNat: nat = 'off' } = wanted;
  if ((has.enablePrefixForIpv6SourceNat ?? 'off') !== nat) {
    const SubnetMappings = sentMappings(wanted);
    await elb.setSubnets({ LoadBalancerArn: id, IpAddressType, SubnetMappings, EnablePrefixForIpv6SourceNat: nat }, options);
  } else if (has.ipAddressType !== IpAddressType) {
    await elb.setIpAddressType({ LoadBalancerArn: id, IpAddressType }, options);
  }
}

function sentMappings({ subnetMappings, enablePrefixForIpv6SourceNat }: LoadBalancerInputs): SubnetMapping[] {
  return subnetMappings.map((mapping) => ({
    SubnetId: mapping.subnetId,
    AllocationId: mapping.allocationId,
    PrivateIPv4Address: mapping.privateIpv4Address,
    IPv6Address: mapping.ipv6Address,
    ...(enablePrefixForIpv6SourceNat === 'on' && { SourceNatIpv6Prefix: 'auto_assigned' }),
  }));
}

function unitsOf({ minimumLoadBalancerCapacity: capacity }: LoadBalancerInputs): number | undefined {
  return capacity?.capacityUnits;
}

function setSecurityGroups(arn: string, inputs: LoadBalancerInputs, { elb, options }: Pick<Api, 'elb' | 'options'>): Promise<void> {
  const { securityGroups = [], enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce } = inputs;
  const rules = enforce === undefined ? {} : { EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce };
  return elb.setSecurityGroups({ LoadBalancerArn: arn, SecurityGroups: securityGroups, ...rules }, options);
}

function groupsOf({ securityGroups = [], enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce }: LoadBalancerInputs): unknown {
  return [[...securityGroups].sort(), enforce];
}

/** Bucket and prefix are left as they are while no logs are written. */
function allAttributes(inputs: LoadBalancerInputs): Record<string, string> {
  const { accessLogs: logs } = inputs;
  return {
    ...attributesOf(ATTRIBUTES, inputs),
    [LOGS.enabled]: String(logs !== undefined),
    ...(logs !== undefined && { [LOGS.bucket]: logs.bucket, [LOGS.prefix]: logs.prefix ?? '' }),
  };
}

function properties(raw: LoadBalancer, attributes: Record<string, string>): JsonObject {
  const { LoadBalancerName: name = '', Scheme, IpAddressType: ipAddressType = 'ipv4', AvailabilityZones = [], SecurityGroups = [] } = raw;
  const enforce = raw.EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic;
  const prefix = attributes[LOGS.prefix] ?? '';
  const logs = { bucket: attributes[LOGS.bucket] ?? '', enabled: true, ...(prefix !== '' && { prefix }) };
  return {
    name,
    loadBalancerType: 'network',
    internal: Scheme === 'internal',
    ipAddressType,
    subnetMappings: AvailabilityZones.map(mappingOf).sort((a, b) => (a.subnetId < b.subnetId ? -1 : 1)),
    ...(SecurityGroups.length > 0 && {
      securityGroups: [...SecurityGroups].sort(),
      enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce ?? 'on',
    }),
    ...propertiesOf(ATTRIBUTES, attributes),
    ...(raw.EnablePrefixForIpv6SourceNat === 'on' && { enablePrefixForIpv6SourceNat: 'on' }),
    ...(attributes[LOGS.enabled] === 'true' && { accessLogs: logs }),
  };
}

/** AWS tells the addresses of each family by themselves. Those that it chose, and nobody asked for, are no drift where it tells them too. */
function mappingOf({ SubnetId = '', LoadBalancerAddresses = [] }: AvailabilityZone): { subnetId: string } & Record<string, string> {
  const told = (property: 'AllocationId' | 'PrivateIPv4Address' | 'IPv6Address'): string | undefined => {
    return LoadBalancerAddresses.find((address) => address[property] !== undefined)?.[property];
  };
  const [AllocationId, PrivateIPv4Address, IPv6Address] = [told('AllocationId'), told('PrivateIPv4Address'), told('IPv6Address')];
  return {
    subnetId: SubnetId,
    ...(AllocationId !== undefined && { allocationId: AllocationId }),
    ...(PrivateIPv4Address !== undefined && { privateIpv4Address: PrivateIPv4Address }),
    ...(IPv6Address !== undefined && { ipv6Address: IPv6Address }),
  };
}

function observed({ LoadBalancerArn: arn = '', DNSName = '', CanonicalHostedZoneId = '', VpcId = '' }: LoadBalancer): JsonObject {
  return { arn, arnSuffix: arn.split(':loadbalancer/')[1] ?? '', dnsName: DNSName, zoneId: CanonicalHostedZoneId, vpcId: VpcId };
}
