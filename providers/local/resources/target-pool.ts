import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import type { PoolHealthCheck } from '../api';
import type { ResourceDescription } from './description';

export const healthCheckSchema = z.object({
  protocol: z.enum(['HTTP', 'TCP']),
  port: z.number().int().optional(),
  path: z.string().optional(),
  intervalMs: z.number().int(),
  timeoutMs: z.number().int(),
  healthyThreshold: z.number().int(),
  unhealthyThreshold: z.number().int(),
});

const schema = z.object({
  name: z.string().min(1),
  ownerUID: z.string().min(1),
  owner: z.string(),
  adopted: z.literal(true).optional(),
  protocol: z.enum(['TCP', 'UDP']),
  healthCheck: healthCheckSchema,
  drainMs: z.number().int(),
  affinityMs: z.number().int().optional(),
  proxyProtocol: z.enum(['v1', 'v2']).optional(),
  failOpen: z.literal(false).optional(),
});
export type TargetPoolInputs = z.infer<typeof schema>;

/** Where one listener's connections go. Its targets are no property of it: they are kept by the members path. */
export const targetPool: ResourceDescription<'pools', TargetPoolInputs> = {
  token: 'local:index:TargetPool',
  collection: 'pools',
  replaceOn: ['name', 'protocol'],
  schema,
  fields: ({ protocol, healthCheck, drainMs, affinityMs = 0, proxyProtocol = 'none', failOpen = true }) => ({
    protocol,
    healthCheck,
    drainMs,
    affinityMs,
    proxyProtocol,
    failOpen,
  }),
  // What is as usual is left out, as `renderListener` leaves it out.
  properties: ({ protocol, healthCheck, drainMs, affinityMs = 0, proxyProtocol = 'none', failOpen = true }) => ({
    protocol,
    healthCheck: healthCheckOf(healthCheck),
    drainMs,
    ...(affinityMs > 0 && { affinityMs }),
    ...(proxyProtocol !== 'none' && { proxyProtocol }),
    ...(!failOpen && { failOpen }),
  }),
  observed: () => ({}),
};

function healthCheckOf({ protocol, port, path, ...numbers }: PoolHealthCheck): JsonObject {
  const { intervalMs, timeoutMs, healthyThreshold, unhealthyThreshold } = numbers;
  return {
    protocol,
    ...(port !== undefined && { port }),
    ...(path !== undefined && { path }),
    intervalMs,
    timeoutMs,
    healthyThreshold,
    unhealthyThreshold,
  };
}
