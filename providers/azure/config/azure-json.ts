import { parse } from 'yaml';
import { OperatorError } from '../../../operator/base/errors';
import type { Json, JsonObject } from '../../../operator/base/json';
import { similarTo } from '../../../operator/base/similar';
import { FIELDS, type FieldKind, WITHOUT_EFFECT } from './azure-json-fields';

type ValueOf<Kind extends FieldKind> = Kind extends 'text'
  ? string
  : Kind extends 'flag'
    ? boolean
    : Kind extends 'number'
      ? number
      : Kind extends 'map'
        ? Record<string, string>
        : JsonObject[];

/** What an azure.json says, by the names that upstream documents. Holds secrets. */
export type AzureJson = { [Field in keyof typeof FIELDS]?: ValueOf<(typeof FIELDS)[Field]> };

/** True for a text in the form of upstream's file, and not a CloudProvider.spec. Pure. */
export function isAzureJson(text: string): boolean {
  return /["']?(subscriptionId|tenantId|resourceGroup)["']?\s*:/i.test(text) && !/^\s*["']?azure["']?\s*:/m.test(text);
}

/**
 * Reads upstream's azure.json, which may be YAML too; names of fields are the same in capitals or not, an empty text counts as absent. Pure.
 * @returns what it says, and what it says without effect, in words
 * @throws OperatorError Invalid naming the field, and never its value
 */
export function parseAzureJson(text: string): { config: AzureJson; warnings: string[] } {
  const config: Record<string, Json> = {};
  const warnings: string[] = [];
  for (const [key, value] of Object.entries(contentOf(text))) {
    if (value === null || value === '') continue;
    const known = named(key, Object.keys(FIELDS));
    if (known === undefined) {
      warnings.push(remarkOn(key));
      continue;
    }
    if (!isOfKind(value, FIELDS[known as keyof typeof FIELDS])) {
      throw new OperatorError('Invalid', `${key}: must be ${WORDS[FIELDS[known as keyof typeof FIELDS]]}`, { field: key });
    }
    config[known] = value;
  }
  return { config, warnings };
}

const WORDS: Readonly<Record<FieldKind, string>> = {
  text: 'a text',
  flag: 'true or false',
  number: 'a number',
  map: 'texts by key',
  objects: 'a list of objects',
};

function contentOf(text: string): JsonObject {
  let content: unknown;
  try {
    content = parse(text);
  } catch (cause) {
    // The text of the error would quote the line, which may be the secret's.
    throw new OperatorError('Invalid', 'neither JSON nor YAML', { cause });
  }
  if (!isObject(content as Json)) throw new OperatorError('Invalid', 'must be a map of fields, such as subscriptionId and resourceGroup');
  return content as JsonObject;
}

function named(key: string, names: readonly string[]): string | undefined {
  return names.find((name) => name.toLowerCase() === key.toLowerCase());
}

function remarkOn(key: string): string {
  const known = named(key, Object.keys(WITHOUT_EFFECT));
  if (known !== undefined) return `${key} has no effect: ${WITHOUT_EFFECT[known]}`;
  // Each client of upstream's has one: loadBalancerRateLimit, vmSizesRateLimit, …
  if (/RateLimit$/i.test(key)) return `${key} has no effect: all calls share cloudProviderRateLimitQPS, and what Azure says is left`;
  const meant = similarTo(key, Object.keys(FIELDS));
  return `${key} is not known, and without effect${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function isOfKind(value: Json, kind: FieldKind): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'flag') return typeof value === 'boolean';
  if (kind === 'number') return typeof value === 'number';
  if (kind === 'map') return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
  return Array.isArray(value) && value.every(isObject);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
