import { z } from 'zod';
import { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';

/** How a worker reaches a subscription. It holds a token: never stored, never logged. */
const workerSettings = z.object({
  resourceManager: z.string().min(1),
  /** One that lasts for an update; absent = there is none, and every call fails. */
  token: z.string().min(1).optional(),
  /** When it ends, by the wall clock, milliseconds since 1970. */
  expiresAt: z.number().optional(),
  /** For whom it is made out; absent = the resource manager itself. */
  audience: z.string().min(1).optional(),
  networkSubscriptionID: z.string().min(1),
  clusterName: z.string().min(1),
  preConfiguredPools: z.enum(['Internal', 'External', 'All']).optional(),
});
export type WorkerSettings = z.infer<typeof workerSettings>;

/** @throws OperatorError Invalid naming the setting, and never its value */
export function parseWorkerSettings(settings: JsonObject): WorkerSettings {
  const { data, error } = workerSettings.safeParse(settings);
  if (error === undefined) return data;
  const [first] = error.issues;
  throw new OperatorError('Invalid', `the settings of Azure: ${first?.path.join('.') ?? ''}: ${first?.message ?? 'invalid'}`);
}
