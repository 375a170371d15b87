import { canonicalIP, type AWSLoadBalancer, type CloudLoadBalancerSpec } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import type { AddressesInputs } from '../resources/addresses';
import type { LoadBalancerInputs } from '../resources/load-balancer';
import type { SubnetsInputs } from '../resources/subnets';
import type { LoadBalancerScope } from '../scope';

/** Addresses that were asked for, one for each subnet, in the subnets' order. */
export type Addresses = Pick<AWSLoadBalancer, 'eipAllocationIDs' | 'privateIPv4Addresses' | 'ipv6Addresses'>;

/** Subnets that are chosen when the load balancer is made, as `render` gives them to the program. */
export interface RenderedSubnets {
  /** Name in the program. */
  name: string;
  settings: SubnetsInputs;
  addresses: Addresses;
}

/** Addresses that are looked at before the load balancer is made with them, as `render` gives them to the program. */
export interface RenderedAddresses {
  /** Name in the program. */
  name: string;
  settings: Omit<AddressesInputs, 'subnetMappings'>;
}

/** Ids that a load balancer is to be in; undefined = they must be looked for, by name or by tags and route tables. Pure. */
export function subnetIDsOf({ aws }: CloudLoadBalancerSpec, { subnetIDs }: LoadBalancerScope): string[] | undefined {
  const named = aws?.subnets ?? subnetIDs;
  return named?.every((subnet) => /^subnet-[0-9a-f]+$/.test(subnet)) === true ? named : undefined;
}

/** Each subnet with its addresses, in the order in which AWS gives them back. Pure. */
export function subnetMappingsOf(subnetIDs: readonly string[], addresses: Addresses = {}): LoadBalancerInputs['subnetMappings'] {
  const { eipAllocationIDs, privateIPv4Addresses, ipv6Addresses } = addresses;
  const mappings = subnetIDs.map((subnetId, index) => {
    const [eip, ipv4, ipv6] = [eipAllocationIDs?.[index], privateIPv4Addresses?.[index], ipv6Addresses?.[index]];
    return {
      subnetId,
      ...(eip !== undefined && { allocationId: eip }),
      ...(ipv4 !== undefined && { privateIpv4Address: ipv4 }),
      ...(ipv6 !== undefined && { ipv6Address: canonicalIP(ipv6) }),
    };
  });
  return mappings.sort((a, b) => (a.subnetId < b.subnetId ? -1 : 1));
}

/** The wish for subnets of a load balancer that names no ids; undefined = it does. Pure. */
export function renderSubnets(base: string, { spec }: LoadBalancerInput, scope: LoadBalancerScope): RenderedSubnets | undefined {
  if (subnetIDsOf(spec, scope) !== undefined) return undefined;
  const { aws, scheme } = spec;
  const addresses = addressesOf(aws);
  const count = (addresses.eipAllocationIDs ?? addresses.privateIPv4Addresses ?? addresses.ipv6Addresses)?.length;
  return {
    name: `${base}-subnets`,
    settings: {
      vpcId: scope.vpcID ?? '',
      internal: scheme === 'Internal',
      dualStack: isDualStack(spec),
      ...(aws?.subnets !== undefined && { named: aws.subnets }),
      ...(scope.clusterName !== undefined && { clusterName: scope.clusterName }),
      ...(scope.fallbackSubnetID !== undefined && { fallbackSubnetId: scope.fallbackSubnetID }),
      ...(count !== undefined && { addresses: count }),
    },
    addresses,
  };
}

/**
 * Undefined = none was asked for. Pure.
 * @param loadBalancer its name in AWS
 */
export function renderAddresses(
  base: string,
  { spec, loadBalancer }: { spec: CloudLoadBalancerSpec; loadBalancer: string },
  scope: LoadBalancerScope,
): RenderedAddresses | undefined {
  if (onceOf(spec).length === 0) return undefined;
  return { name: `${base}-addresses`, settings: { vpcId: scope.vpcID ?? '', loadBalancer, dualStack: isDualStack(spec) } };
}

/** Pure. */
export function addressesOf(aws: CloudLoadBalancerSpec['aws']): Addresses {
  const { eipAllocationIDs, privateIPv4Addresses, ipv6Addresses } = aws ?? {};
  return {
    ...(eipAllocationIDs !== undefined && { eipAllocationIDs }),
    ...(privateIPv4Addresses !== undefined && { privateIPv4Addresses }),
    ...(ipv6Addresses !== undefined && { ipv6Addresses }),
  };
}

/** Addresses that exist only once: two load balancers can't have them. Pure. */
export function onceOf({ aws }: CloudLoadBalancerSpec): string[] {
  return [...(aws?.eipAllocationIDs ?? []), ...(aws?.privateIPv4Addresses ?? []), ...(aws?.ipv6Addresses ?? [])];
}

/** Pure. */
export function isDualStack({ aws, ipFamilies }: CloudLoadBalancerSpec): boolean {
  return aws?.ipAddressType === undefined ? ipFamilies.includes('IPv6') : aws.ipAddressType === 'DualStack';
}

/** Whether nobody answers for it by IPv4: its Nodes are reached by IPv6. Pure. */
export function isIPv6Alone({ ipFamilies }: Pick<CloudLoadBalancerSpec, 'ipFamilies'>): boolean {
  return !ipFamilies.includes('IPv4');
}

/** Whether IPv6 source addresses come from a prefix of each subnet. Pure. */
export function takesSourcePrefixes(aws: CloudLoadBalancerSpec['aws']): boolean {
  return aws?.ipv6SourceNAT?.enabled === true;
}
