import ipaddr from 'ipaddr.js';
import { ApiFailure } from './api-failure';

/** More addresses than any test needs; keeps a wide CIDR from filling memory. */
const MOST_ADDRESSES = 65_534;

/** The last addresses of a range are the tier's own: its router, its link to the host. */
const KEPT_FREE = 32;

/** The addresses of one kind that a tier can give out: index → IP, from 1. Several indexes may share an IP where a host has only one. */
export class AddressPool {
  private readonly ips: string[];

  /** @param address the tier's plan; indexes count while their address lies inside `cidr` */
  constructor(
    private readonly cidr: string,
    address: (index: number) => string,
  ) {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    const whole = 2 ** (network.toByteArray().length * 8 - bits);
    const size = Math.min(MOST_ADDRESSES, whole > 2 * KEPT_FREE ? whole - KEPT_FREE : whole);
    this.ips = [];
    for (let index = 1; index <= size; index++) {
      const ip = address(index);
      if (!inside(ip, network, bits)) break;
      this.ips.push(ip);
    }
  }

  /** For people: first and last address. */
  get range(): string {
    return `${this.ips[0] ?? 'nothing'} to ${this.ips.at(-1) ?? 'nothing'} (in ${this.cidr})`;
  }

  /** undefined: this tier has no such index. */
  at(index: number): string | undefined {
    return this.ips[index - 1];
  }

  /**
   * The first free index.
   * @throws ApiFailure QuotaExceeded when all are used
   */
  allocate(used: ReadonlySet<number>): number {
    for (let index = 1; index <= this.ips.length; index++) if (!used.has(index)) return index;
    throw new ApiFailure('QuotaExceeded', `all ${this.ips.length} addresses are used: ${this.range}; delete some first`);
  }

  /** The free index with this IP; `outside` the pool, or `taken`. */
  find(ip: string, used: ReadonlySet<number>): number | 'outside' | 'taken' {
    let known = false;
    for (let index = 1; index <= this.ips.length; index++) {
      if (this.ips[index - 1] !== ip) continue;
      if (!used.has(index)) return index;
      known = true;
    }
    return known ? 'taken' : 'outside';
  }
}

function inside(ip: string, network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  const address = ipaddr.parse(ip);
  return address.kind() === network.kind() && address.match(network, bits);
}
