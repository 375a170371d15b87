import { z } from 'zod';
import type { ResourceDescription } from './description';

const schema = z.object({
  name: z.string().min(1),
  ownerUID: z.string().min(1),
  owner: z.string(),
  adopted: z.literal(true).optional(),
  family: z.enum(['IPv4', 'IPv6']),
  requestedIP: z.string().optional(),
});
export type AddressInputs = z.infer<typeof schema>;

/** An address that a load balancer answers on. */
export const address: ResourceDescription<'addresses', AddressInputs> = {
  token: 'local:index:Address',
  collection: 'addresses',
  replaceOn: ['name', 'family', 'requestedIP'],
  schema,
  specFields: { requestedIP: 'spec.addresses' },
  fields: ({ family, requestedIP }) => ({ family, ...(requestedIP !== undefined && { requestedIP }) }),
  properties: ({ family, requestedIP }) => ({ family, ...(requestedIP !== undefined && { requestedIP }) }),
  observed: ({ ip }) => ({ ip }),
};
