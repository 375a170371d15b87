import type { IPFamily } from '../../../crds';
import { canonicalJson } from '../../../operator/base/json';
import type { LoadBalancerInput, Replacement } from '../../provider';
import type { AzureInput } from './arguments';
import { addressOf, isMade, placesOf, publicNameOf } from './entries';
import { hasFloatingIP } from './rules';

/** What decides an address, by the names of the fields. */
function fixedOf(input: AzureInput, family: IPFamily): Record<string, unknown> {
  const { spec } = input;
  const { publicIP = {}, subnetName } = spec.azure ?? {};
  const made = isMade(input, family);
  return {
    'spec.azure.subnetName': subnetName,
    'the address that is asked for': addressOf(input, family),
    'the public IP address that is named': publicNameOf(input, family),
    'spec.azure.publicIP.resourceGroup': made ? undefined : publicIP.resourceGroup,
    'the public IP prefix': made ? (family === 'IPv6' ? publicIP.ipv6PrefixID : publicIP.ipv4PrefixID) : undefined,
    'spec.azure.publicIP.ipTags': made ? publicIP.ipTags : undefined,
    'spec.ipFamilies': family === 'IPv6' && spec.ipFamilies.length > 1,
  };
}

/** Two addresses of a region never have one label (DnsRecordInUse). */
function hasSameLabel(before: AzureInput, after: AzureInput, family: IPFamily): boolean {
  const [had, wants] = [before, after].map(({ spec }) => spec.azure?.publicIP?.dnsLabel);
  return had !== undefined && had === wants && [before, after].every((one) => isMadePublic(one, family));
}

function isMadePublic(input: AzureInput, family: IPFamily): boolean {
  return input.spec.scheme === 'Public' && isMade(input, family);
}

/**
 * LoadBalancers.replacement: what changes an address makes another frontend, beside the old one, in all families. That can't be where both would need the
 * same address or DNS label, or, without floating IP, which internal IPv6 never has, the same ports of the Nodes. Pure.
 */
export function replacement(accepted: LoadBalancerInput, wanted: LoadBalancerInput): Replacement | undefined {
  const [before, after] = [accepted as AzureInput, wanted as AzureInput];
  const common = after.spec.ipFamilies.filter((family) => before.spec.ipFamilies.includes(family));
  const changes = common.flatMap((family) => {
    const [had, wants] = [fixedOf(before, family), fixedOf(after, family)];
    return Object.keys(had).filter((key) => canonicalJson(had[key]) !== canonicalJson(wants[key]));
  });
  const [first] = changes;
  if (first === undefined) return replacementOfLink(before, after);
  const why = `the change of ${first} replaces its address`;
  const shares = placesOf(before.spec).some((place) => placesOf(after.spec).includes(place));
  const isAsked = common.some((family) => addressOf(before, family) === undefined && addressOf(after, family) !== undefined);
  const blind = common.some((family) => [before, after].every(({ spec }) => !hasFloatingIP(spec, family)));
  const isLabelled = common.some((family) => hasSameLabel(before, after, family));
  if (!shares && !isAsked && !blind && !isLabelled) return { why, gap: false };
  const once = blind ? 'without floating IP a port of the Nodes' : isLabelled ? 'a DNS label' : 'an address';
  const gap = `with a gap in traffic, because ${once} can be used once`;
  // Azure deletes no address that a frontend has: it goes when the load balancer is led to by the new one.
  if (common.some((family) => [before, after].every((one) => isMadePublic(one, family))))
    return { why: `${why} at once, ${gap}`, gap: true, renamed: true };
  return { why: `${why}, delete first, ${gap}`, gap: true };
}

/** Azure renames and moves no Private Link Service, and a frontend has one at a time. */
function replacementOfLink(before: AzureInput, after: AzureInput): Replacement | undefined {
  const [had, wants] = [before, after].map(({ spec }) => spec.azure?.privateLink);
  if (had === undefined || wants === undefined) return undefined;
  const changed = (['name', 'resourceGroup'] as const).find((field) => had[field]?.toLowerCase() !== wants[field]?.toLowerCase());
  if (changed === undefined) return undefined;
  const why = `the change of spec.azure.privateLink.${changed} replaces its Private Link Service, delete first, and the connections to it are to be made anew`;
  return { why, gap: true };
}
