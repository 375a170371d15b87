import type { JsonObject } from '../operator/base/json';

/** Sets a field of a block by its path; objects on the way are made, and an object that is there already is filled up. */
export function setAt(target: JsonObject, path: string, value: JsonObject[string]): void {
  const [field = '', ...below] = path.split('.');
  if (below.length > 0) {
    target[field] ??= {};
    setAt(target[field] as JsonObject, below.join('.'), value);
  } else if (isObject(value) && isObject(target[field])) {
    for (const [key, inner] of Object.entries(value)) setAt(target[field], key, inner);
  } else {
    target[field] = value;
  }
}

function isObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
