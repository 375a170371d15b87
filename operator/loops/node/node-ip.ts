import { OperatorError } from '../../base/errors';
import { type Address, parseAddress } from '../cidr';

export interface NodeAddress {
  type: string;
  address: string;
}

interface NodeIP {
  text: string;
  address: Address;
}

/**
 * Parses the annotation that the kubelet makes of `--node-ip`: one address, or a pair of both families in either order (contract 3.4).
 * @throws OperatorError Invalid in upstream's words
 */
export function parseNodeIPs(annotation: string): NodeIP[] {
  const fail = (why: string): OperatorError => new OperatorError('Invalid', `failed to parse node IP "${annotation}": ${why}`);
  const ips = annotation.split(',').map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw fail(`could not parse "${text}"`);
    return { text, address };
  });
  const [first, second, ...more] = ips;
  if (second === undefined) return ips;
  if (more.length > 0 || first?.address.family === second.address.family)
    throw fail('must contain either a single IP or a dual-stack pair of IPs');
  if (ips.some(({ address }) => address.value === 0n)) throw fail("dual-stack node IP cannot include '0.0.0.0' or '::'");
  return ips;
}

/**
 * Puts the addresses that the kubelet was told of first and drops the others of their types (contract 3.4). The cloud's type and spelling stay.
 * @throws OperatorError Invalid when an address is not one of the machine's
 */
export function preferNodeIPs(addresses: readonly NodeAddress[], annotation: string): NodeAddress[] {
  const matches = parseNodeIPs(annotation).map((ip) => {
    const equal = addresses.filter(({ address }) => sameAddress(ip.address, parseAddress(address)));
    if (equal.length === 0)
      throw new OperatorError('Invalid', `failed to get node address from cloud provider that matches ip: ${ip.text}`);
    return equal;
  });
  const preferred = matches.flat();
  const types = new Set(preferred.map(({ type }) => type));
  return [...preferred, ...addresses.filter(({ type }) => !types.has(type))];
}

function sameAddress(a: Address, b: Address | undefined): boolean {
  return a.family === b?.family && a.value === b.value;
}
