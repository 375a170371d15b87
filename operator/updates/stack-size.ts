import type { Json, JsonObject } from '../base/json';
import type { Deployment } from './checkpoint';

/** A stack with more resources than this would be stored as a whole too often (docs/decisions/0013). */
export const JOURNAL_ABOVE = 50;

/**
 * How many resources an update may come to have to do with, in the order of magnitude: those that there are, or as many as there are objects in the
 * program's inputs, of which each resource is made. Pure.
 */
export function expectedResources(inputs: JsonObject | undefined, checkpoint: Deployment | null): number {
  return Math.max(checkpoint?.deployment?.resources?.length ?? 0, objectsIn(inputs ?? {}));
}

function objectsIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : 1;
  return Object.values(value).reduce((sum: number, item: Json) => sum + objectsIn(item), own);
}
