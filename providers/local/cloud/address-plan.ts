import ipaddr from 'ipaddr.js';
import type { Family } from '../api';
import { ApiFailure } from './api-failure';
import type { View } from './collections/rules';
import type { DataPlane } from './data-plane';

/** More addresses than any test needs. */
const MOST_ADDRESSES = 65_534;

/** The last addresses of a range are the tier's own: its router, its link to the host. */
const KEPT_FREE = 32;

/** The addresses of one kind that a tier can give out: index → IP, from 1. Several indexes may share an IP where a host has only one. */
export class AddressPool {
  /** How many indexes there are. */
  readonly size: number;

  /** @param address the tier's plan: grows with the index; indexes count while their address lies inside `cidr` */
  constructor(
    private readonly cidr: string,
    private readonly address: (index: number) => string,
  ) {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    const whole = 2 ** (network.toByteArray().length * 8 - bits);
    // One address that all share, each with ports of its own.
    const shared = whole === 1;
    const most = shared ? MOST_ADDRESSES : Math.min(MOST_ADDRESSES, whole > 2 * KEPT_FREE ? whole - KEPT_FREE : whole);
    this.size = lastTrue(most, (index) => inside(address(index), network, bits));
  }

  /** For people: first and last address. */
  get range(): string {
    return this.size === 0 ? `nothing (in ${this.cidr})` : `${this.address(1)} to ${this.address(this.size)} (in ${this.cidr})`;
  }

  /** undefined: this tier has no such index. */
  at(index: number): string | undefined {
    return index >= 1 && index <= this.size ? this.address(index) : undefined;
  }

  /**
   * The first free index.
   * @throws ApiFailure QuotaExceeded when all are used
   */
  allocate(used: ReadonlySet<number>): number {
    for (let index = 1; index <= this.size; index++) if (!used.has(index)) return index;
    throw new ApiFailure('QuotaExceeded', `all ${this.size} addresses are used: ${this.range}; delete some first`);
  }

  /** The free index with this IP; `outside` the pool, or `taken`. */
  find(ip: string, used: ReadonlySet<number>): number | 'outside' | 'taken' {
    let known = false;
    for (let index = 1; index <= this.size; index++) {
      if (this.address(index) !== ip) continue;
      if (!used.has(index)) return index;
      known = true;
    }
    return known ? 'taken' : 'outside';
  }
}

/** The addresses of a tier, by kind and family. */
export function addressPools(plane: DataPlane): Pick<View, 'loadBalancerAddresses' | 'instanceAddresses'> {
  const { loadBalancerCIDR, nodeCIDR, ipv6 } = plane.topology;
  const loadBalancers = (cidr: string, family: Family): AddressPool =>
    new AddressPool(cidr, (index) => plane.loadBalancerAddress(index, family));
  const instances = (cidr: string, family: Family): AddressPool => new AddressPool(cidr, (index) => plane.instanceAddress(index, family));
  return {
    loadBalancerAddresses: { IPv4: loadBalancers(loadBalancerCIDR, 'IPv4'), IPv6: loadBalancers(ipv6.loadBalancerCIDR, 'IPv6') },
    instanceAddresses: {
      ...(nodeCIDR !== undefined && { IPv4: instances(nodeCIDR, 'IPv4') }),
      ...(ipv6.nodeCIDR !== undefined && { IPv6: instances(ipv6.nodeCIDR, 'IPv6') }),
    },
  };
}

/** The greatest number from 1 to `most` for which `holds`, which is true up to some number and false beyond; 0 = none. */
function lastTrue(most: number, holds: (index: number) => boolean): number {
  let low = 0;
  for (let high = most; low < high;) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function inside(ip: string, network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  const address = ipaddr.parse(ip);
  return address.kind() === network.kind() && address.match(network, bits);
}
