import type { z } from 'zod';
import type { JsonObject } from '../../operator/base/json';

/** What a resource type's schema has against inputs, as the engine wants it told: a path for each. Empty = nothing. Pure. */
export function problemsIn(schema: z.ZodType, inputs: JsonObject): { property: string; reason: string }[] {
  const { error } = schema.safeParse(inputs);
  return (error?.issues ?? []).map((issue) => ({ property: issue.path.join('.'), reason: issue.message }));
}
