import { OperatorError } from '../../../../operator/base/errors';
import { addressAt, formatRange, parseCIDR, sizeOf, type Family, type Range } from './ip-range';

/** Several clouds run side by side on one machine; each has a number, and with it ranges of its own. */
export const CLOUD_NUMBERS = 64;

/** The host's addresses and the first ones of a range stay free for routers. */
const FIRST_NODE = 10;

/** Ranges for the addresses of one family. */
export interface FamilyPlan {
  loadBalancerCIDR: string;
  nodeCIDR: string;
  /** What the development cluster uses; instances may have others. */
  podCIDR: string;
  loadBalancerAddress(index: number): string;
  nodeAddress(index: number): string;
}

export interface AddressPlan extends FamilyPlan {
  ipv6: FamilyPlan;
}

/**
 * Addresses that the host reaches: load balancers 127.20–23.x.y (a /20 for each cloud), nodes 127.128–191.x.y (a /16 for each). A host has one
 * IPv6 loopback address: all IPv6 load balancers share it, each with ports of its own, and nodes have none. Pure.
 */
export function loopbackPlan(cloud: number): AddressPlan {
  const ipv4 = planOf(offsetRange('127.20.0.0/20', cloud * 4096), offsetRange('127.128.0.0/16', cloud * 65_536), '10.244.0.0/16');
  const shared = (): string => '::1';
  const ipv6 = {
    loadBalancerCIDR: '::1/128',
    nodeCIDR: '::1/128',
    podCIDR: 'fd00:10:244::/48',
    loadBalancerAddress: shared,
    nodeAddress: shared,
  };
  return { ...ipv4, ipv6 };
}

/**
 * Addresses in a VPC: load balancers 10.208–211.x.y (a /20 for each cloud, because the host has a route to it), nodes 10.200.x.y (the
 * same for every cloud: nobody outside sees them); of IPv6 fd00:10:208:<cloud>:: and fd00:10:200::. Pure.
 */
export function vpcPlan(cloud: number): AddressPlan {
  const ipv4 = planOf(offsetRange('10.208.0.0/20', cloud * 4096), parseCIDR('10.200.0.0/16'), '10.244.0.0/16');
  const ipv6 = planOf(parseCIDR(`fd00:10:208:${cloud.toString(16)}::/112`), parseCIDR('fd00:10:200::/112'), 'fd00:10:244::/48');
  return { ...ipv4, ipv6 };
}

/** The address that the VPC's router has for its instances: the first of the range. */
export function routerAddress({ nodeCIDR }: FamilyPlan): string {
  return addressAt(parseCIDR(nodeCIDR), 1);
}

/** The two ends of the link between host and VPC: the last addresses of the load balancers' range. */
export function linkAddresses({ loadBalancerCIDR }: FamilyPlan): { host: string; vpc: string } {
  const range = parseCIDR(loadBalancerCIDR);
  return { host: addressAt(range, sizeOf(range) - 2n), vpc: addressAt(range, sizeOf(range) - 3n) };
}

/** The part of an address plan for one family. */
export function planFor(plan: AddressPlan, family: Family): FamilyPlan {
  return family === 'IPv4' ? plan : plan.ipv6;
}

function planOf(loadBalancers: Range, nodes: Range, podCIDR: string): FamilyPlan {
  return {
    loadBalancerCIDR: formatRange(loadBalancers),
    nodeCIDR: formatRange(nodes),
    podCIDR,
    // The last four are the link's ends, one to spare, and the broadcast address.
    loadBalancerAddress: (index) => inRange(loadBalancers, index + 1, 4, 'load balancers'),
    nodeAddress: (index) => inRange(nodes, index + FIRST_NODE, 1, 'instances'),
  };
}

function inRange(range: Range, offset: number, reserved: number, what: string): string {
  if (BigInt(offset + reserved) >= sizeOf(range)) {
    throw new OperatorError('Quota', `no address left for more ${what} in ${formatRange(range)}; delete some first`);
  }
  return addressAt(range, offset);
}

function offsetRange(cidr: string, offset: number): Range {
  const range = parseCIDR(cidr);
  return { ...range, base: range.base + BigInt(offset) };
}
