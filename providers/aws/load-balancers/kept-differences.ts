import type { CloudLoadBalancerSpec } from '../../../crds';
import type { KeptDifference, LoadBalancerInput } from '../../provider';
import type { LoadBalancerScope } from '../scope';
import { keptOf, type Kept } from './adopted';
import { isClassic } from './classic';
import { isGrouped } from './network-settings';
import { addressesOf, subnetIDsOf, subnetMappingsOf } from './subnet-mappings';

const NONE = 'none';

/** What AWS has fixed of a load balancer that was taken over, in the terms of fixedOf; absent = not known. Pure. */
export function standingOf({ internal, name, subnetMappings, grouped }: Kept): Record<string, unknown> {
  return {
    ...(internal !== undefined && { scheme: schemeOf(internal) }),
    ...(name !== undefined && { name }),
    subnets: subnetMappings,
    grouped,
  };
}

/** LoadBalancers.keptDifferences: of what is looked for by names or tags it can't be told. Pure. */
export function keptDifferences(input: LoadBalancerInput, scope: LoadBalancerScope): KeptDifference[] {
  const kept = keptOf(input);
  if (kept === undefined) return [];
  const { spec } = input;
  const network = isClassic(spec) ? [] : [...ofPlace(spec, kept, scope), ...ofGroups(spec, kept, scope)];
  return [...ofScheme(spec, kept), ...ofName(spec, kept), ...network];
}

function ofScheme({ scheme }: CloudLoadBalancerSpec, { internal }: Kept): KeptDifference[] {
  if (internal === undefined) return [];
  return difference('spec.scheme', scheme, schemeOf(internal));
}

/** A name that nobody has asked for is nobody's wish. */
function ofName({ aws }: CloudLoadBalancerSpec, { name }: Kept): KeptDifference[] {
  return aws?.name === undefined || name === undefined ? [] : difference('spec.aws.name', aws.name, name);
}

function ofPlace(spec: CloudLoadBalancerSpec, { subnetMappings: stands }: Kept, scope: LoadBalancerScope): KeptDifference[] {
  const ids = subnetIDsOf(spec, scope);
  const asked = addressesOf(spec.aws);
  const wanted = ids === undefined ? undefined : subnetMappingsOf(ids, asked);
  const subnets = wanted === undefined ? [] : difference('spec.aws.subnets', idsIn(wanted, 'subnetId'), idsIn(stands, 'subnetId'));
  const addresses = ADDRESSES.flatMap(([field, key]) => {
    const texts = asked[field];
    if (texts === undefined) return [];
    const canonical = subnetMappingsOf(texts, asked);
    return difference(`spec.aws.${field}`, idsIn(canonical, key), idsIn(stands, key));
  });
  return [...subnets, ...addresses];
}

const ADDRESSES = [
  ['eipAllocationIDs', 'allocationId'],
  ['privateIPv4Addresses', 'privateIpv4Address'],
  ['ipv6Addresses', 'ipv6Address'],
] as const;

/** One without a group never gets one; groups that somebody else has put on it stay, but where the spec names all of them. */
function ofGroups(spec: CloudLoadBalancerSpec, { grouped, ownGroup, groupIDs }: Kept, scope: LoadBalancerScope): KeptDifference[] {
  const named = spec.aws?.securityGroups?.groups;
  const own = 'one that is made for it';
  if (isGrouped(spec, scope) !== grouped) {
    const stands = [...(ownGroup === true || groupIDs.length === 0 ? [own] : []), ...groupIDs].join(', ');
    return difference('spec.aws.securityGroups', grouped ? NONE : (named?.join(', ') ?? own), grouped ? stands : NONE);
  }
  const others = named === undefined ? groupIDs : [];
  return others.length === 0 ? [] : difference('spec.aws.securityGroups.groups', own, `beside it ${others.join(', ')}`);
}

function schemeOf(internal: boolean): CloudLoadBalancerSpec['scheme'] {
  return internal ? 'Internal' : 'Public';
}

function idsIn(mappings: Kept['subnetMappings'], key: keyof Kept['subnetMappings'][number]): string {
  const ids = mappings.flatMap((mapping) => mapping[key] ?? []);
  return ids.length === 0 ? NONE : ids.sort().join(', ');
}

function difference(field: string, wanted: string, kept: string): KeptDifference[] {
  return wanted === kept ? [] : [{ field, wanted, kept }];
}
