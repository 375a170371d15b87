import { Struct } from 'google-protobuf/google/protobuf/struct_pb';
import type { Json, JsonObject } from '../../operator/base/json';

/** Pulumi's wire marks: a key that makes an object special, and the values it takes. */
const SPECIAL = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';
/** What stands for a value that only an update can tell. */
export const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

/** The properties of a request as raw JSON, marks included. */
export function fromStruct(struct: Struct | undefined): JsonObject {
  return struct?.toJavaScript() ?? {};
}

export function toStruct(properties: JsonObject): Struct {
  return Struct.fromJavaScript(properties);
}

/** The same properties without secret marks: what a resource type works with. Pure. */
export function reveal(properties: JsonObject): JsonObject {
  return revealObject(properties);
}

/**
 * Marks as secret whatever was secret in `like`, so that the state keeps it encrypted: same keys, same list positions. Pure.
 * A list whose length changed is marked as a whole when any of its old items was secret.
 */
export function conceal(properties: JsonObject, like: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, concealValue(value, like[key])]));
}

/** True when a value that only an update can tell is in there (previews). */
export function hasUnknown(value: Json | undefined): boolean {
  if (value === UNKNOWN) return true;
  if (Array.isArray(value)) return value.some(hasUnknown);
  return isObject(value) && Object.values(value).some(hasUnknown);
}

/** True when a secret is in there. */
export function hasSecret(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasSecret);
  return isObject(value) && (value[SPECIAL] === SECRET || Object.values(value).some(hasSecret));
}

function revealObject(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, revealValue(value)]));
}

function revealValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(revealValue);
  if (!isObject(value)) return value;
  return value[SPECIAL] === SECRET ? revealValue(value.value ?? null) : revealObject(value);
}

function concealValue(value: Json, like: Json | undefined): Json {
  if (like === undefined || !hasSecret(like)) return value;
  if (isObject(like) && like[SPECIAL] === SECRET) return { [SPECIAL]: SECRET, value };
  if (Array.isArray(value) && Array.isArray(like) && value.length === like.length) {
    return value.map((item, index) => concealValue(item, like[index]));
  }
  if (isObject(value) && isObject(like)) return conceal(value, like);
  return { [SPECIAL]: SECRET, value };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
