import type { Json, JsonObject } from '../../operator/base/json';
import type { OfficialObject, OfficialType } from './official-types';

/** The part of JSON Schema that zod writes for the schemas of resources. */
export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
}

/** Where a schema of ours is not a part of the official type, in words. */
export function driftOf(schema: JsonSchema, { properties }: OfficialObject, path: string): string[] {
  const ours = schema.properties ?? {};
  const missing = Object.entries(properties)
    .filter(([, { required }]) => required)
    .flatMap(([name]) => {
      if (ours[name] === undefined) return [`${path}.${name} is needed officially, and not served`];
      return schema.required?.includes(name) === true ? [] : [`${path}.${name} is needed officially, and may be absent here`];
    });
  const others = Object.entries(ours).flatMap(([name, inner]) => {
    const official = properties[name];
    return official === undefined ? [`${path}.${name} is no official property`] : typeDrift(inner, official.type, `${path}.${name}`);
  });
  return [...missing, ...others];
}

function typeDrift(schema: JsonSchema, official: OfficialType, path: string): string[] {
  const kind = kindOf(schema);
  if (typeof official === 'string') return kind === official ? [] : [`${path} is ${kind}, officially ${official}`];
  if ('list' in official) {
    const item = schema.prefixItems?.[0] ?? schema.items;
    return kind === 'list' && item !== undefined ? typeDrift(item, official.list, `${path}[]`) : [`${path} is ${kind}, officially a list`];
  }
  return kind === 'object' ? driftOf(schema, official, path) : [`${path} is ${kind}, officially an object`];
}

function kindOf({ type, properties, enum: values, const: only }: JsonSchema): string {
  if (type === 'array') return 'list';
  if (type === 'object') return properties === undefined ? 'map' : 'object';
  if (type === 'integer') return 'number';
  return type ?? typeof (only ?? values?.[0]);
}

/** Where a value that a program sets is not of the official type, in words. */
export function valueDrift(value: Json, official: OfficialType, path: string): string[] {
  if (typeof official === 'string') {
    const kind = isObject(value) ? 'map' : typeof value;
    return kind === official ? [] : [`${path} is ${kind}, officially ${official}`];
  }
  if ('list' in official) {
    if (!Array.isArray(value)) return [`${path} is ${typeof value}, officially a list`];
    return value.flatMap((item) => valueDrift(item, official.list, `${path}[]`));
  }
  if (!isObject(value)) return [`${path} is ${typeof value}, officially an object`];
  const missing = Object.entries(official.properties).filter(([name, { required }]) => required && value[name] === undefined);
  return [
    ...missing.map(([name]) => `${path}.${name} is needed officially`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const property = official.properties[name];
      return property === undefined ? [`${path}.${name} is no official property`] : valueDrift(inner, property.type, `${path}.${name}`);
    }),
  ];
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
