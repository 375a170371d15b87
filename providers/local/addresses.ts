import type { CloudLoadBalancerSpec } from '../../crds';

export interface RenderedAddress {
  name: string;
  family: 'IPv4' | 'IPv6';
  requestedIP?: string;
}

const SHORT = { IPv4: 'v4', IPv6: 'v6' } as const;

/**
 * One address of each family, in the order of the families. One that is asked for has a name of its own: asking for another one makes the new one
 * before the old one goes.
 * @param base what their names begin with
 */
export function renderAddresses(base: string, { addresses = [], ipFamilies }: CloudLoadBalancerSpec): RenderedAddress[] {
  return ipFamilies.map((family) => {
    const requestedIP = addresses.find((address) => familyOf(address) === family);
    if (requestedIP === undefined) return { name: `${base}-${SHORT[family]}`, family };
    // Two colons end a part of a URN.
    return { name: `${base}-${requestedIP.replaceAll(':', '-')}`, family, requestedIP };
  });
}

export function familyOf(ip: string): 'IPv4' | 'IPv6' {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}
