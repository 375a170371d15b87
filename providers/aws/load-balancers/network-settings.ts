import type { AWSLoadBalancer, CloudLoadBalancerSpec } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import type { LoadBalancerInputs } from '../resources/load-balancer';
import { ANNOTATION_PREFIX } from '../annotations/annotation';
import { groupModeOf, type LoadBalancerScope } from '../scope';
import { clusterTags, TAG } from '../tags';
import { isClassic } from './classic';
import { withGeneration } from './names';
import { addressesOf, isDualStack, isIPv6Alone, subnetIDsOf, subnetMappingsOf, takesSourcePrefixes } from './subnet-mappings';

/** What is fixed when a load balancer is made, and how people know it. */
export const FIXED: Readonly<Record<string, string>> = {
  type: `spec.aws.type (annotation ${ANNOTATION_PREFIX}type)`,
  scheme: 'spec.scheme',
  name: 'spec.aws.name',
  subnets: 'the subnets or their addresses',
  grouped: 'spec.aws.securityGroups (none or some)',
  groups: 'spec.aws.securityGroups.groups of a shared load balancer',
  family: 'spec.ipFamilies (IPv6 alone, or not)',
};

/** What AWS fixes of one, by the keys of FIXED. Pure. */
export function fixedOf(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Record<string, unknown> {
  const { scheme, aws } = spec;
  if (isClassic(spec)) return { type: 'Classic', scheme };
  const ids = subnetIDsOf(spec, scope);
  // Those that are looked for are chosen once: only another wish is a change.
  const subnets = ids === undefined ? [aws?.subnets ?? null, addressesOf(aws)] : subnetMappingsOf(ids, addressesOf(aws));
  // Groups can be changed in place, but not for those of one placement that ask for others.
  const groups = spec.placement === undefined ? [] : [...(aws?.securityGroups?.groups ?? [])].sort();
  const fixed = { type: 'Network', scheme, name: aws?.name ?? null, subnets, grouped: isGrouped(spec, scope), groups };
  // A load balancer can't give up IPv6 while target groups of that are behind it, and those go last. What is not said is in no name.
  return isIPv6Alone(spec) ? { ...fixed, family: 'IPv6' } : fixed;
}

/** Whether less is asked for of what AWS only lets grow, by one that has its load balancer for itself. Pure. */
export function asksForLess(before: CloudLoadBalancerSpec, after: CloudLoadBalancerSpec): boolean {
  if (before.placement !== undefined || isClassic(before) || isClassic(after)) return false;
  return (after.aws?.secondaryIPsPerSubnet ?? 0) < (before.aws?.secondaryIPsPerSubnet ?? 0);
}

/** Whether it has security groups at all. Pure. */
export function isGrouped({ aws }: CloudLoadBalancerSpec, scope: LoadBalancerScope): boolean {
  return aws?.securityGroups?.groups !== undefined || (aws?.securityGroups?.mode ?? groupModeOf(scope)) === 'Managed';
}

const DNS_POLICIES = {
  AnyAvailabilityZone: 'any_availability_zone',
  AvailabilityZoneAffinity: 'availability_zone_affinity',
  PartialAvailabilityZoneAffinity: 'partial_availability_zone_affinity',
} as const;

/** What a Network Load Balancer's resource says beside its groups and tags. */
export type NetworkSettings = Omit<LoadBalancerInputs, 'securityGroups' | 'tags'>;

/** Pure. */
export function renderSettings(
  name: string,
  { spec, generation }: Pick<LoadBalancerInput, 'spec' | 'generation'>,
  scope: LoadBalancerScope,
): NetworkSettings {
  const { aws = { type: 'Network' }, scheme } = spec;
  const { crossZone = false, deletionProtection = false, dnsClientRoutingPolicy = 'AnyAvailabilityZone' } = aws;
  return {
    name: aws.name === undefined ? name : withGeneration(aws.name, generation),
    loadBalancerType: 'network',
    internal: scheme === 'Internal',
    ipAddressType: isDualStack(spec) ? 'dualstack' : 'ipv4',
    subnetMappings: subnetMappingsOf(subnetIDsOf(spec, scope) ?? [], addressesOf(aws)),
    enableCrossZoneLoadBalancing: crossZone,
    enableDeletionProtection: deletionProtection,
    dnsRecordClientRoutingPolicy: DNS_POLICIES[dnsClientRoutingPolicy],
    enableZonalShift: aws.zonalShift ?? false,
    secondaryIpsAutoAssignedPerSubnet: aws.secondaryIPsPerSubnet ?? 0,
    ...(takesSourcePrefixes(aws) && { enablePrefixForIpv6SourceNat: 'on' as const }),
    ...renderCapacity(aws),
    ...(isGrouped(spec, scope) && { enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforcementOf(aws) }),
    ...renderAccessLogs(aws),
  };
}

function enforcementOf({ securityGroups }: AWSLoadBalancer): 'on' | 'off' {
  return securityGroups?.privateLinkRules === 'Ignored' ? 'off' : 'on';
}

function renderCapacity({
  minimumCapacityUnits: capacityUnits = 0,
}: AWSLoadBalancer): Pick<LoadBalancerInputs, 'minimumLoadBalancerCapacity'> {
  return capacityUnits === 0 ? {} : { minimumLoadBalancerCapacity: { capacityUnits } };
}

function renderAccessLogs({ accessLogs: logs }: AWSLoadBalancer): Pick<LoadBalancerInputs, 'accessLogs'> {
  if (logs?.enabled !== true) return {};
  return { accessLogs: { bucket: logs.bucket ?? '', enabled: true, ...(logs.prefix !== undefined && { prefix: logs.prefix }) } };
}

/** Ours last: no one else may say whose it is. Pure. */
export function tagsOf(
  stack: string,
  { namespace, name, ownerUID, spec, adopted }: LoadBalancerInput,
  scope: LoadBalancerScope,
): Record<string, string> {
  return {
    ...spec.aws?.tags,
    'kubernetes.io/service-name': `${namespace}/${name}`,
    ...stackTagsOf(stack, scope),
    [TAG.ownerUID]: ownerUID,
    [TAG.owner]: `${namespace}/${name}`,
    ...(adopted !== undefined && { [TAG.adopted]: 'true' }),
  };
}

/** Whose cluster's and which stack's it is. Pure. */
export function stackTagsOf(stack: string, { clusterID, clusterName, legacyClusterTag }: LoadBalancerScope): Record<string, string> {
  return { ...(clusterName !== undefined && clusterTags(clusterName, legacyClusterTag)), [TAG.clusterID]: clusterID, [TAG.stack]: stack };
}
