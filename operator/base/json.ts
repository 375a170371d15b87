import { createHash } from 'node:crypto';

/** Anything that survives JSON.stringify and JSON.parse. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** JSON with sorted keys and without undefined values: equal content gives equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** The first 32 hex digits of the SHA-256 of the canonical JSON. */
export function hashJson(value: unknown): string {
  return hashText(canonicalJson(value));
}

/** The first 32 hex digits of the SHA-256 of a text; not a slice of all of them, which would keep those alive. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest().toString('hex', 0, 16);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => (item === undefined ? null : sortKeys(item)));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sortKeys(item)]));
}
