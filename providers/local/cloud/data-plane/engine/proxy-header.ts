import ipaddr from 'ipaddr.js';
import { isIPv6 } from 'node:net';
import type { ProxyProtocol } from '../../../api';
import type { ClientAddress } from './listener';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2 in the upper half; below, who speaks. */
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

/**
 * The PROXY protocol's header (its specification, versions 1 and 2) for a client's connection: where it comes from, and the address of the load balancer that it went to. Pure.
 * @returns undefined for `none`
 */
export function proxyHeader(protocol: ProxyProtocol, from: ClientAddress, to: ClientAddress): Buffer | undefined {
  if (protocol === 'none') return undefined;
  const wide = isIPv6(from.address) || isIPv6(to.address);
  const [source, destination] = wide ? [widen(from.address), widen(to.address)] : [from.address, to.address];
  if (protocol === 'v1') {
    return Buffer.from(`PROXY ${wide ? 'TCP6' : 'TCP4'} ${source} ${destination} ${from.port} ${to.port}\r\n`, 'latin1');
  }
  const addresses = Buffer.concat([addressBytes(source), addressBytes(destination), portBytes(from.port), portBytes(to.port)]);
  return Buffer.concat([SIGNATURE, Buffer.from([PROXY, wide ? TCP_OVER_IPV6 : TCP_OVER_IPV4]), portBytes(addresses.length), addresses]);
}

/** The header of a health check that the load balancer makes for itself. Pure. @returns undefined for `none` */
export function ownProxyHeader(protocol: ProxyProtocol): Buffer | undefined {
  if (protocol === 'none') return undefined;
  return protocol === 'v1' ? Buffer.from('PROXY UNKNOWN\r\n') : Buffer.concat([SIGNATURE, Buffer.from([LOCAL, 0, 0, 0])]);
}

/** An IPv4 address in IPv6 notation: both ends of one header are of one family. */
function widen(address: string): string {
  return isIPv6(address) ? address : `::ffff:${address}`;
}

function addressBytes(address: string): Buffer {
  return Buffer.from(ipaddr.parse(address).toByteArray());
}

/** A 16-bit number in network order. */
function portBytes(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
