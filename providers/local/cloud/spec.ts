import { canonicalJson } from '../../../operator/base/json';
import { invalid } from './api-failure';
import type { CollectionRules } from './collections/rules';
import type { Entry, ResourceCollection } from './entry';
import { parse } from './schema';

/**
 * Takes the client token out of the body of a create.
 * @throws ApiFailure InvalidArgument
 */
export function splitToken(body: unknown): { clientToken?: string; spec: Record<string, unknown> } {
  const { clientToken, ...spec } = fieldsOf(body);
  if (clientToken === undefined) return { spec };
  if (typeof clientToken !== 'string' || clientToken.length < 1 || clientToken.length > 256) {
    throw invalid('clientToken', 'must be 1 to 256 characters');
  }
  return { clientToken, spec };
}

/**
 * The fields of a PATCH that differ from what is there. A field that can't be changed may be given as long as it is as it was.
 * @throws ApiFailure InvalidArgument
 */
export function changedFields(rules: CollectionRules<ResourceCollection>, before: Entry, body: unknown): Record<string, unknown> {
  const current = before.resource as unknown as Record<string, unknown>;
  const given = fieldsOf(body);
  const mutable = Object.keys(rules.patchSchema.shape);
  const wanted: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(given)) {
    if (mutable.includes(field)) wanted[field] = value;
    else if (!(field in current)) throw invalid(field, `there is no such field; these can be changed: ${mutable.join(', ')}`);
    else if (!equal(value, current[field])) throw invalid(field, `can't be changed; these can: ${mutable.join(', ')}`);
  }
  const parsed: Record<string, unknown> = parse(rules.patchSchema, wanted);
  return Object.fromEntries(Object.entries(parsed).filter(([field, value]) => value !== undefined && !equal(value, current[field])));
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('', 'the body must be a JSON object');
  return body as Record<string, unknown>;
}

function equal(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
