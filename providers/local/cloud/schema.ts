import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { invalid, type ApiFailure } from './api-failure';

/** Names of resources: what Kubernetes names need, and a little more. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,252}$/,
    'must be 1 to 253 letters, digits, ".", "_", ":", "/" or "-", and start with a letter or digit',
  );

export const tags = z
  .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'is not a tag key'), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 50, 'has more than 50 tags');

export const ip = z.string().refine((text) => isIP(text) !== 0, 'must be an IP address such as 10.0.0.1 or fd00::1');

export const ipFamily = z.enum(['IPv4', 'IPv6']);

/** Any range; bits beyond the prefix are allowed. */
export const cidr = z.string().refine(isCIDR, 'must be an IP range such as 10.0.0.0/8 or fd00::/64');

/** A range whose bits beyond the prefix are zero: a route's destination. */
export const network = cidr.refine(
  (text) => !isCIDR(text) || networkOf(text) === ipaddr.parse(text.split('/')[0] ?? '').toString(),
  'has bits set beyond its prefix length; write the network address',
);

export const port = z.int().min(1).max(65_535);
export const milliseconds = z
  .int()
  .min(0)
  .max(24 * 3_600_000);
export const transport = z.enum(['TCP', 'UDP']);
export const id = z.string().min(1).max(128);

/**
 * Checks `input` against `schema`.
 * @throws ApiFailure InvalidArgument that names the first field at fault
 */
export function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw failureOf(result.error);
}

/** Refuses a second item with the same key: `listeners[2].name`. */
export function unique<T>(items: readonly T[], key: (item: T) => string, field: (index: number) => string): void {
  const seen = new Map<string, number>();
  items.forEach((item, index) => {
    const first = seen.get(key(item));
    if (first !== undefined) throw invalid(field(index), `${key(item)} is there already, as number ${first}`);
    seen.set(key(item), index);
  });
}

function isCIDR(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  const family = isIP(address);
  return more === undefined && family !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function networkOf(text: string): string {
  return (text.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4).networkAddressFromCIDR(text).toString();
}

function failureOf(error: z.ZodError): ApiFailure {
  const issue = error.issues[0];
  if (issue === undefined) return invalid('', error.message);
  if (issue.code === 'unrecognized_keys') return invalid(path([...issue.path, issue.keys[0] ?? '']), 'there is no such field');
  return invalid(path(issue.path), issue.message);
}

function path(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
