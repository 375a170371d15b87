import { BlockList, isIP } from 'node:net';
import { IPv4, IPv6, parse } from 'ipaddr.js';
import { z } from 'zod';
import { withRules } from './rule';

/** The oldest Kubernetes that takes the CRDs. CEL has had its parsers of addresses since 1.30, and new rules may use what the release before had. */
export const OLDEST_KUBERNETES = '1.31';

/** A CIDR such as `10.0.0.0/8` or `fd00::/8`. The API server checks it with CEL's own CIDR parser. */
export const cidr = withRules(z.string().min(3).max(64).meta({ description: 'A CIDR, for example 203.0.113.0/24.' }), [
  { cel: 'isCIDR(self)', holds: isCidr, message: 'must be a CIDR such as 203.0.113.0/24 or 2001:db8::/64' },
]);

/** An IP address of either family. */
export const ip = withRules(z.string().min(2).max(64).meta({ description: 'An IP address.' }), [
  { cel: 'isIP(self)', holds: isAddress, message: 'must be an IP address such as 203.0.113.10 or 2001:db8::10' },
]);

export const ipFamily = z.enum(['IPv4', 'IPv6']);
export type IPFamily = z.infer<typeof ipFamily>;

/** A name of a Kubernetes object (RFC 1123 subdomain). */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

/** A name of a Namespace (RFC 1123 label). */
export const namespaceName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** A TCP, UDP or SCTP port. */
export const port = z.int().min(1).max(65535);

const MAPPED_IPV4 = new BlockList();
MAPPED_IPV4.addSubnet('::ffff:0:0', 96, 'ipv6');

/** What CEL's `isIP` accepts: no zone, no IPv4 address written as an IPv6 one. */
function isAddress(value: string): boolean {
  const family = isIP(value);
  if (family === 4) return true;
  return family === 6 && !value.includes('%') && !isMappedIPv4(value);
}

/** What CEL's `isCIDR` accepts. */
function isCidr(value: string): boolean {
  const [address = '', bits = '', ...rest] = value.split('/');
  if (rest.length > 0 || !isAddress(address) || !/^(0|[1-9][0-9]{0,2})$/.test(bits)) return false;
  return Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}

function isMappedIPv4(value: string): boolean {
  return MAPPED_IPV4.check(value, 'ipv6');
}

/** True where no bit is set to the right of the mask, as route tables want it; true also for what is no CIDR at all. */
export function hasNoHostBits(value: string): boolean {
  if (!isCidr(value)) return true;
  const [address = ''] = value.split('/');
  return maskedCIDR(value).split('/')[0] === canonicalIP(address);
}

/** The one spelling of a CIDR, as clouds give it back: no bit to the right of the mask, IPv6 as RFC 5952 has it. Pure. */
export function maskedCIDR(value: string): string {
  const [address = '', bits = ''] = value.split('/');
  const network = isIP(address) === 4 ? IPv4.networkAddressFromCIDR(value) : IPv6.networkAddressFromCIDR(value);
  return `${network.toString()}/${bits}`;
}

/** The one spelling of an IP address: IPv6 as RFC 5952 has it. Pure. */
export function canonicalIP(value: string): string {
  return parse(value).toString();
}
