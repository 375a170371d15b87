import { isDeepStrictEqual } from 'node:util';

/**
 * True when everything in `wanted` is in `stored`: what the API server or somebody else added doesn't count.
 * Lists whose elements have a `name` are matched by it; the lists named in `sets` may hold more; other lists must have equal elements in order.
 */
export function isSubset(wanted: unknown, stored: unknown, sets: readonly string[] = []): boolean {
  if (Array.isArray(wanted)) return Array.isArray(stored) && isSubsetOfList(wanted, stored, sets);
  if (!isRecord(wanted)) return isDeepStrictEqual(wanted, stored);
  if (!isRecord(stored)) return false;
  return Object.entries(wanted).every(([key, value]) => {
    if (value === undefined) return true;
    const other = stored[key];
    if (sets.includes(key) && Array.isArray(value) && Array.isArray(other)) return value.every((item) => other.includes(item));
    return isSubset(value, other, sets);
  });
}

function isSubsetOfList(wanted: unknown[], stored: unknown[], sets: readonly string[]): boolean {
  if (wanted.length > 0 && wanted.every(hasName)) {
    return wanted.every((item) => stored.some((other) => hasName(other) && other.name === item.name && isSubset(item, other, sets)));
  }
  return wanted.length === stored.length && wanted.every((item, index) => isSubset(item, stored[index], sets));
}

function hasName(value: unknown): value is { name: string } {
  return isRecord(value) && typeof value.name === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
