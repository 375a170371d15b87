import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import type { LoadBalancerListener } from '../api';
import type { ResourceDescription } from './description';

const schema = z.object({
  name: z.string().min(1),
  ownerUID: z.string().min(1),
  owner: z.string(),
  adopted: z.boolean().optional(),
  scheme: z.enum(['Public', 'Internal']),
  mode: z.literal('passthrough').optional(),
  addressIDs: z.array(z.string()).min(1),
  listeners: z
    .array(
      z.object({
        name: z.string(),
        protocol: z.enum(['TCP', 'UDP']),
        port: z.number().int(),
        poolID: z.string(),
        idleTimeoutMs: z.number().int(),
        addressIDs: z.array(z.string()).min(1).optional(),
        sourceRanges: z.array(z.string()).optional(),
        ownerUID: z.string().optional(),
        owner: z.string().optional(),
      }),
    )
    .min(1),
  sourceRanges: z.array(z.string()),
});
export type LoadBalancerInputs = z.infer<typeof schema>;

/** The load balancer itself: addresses, listeners, who may connect. */
export const loadBalancer: ResourceDescription<'loadbalancers', LoadBalancerInputs> = {
  token: 'local:index:LoadBalancer',
  collection: 'loadbalancers',
  replaceOn: ['name', 'scheme', 'mode'],
  schema,
  specFields: { mode: 'spec.local.engine' },
  fields: ({ scheme, mode, addressIDs, listeners, sourceRanges }) => ({
    scheme,
    ...(mode !== undefined && { mode }),
    addressIDs,
    listeners,
    sourceRanges,
  }),
  properties: ({ scheme, mode, addressIDs, listeners, sourceRanges }) => ({
    scheme,
    ...(mode === 'passthrough' && { mode }),
    addressIDs: [...addressIDs],
    listeners: [...listeners].sort((a, b) => (a.name < b.name ? -1 : 1)).map(listenerOf),
    sourceRanges: [...sourceRanges].sort(),
  }),
  observed: () => ({}),
};

/** Address, source ranges and owner are there only on a load balancer that several share. */
function listenerOf({ name, protocol, port, poolID, idleTimeoutMs, ...own }: LoadBalancerListener): JsonObject {
  const { addressIDs, sourceRanges, ownerUID, owner } = own;
  return {
    name,
    protocol,
    port,
    poolID,
    ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    ...(addressIDs !== undefined && { addressIDs: [...addressIDs] }),
    ...(sourceRanges !== undefined && { sourceRanges: [...sourceRanges].sort() }),
    ...(ownerUID !== undefined && { ownerUID }),
    ...(owner !== undefined && { owner }),
  };
}
