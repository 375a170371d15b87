import ipaddr from 'ipaddr.js';
import { OperatorError } from '../../../../operator/base/errors';

export type Family = 'IPv4' | 'IPv6';

/** A range of addresses of one family, as numbers. */
export interface Range {
  family: Family;
  base: bigint;
  bits: number;
}

export function familyOf(ipOrCIDR: string): Family {
  return ipOrCIDR.includes(':') ? 'IPv6' : 'IPv4';
}

/** The length of a prefix that holds one address only. */
export function widthOf(family: Family): number {
  return family === 'IPv4' ? 32 : 128;
}

/**
 * Bits beyond the prefix are dropped.
 * @throws OperatorError Invalid on text that is not a CIDR
 */
export function parseCIDR(cidr: string): Range {
  const [ip = '', prefix = '', ...more] = cidr.split('/');
  const family = familyOf(ip);
  const valid = family === 'IPv4' ? ipaddr.IPv4.isValidFourPartDecimal(ip) : ipaddr.IPv6.isValid(ip);
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (!valid || more.length > 0 || !(bits <= widthOf(family))) {
    throw new OperatorError('Invalid', `"${cidr}" is not a CIDR; write for example 10.244.1.0/24`);
  }
  const free = BigInt(widthOf(family) - bits);
  return { family, base: (numberOf(ip) >> free) << free, bits };
}

/** How many addresses the range has. */
export function sizeOf({ family, bits }: Range): bigint {
  return 1n << BigInt(widthOf(family) - bits);
}

/** The address so far behind the start of the range. */
export function addressAt({ family, base }: Range, offset: number | bigint): string {
  const length = widthOf(family) / 8;
  const value = base + BigInt(offset);
  const bytes = Array.from({ length }, (_, index) => Number((value >> BigInt(8 * (length - 1 - index))) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}

export function formatRange(range: Range): string {
  return `${addressAt(range, 0)}/${range.bits}`;
}

/**
 * The address with the given offset in a CIDR: offset 1 is the first one usable.
 * @throws OperatorError Invalid on text that is not a CIDR
 */
export function addressInCIDR(cidr: string, offset: number): string {
  return addressAt(parseCIDR(cidr), offset);
}

/** How far an address lies behind the start of the CIDR. */
export function offsetInCIDR(cidr: string, ip: string): number {
  return Number(numberOf(ip) - parseCIDR(cidr).base);
}

/** True where the two CIDRs have an address in common. */
export function overlaps(a: string, b: string): boolean {
  const [one, other] = [parseCIDR(a), parseCIDR(b)];
  if (one.family !== other.family) return false;
  const free = BigInt(widthOf(one.family) - Math.min(one.bits, other.bits));
  return one.base >> free === other.base >> free;
}

/** True where the address lies in the CIDR. */
export function contains(cidr: string, ip: string): boolean {
  return overlaps(cidr, `${ip}/${widthOf(familyOf(ip))}`);
}

function numberOf(ip: string): bigint {
  return ipaddr
    .parse(ip)
    .toByteArray()
    .reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
