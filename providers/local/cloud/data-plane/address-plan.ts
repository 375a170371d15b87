import { OperatorError } from '../../../../operator/base/errors';

/** Several clouds run side by side on one machine; each has a number, and with it ranges of its own. */
export const CLOUD_NUMBERS = 64;

/** The host's addresses and the first ones of a range stay free for routers. */
const FIRST_NODE = 10;

export interface AddressPlan {
  loadBalancerCIDR: string;
  nodeCIDR: string;
  /** What the development cluster uses; instances may have others. */
  podCIDR: string;
  loadBalancerAddress(index: number): string;
  nodeAddress(index: number): string;
}

/** A range of IPv4 addresses as numbers. */
interface Range {
  base: number;
  bits: number;
}

/**
 * Addresses that the host reaches: load balancers 127.20–23.x.y (a /20 for each cloud), nodes 127.128–191.x.y (a /16 for each).
 * Pure.
 */
export function loopbackPlan(cloud: number): AddressPlan {
  return planOf({ base: ipv4(127, 20) + cloud * 4096, bits: 20 }, { base: ipv4(127, 128 + cloud), bits: 16 });
}

/**
 * Addresses in a VPC: load balancers 10.208–211.x.y (a /20 for each cloud, because the host has a route to it), nodes 10.200.x.y (the
 * same for every cloud: nobody outside sees them). Pure.
 */
export function vpcPlan(cloud: number): AddressPlan {
  return planOf({ base: ipv4(10, 208) + cloud * 4096, bits: 20 }, { base: ipv4(10, 200), bits: 16 });
}

/** The address that the VPC's router has for its instances: the first of the range. */
export function routerAddress(plan: AddressPlan): string {
  return addressAt(parseCIDR(plan.nodeCIDR), 1);
}

/** The two ends of the link between host and VPC: the last addresses of the load balancers' range. */
export function linkAddresses(plan: AddressPlan): { host: string; vpc: string; prefix: number } {
  const range = parseCIDR(plan.loadBalancerCIDR);
  const size = 2 ** (32 - range.bits);
  return { host: addressAt(range, size - 2), vpc: addressAt(range, size - 3), prefix: range.bits };
}

/**
 * The address with the given offset in a CIDR: offset 1 is the first one usable.
 * @throws OperatorError Invalid on text that is not an IPv4 CIDR
 */
export function addressInCIDR(cidr: string, offset: number): string {
  return addressAt(parseCIDR(cidr), offset);
}

/** How far an address lies behind the start of the CIDR. */
export function offsetInCIDR(cidr: string, ip: string): number {
  return parseCIDR(`${ip}/32`).base - parseCIDR(cidr).base;
}

/** True where the two IPv4 CIDRs have an address in common. */
export function overlaps(a: string, b: string): boolean {
  const [one, other] = [parseCIDR(a), parseCIDR(b)];
  const size = 2 ** (32 - Math.min(one.bits, other.bits));
  return Math.floor(one.base / size) === Math.floor(other.base / size);
}

/** True where the IPv4 address lies in the CIDR. */
export function contains(cidr: string, ip: string): boolean {
  return overlaps(cidr, `${ip}/32`);
}

function planOf(loadBalancers: Range, nodes: Range): AddressPlan {
  return {
    loadBalancerCIDR: format(loadBalancers),
    nodeCIDR: format(nodes),
    podCIDR: '10.244.0.0/16',
    // The last four are the link's ends, one to spare, and the broadcast address.
    loadBalancerAddress: (index) => inRange(loadBalancers, index + 1, 4, 'load balancers'),
    nodeAddress: (index) => inRange(nodes, index + FIRST_NODE, 1, 'instances'),
  };
}

function inRange(range: Range, offset: number, reserved: number, what: string): string {
  if (offset >= 2 ** (32 - range.bits) - reserved) {
    throw new OperatorError('Quota', `no address left for more ${what} in ${format(range)}; delete some first`);
  }
  return addressAt(range, offset);
}

function parseCIDR(cidr: string): Range {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr);
  const [a, b, c, d, bits] = (match ?? []).slice(1).map(Number);
  if (
    a === undefined ||
    b === undefined ||
    c === undefined ||
    d === undefined ||
    bits === undefined ||
    Math.max(a, b, c, d) > 255 ||
    bits > 32
  ) {
    throw new OperatorError('Invalid', `"${cidr}" is not an IPv4 CIDR; write for example 10.244.1.0/24`);
  }
  const size = 2 ** (32 - bits);
  return { base: Math.floor(ipv4(a, b, c, d) / size) * size, bits };
}

function ipv4(a: number, b: number, c = 0, d = 0): number {
  return ((a * 256 + b) * 256 + c) * 256 + d;
}

function addressAt(range: Range, offset: number): string {
  const value = range.base + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

function format(range: Range): string {
  return `${addressAt(range, 0)}/${range.bits}`;
}
