import type { Json } from '../../../operator/base/json';

/** Ids of resources, or of parts of them, that properties name at any depth. Pure. */
export function referencesIn(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  const here = typeof value.id === 'string' ? [value.id] : [];
  return [...here, ...Object.values(value).flatMap(referencesIn)];
}
