import type { CloudLoadBalancerSpec } from '../../crds';
import type { DiscoveredResource, LoadBalancerInput } from '../provider';
import { canonicalJson } from '../../operator/base/json';
import { isClassic } from './load-balancers/classic';
import { cloudName, withGeneration } from './load-balancers/names';
import { isShared } from './load-balancers/shared';
import { addressesOf, subnetIDsOf, subnetMappingsOf } from './load-balancers/subnet-mappings';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import type { LoadBalancerScope } from './scope';

type Block = NonNullable<CloudLoadBalancerSpec['aws']>;

/**
 * LoadBalancers.madeFrom: scheme, name, and subnets where the spec names them. Not of what several share, which is named after all that AWS fixes, nor of a
 * Classic load balancer. Pure.
 */
export function madeFrom(found: readonly DiscoveredResource[], input: LoadBalancerInput, scope: LoadBalancerScope): CloudLoadBalancerSpec {
  const { spec, ownerUID, generation } = input;
  const own = cloudName(ownerUID, generation);
  const standing = found.find(({ type, name }) => type === loadBalancer.token && name === own);
  if (standing === undefined || isShared(spec) || isClassic(spec)) return spec;
  const { internal, name, subnetMappings } = standing.inputs as unknown as LoadBalancerInputs;
  const ids = subnetIDsOf(spec, scope);
  const others = ids !== undefined && canonicalJson(subnetMappingsOf(ids, addressesOf(spec.aws))) !== canonicalJson(subnetMappings);
  const block: Block = spec.aws ?? { type: 'Network' };
  const asked = nameAsked(name, input);
  const named = asked === block.name ? spec.aws : withName(block, asked);
  return { ...spec, scheme: internal ? 'Internal' : 'Public', aws: others ? inSubnets(named ?? block, subnetMappings) : named };
}

function withName({ name: _, ...block }: Block, name: string | undefined): Block {
  return { ...block, ...(name !== undefined && { name }) };
}

/** The name that the spec must have asked for; undefined where it is the one that is made of the owner's UID. */
function nameAsked(standing: string, { spec, ownerUID, generation = 0 }: LoadBalancerInput): string | undefined {
  if (standing === cloudName(ownerUID, generation)) return undefined;
  const asked = spec.aws?.name;
  if (asked !== undefined && withGeneration(asked, generation) === standing) return asked;
  const suffix = generation === 0 ? '' : `-g${generation}`;
  return standing.endsWith(suffix) ? standing.slice(0, standing.length - suffix.length) : standing;
}

/** The block with these subnets, and with the addresses that they have. */
function inSubnets(block: Block, mappings: LoadBalancerInputs['subnetMappings']): Block {
  const all = <K extends keyof (typeof mappings)[number]>(key: K): string[] => mappings.flatMap((mapping) => mapping[key] ?? []);
  const addresses = {
    eipAllocationIDs: all('allocationId'),
    privateIPv4Addresses: all('privateIpv4Address'),
    ipv6Addresses: all('ipv6Address'),
  };
  const fields = Object.entries({ ...block, ...addresses, subnets: all('subnetId') });
  return Object.fromEntries(fields.filter(([, value]) => !Array.isArray(value) || value.length > 0)) as Block;
}
