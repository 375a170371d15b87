import { canonicalJson } from '../../../operator/base/json';
import type { LoadBalancerInput, Replacement } from '../../provider';
import type { AzureInput } from './arguments';
import { addressOf, placesOf, publicNameOf } from './entries';

/** What decides an address, by the names of the fields. */
function fixedOf(input: AzureInput, family: 'IPv4' | 'IPv6'): Record<string, unknown> {
  const { spec } = input;
  const { publicIP = {}, subnetName } = spec.azure ?? {};
  const made = publicNameOf(input, family) === undefined && addressOf(input, family) === undefined;
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

/**
 * LoadBalancers.replacement: what changes an address makes another frontend, beside the old one. That can't be where both would need the same address,
 * or, without floating IP, the same ports of the Nodes. Pure.
 */
export function replacement(accepted: LoadBalancerInput, wanted: LoadBalancerInput): Replacement | undefined {
  const [before, after] = [accepted as AzureInput, wanted as AzureInput];
  const common = after.spec.ipFamilies.filter((family) => before.spec.ipFamilies.includes(family));
  const changes = common.flatMap((family) => {
    const [had, wants] = [fixedOf(before, family), fixedOf(after, family)];
    return Object.keys(had).filter((key) => canonicalJson(had[key]) !== canonicalJson(wants[key]));
  });
  const [first] = changes;
  if (first === undefined) return undefined;
  const why = `the change of ${first} replaces its address`;
  const shares = placesOf(before.spec).some((place) => placesOf(after.spec).includes(place));
  const isAsked = common.some((family) => addressOf(before, family) === undefined && addressOf(after, family) !== undefined);
  const blind = [before, after].every(({ spec }) => spec.azure?.floatingIP === false);
  if (!shares && !isAsked && !blind) return { why, gap: false };
  const because = blind ? 'without floating IP a port of the Nodes can be used once' : 'an address can be used once';
  return { why: `${why}, delete first, with a gap in traffic, because ${because}`, gap: true };
}
