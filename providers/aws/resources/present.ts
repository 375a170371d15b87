import type { Json, JsonObject } from '../../../operator/base/json';

/** The same without what is undefined: properties that are not there. Pure. */
export function present(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
