import { isIP } from 'node:net';

/** An IP address as a number: two spellings of one address are equal. IPv4 in IPv6 (`::ffff:192.0.2.1`) counts as IPv4, as in Go. */
export interface Address {
  family: 'IPv4' | 'IPv6';
  value: bigint;
}

/** A block of addresses, from the network address to the last one. */
export interface Cidr {
  family: 'IPv4' | 'IPv6';
  first: bigint;
  last: bigint;
  prefix: number;
}

const MAPPED_PREFIX = 0xffffn;

/** @returns undefined when the text is not an IP address (zones such as `%eth0` are not allowed) */
export function parseAddress(text: string): Address | undefined {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 4) return { family: 'IPv4', value: ipv4Value(text) };
  if (version !== 6) return undefined;
  const value = ipv6Value(text);
  return value >> 32n === MAPPED_PREFIX ? { family: 'IPv4', value: value & 0xffffffffn } : { family: 'IPv6', value };
}

/** @returns undefined when the text is not `address/prefix`; bits behind the prefix are dropped */
export function parseCidr(text: string): Cidr | undefined {
  const [, ip, length] = /^([^/]+)\/([0-9]{1,3})$/.exec(text) ?? [];
  if (ip === undefined || length === undefined) return undefined;
  const address = parseAddress(ip);
  const bits = address?.family === 'IPv4' ? 32 : 128;
  const prefix = Number(length);
  if (address === undefined || prefix > bits) return undefined;
  const host = (1n << BigInt(bits - prefix)) - 1n;
  const first = address.value & ~host;
  return { family: address.family, first, last: first | host, prefix };
}

/** The one spelling of a block: RFC 5952 for IPv6. */
export function formatCidr({ family, first, prefix }: Cidr): string {
  return `${family === 'IPv4' ? formatIPv4(first) : formatIPv6(first)}/${prefix}`;
}

/** True when the first or the last address of `inner` lies in `outer`: the rule of contract 5.3. */
export function touches(outer: Cidr, inner: Cidr): boolean {
  const within = (value: bigint): boolean => outer.first <= value && value <= outer.last;
  return outer.family === inner.family && (within(inner.first) || within(inner.last));
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const [head = '', tail] = text.split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = new Array<bigint>(Math.max(0, 8 - left.length - right.length)).fill(0n);
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | group, 0n);
}

function groups(text: string): bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}

function formatIPv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

function formatIPv6(value: bigint): string {
  const parts = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((value >> shift) & 0xffffn).toString(16));
  const longest = parts
    .join(':')
    .match(/\b0(?::0)+\b/g)
    ?.reduce((best, run) => (run.length > best.length ? run : best), '');
  const text = parts.join(':');
  if (longest === undefined || longest === '') return text;
  const at = text.search(new RegExp(`(?<![0-9a-f])${longest}(?![0-9a-f])`));
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`;
}
