import type { Json, JsonObject } from '../../operator/base/json';
import type { ResourceType } from './resource-provider';

/** One property that differs, by its path: `listeners[0].port`. */
export interface PropertyChange {
  path: string;
  /** The property at the top, which `replaceOn` names. */
  property: string;
  kind: 'Add' | 'Delete' | 'Update';
}

/**
 * Every place where two property bags differ, as deep as the difference goes. `null` and absent are equal. Pure.
 * Lists are compared by position; a list that became longer or shorter gives one change per item.
 */
export function propertyChanges(olds: JsonObject, news: JsonObject): PropertyChange[] {
  return Object.keys({ ...olds, ...news })
    .filter((key) => !key.startsWith('__'))
    .sort()
    .flatMap((key) => valueChanges(step('', key), olds[key], news[key]).map((change) => ({ ...change, property: key })));
}

/** Whether a change of a resource needs a replacement. Pure. */
export function needsReplacement(
  { path, property, kind }: PropertyChange,
  { replaceOn, replaceOnPresence = [] }: Pick<ResourceType, 'replaceOn' | 'replaceOnPresence'>,
): boolean {
  const comesOrGoes = path === property && kind !== 'Update';
  return replaceOn.includes(property) || (comesOrGoes && replaceOnPresence.includes(property));
}

type Change = Omit<PropertyChange, 'property'>;

function valueChanges(path: string, old: Json | undefined, wanted: Json | undefined): Change[] {
  const hadOne = old !== undefined && old !== null;
  const wantsOne = wanted !== undefined && wanted !== null;
  if (!hadOne && !wantsOne) return [];
  if (!hadOne) return [{ path, kind: 'Add' }];
  if (!wantsOne) return [{ path, kind: 'Delete' }];
  if (Array.isArray(old) && Array.isArray(wanted)) {
    return Array.from({ length: Math.max(old.length, wanted.length) }).flatMap((_, index) =>
      valueChanges(`${path}[${index}]`, old[index], wanted[index]),
    );
  }
  if (isObject(old) && isObject(wanted)) {
    return Object.keys({ ...old, ...wanted })
      .sort()
      .flatMap((key) => valueChanges(step(path, key), old[key], wanted[key]));
  }
  return old === wanted ? [] : [{ path, kind: 'Update' }];
}

/** Appends a key to a property path in Pulumi's syntax: keys that aren't plain words are quoted. */
function step(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
