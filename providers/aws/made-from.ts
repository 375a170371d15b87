import type { CloudLoadBalancerSpec } from '../../crds';
import type { DiscoveredResource, LoadBalancerInput } from '../provider';
import { canonicalJson } from '../../operator/base/json';
import { isClassic } from './load-balancers/classic';
import { cloudName, withGeneration } from './load-balancers/names';
import { isShared } from './load-balancers/shared';
import { addressesOf, subnetIDsOf, subnetMappingsOf } from './load-balancers/subnet-mappings';
import { classicLoadBalancer } from './resources/classic-load-balancer';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import type { LoadBalancerScope } from './scope';

type Block = NonNullable<CloudLoadBalancerSpec['aws']>;

const KINDS: ReadonlyMap<string, Block['type']> = new Map([
  [loadBalancer.token, 'Network'],
  [classicLoadBalancer.token, 'Classic'],
]);

/**
 * LoadBalancers.madeFrom: kind, scheme, name, and subnets where the spec names them; a Classic load balancer can be brought to other ones. Not of what several
 * share, which is named after all that AWS fixes. Pure.
 */
export function madeFrom(found: readonly DiscoveredResource[], input: LoadBalancerInput, scope: LoadBalancerScope): CloudLoadBalancerSpec {
  const { spec, ownerUID, generation } = input;
  const own = cloudName(ownerUID, generation);
  const standing = found.find(({ type, name }) => KINDS.has(type) && name === own);
  const type = KINDS.get(standing?.type ?? '');
  if (standing === undefined || type === undefined || isShared(spec)) return spec;
  const asked: CloudLoadBalancerSpec = { ...spec, scheme: standing.inputs.internal === true ? 'Internal' : 'Public' };
  const made = isClassic(spec) === (type === 'Classic') ? asked : { ...asked, aws: { ...spec.aws, type } };
  return type === 'Classic'
    ? made
    : { ...made, aws: placed(standing.inputs as unknown as LoadBalancerInputs, { ...input, spec: made }, scope) };
}

/** The block with the name and the subnets that a Network Load Balancer has. */
function placed({ name, subnetMappings }: LoadBalancerInputs, input: LoadBalancerInput, scope: LoadBalancerScope): Block | undefined {
  const { spec } = input;
  const ids = subnetIDsOf(spec, scope);
  const others = ids !== undefined && canonicalJson(subnetMappingsOf(ids, addressesOf(spec.aws))) !== canonicalJson(subnetMappings);
  const block: Block = spec.aws ?? { type: 'Network' };
  const asked = nameAsked(name, input);
  const named = asked === block.name ? spec.aws : withName(block, asked);
  return others ? inSubnets(named ?? block, subnetMappings) : named;
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
