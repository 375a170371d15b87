import { z } from 'zod';

/** A CIDR such as `10.0.0.0/8` or `fd00::/8`. The API server checks it with CEL's own CIDR parser. */
export const cidr = z
  .string()
  .min(3)
  .max(64)
  .meta({
    description: 'A CIDR, for example 203.0.113.0/24.',
    'x-kubernetes-validations': [{ rule: 'isCIDR(self)', message: 'must be a CIDR such as 203.0.113.0/24 or 2001:db8::/64' }],
  });

/** An IP address of either family. */
export const ip = z
  .string()
  .min(2)
  .max(64)
  .meta({
    description: 'An IP address.',
    'x-kubernetes-validations': [{ rule: 'isIP(self)', message: 'must be an IP address such as 203.0.113.10 or 2001:db8::10' }],
  });

export const ipFamily = z.enum(['IPv4', 'IPv6']);
export type IPFamily = z.infer<typeof ipFamily>;

/** A name of a Kubernetes object (RFC 1123 subdomain). */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

/** A TCP, UDP or SCTP port. */
export const port = z.int().min(1).max(65535);
