import { apiVersionOf } from '../../../../providers/azure/client/api-versions';
import { parseResourceID, sameID } from '../../../../providers/azure/client/resource-id';
import { refusal } from '../request';
import { namesPart, partsOf } from '../resource';
import type { Rule } from '../rule';

/** Every request says in which version it speaks: MissingApiVersionParameter; and in one that there is: NoRegisteredProviderFound. */
export const apiVersion: Rule = ({ request, type }) => {
  const version = request.query.get('api-version');
  if (version === null) {
    return refusal(400, 'MissingApiVersionParameter', 'The api-version query parameter (?api-version=) is required for all requests.');
  }
  if (version === apiVersionOf(type)) return undefined;
  return refusal(
    400,
    'NoRegisteredProviderFound',
    `No registered resource provider found for API version '${version}' for type '${type}'.`,
  );
};

/** Nothing is made in a resource group that isn't there. */
export const resourceGroup: Rule = ({ id }, { resourceGroups }) => {
  const { resourceGroup: name } = parseResourceID(id);
  if (resourceGroups.has(name.toLowerCase())) return undefined;
  return refusal(404, 'ResourceGroupNotFound', `Resource group '${name}' could not be found.`);
};

/** A role must allow the action (learn.microsoft.com, "Troubleshoot Azure RBAC": AuthorizationFailed). */
export const permission: Rule = ({ id, type, request, after }, { forbidden }) => {
  const action = `${type}/${after === undefined || request.method === 'DELETE' ? 'delete' : 'write'}`;
  if (forbidden.get(parseResourceID(id).resourceGroup.toLowerCase()) !== action) return undefined;
  const text = `The client 'operator' with object id 'operator' does not have authorization to perform action '${action}' over scope '${id}' or the scope is invalid. If access was recently granted, please refresh your credentials.`;
  return refusal(403, 'AuthorizationFailed', text);
};

/** A lock on the group: ReadOnly keeps every write out, CanNotDelete deletes (learn.microsoft.com, "Lock your resources"). */
export const lock: Rule = ({ id, request, after }, { locks }) => {
  const { resourceGroup: name } = parseResourceID(id);
  const level = locks.get(name.toLowerCase());
  const isDelete = after === undefined || request.method === 'DELETE';
  if (level === undefined || (level === 'CanNotDelete' && !isDelete)) return undefined;
  const what = isDelete ? 'delete' : 'write';
  return refusal(
    409,
    'ScopeLocked',
    `The scope '${id}' cannot perform ${what} operation because following scope(s) are locked: '${name}'.`,
  );
};

/** Azure Policy with the effect deny (learn.microsoft.com, "RequestDisallowedByPolicy error"). */
export const policy: Rule = ({ id, type, after }, { policies }) => {
  const name = after === undefined ? undefined : policies.get(type.toLowerCase());
  if (name === undefined) return undefined;
  return refusal(403, 'RequestDisallowedByPolicy', `Resource '${id}' was disallowed by policy. Policy identifiers: '${name}'.`);
};

/** Something else happens to it, or to what depends on it (pulumi/pulumi-azure-native#903): AnotherOperationInProgress. */
export const anotherOperation: Rule = ({ id }, { busy }) => {
  const found = busy.get(id.toLowerCase());
  if (found === undefined || found.times-- <= 0) return undefined;
  const text = 'Another operation on this or dependent resource is in progress.';
  return { ...refusal(409, 'AnotherOperationInProgress', text), headers: { 'retry-after': String(found.retryAfterS) } };
};

/** If-Match and If-None-Match (RFC 9110; of network resources, learn.microsoft.com, "Load Balancers - Create Or Update"): of a part its own etag counts. */
export const precondition: Rule = ({ request: { headers, path }, before: whole }) => {
  const [match, none] = [headers['if-match'], headers['if-none-match']];
  const before = namesPart(path) && whole !== undefined ? partsOf(whole).find(({ id }) => sameID(id, path)) : whole;
  const fits = (match === undefined || match === '*' || match === before?.etag) && (none !== '*' || before === undefined);
  if (fits) return undefined;
  return refusal(412, 'PreconditionFailed', `Precondition failed. Etag provided in if-match header does not match etag of the resource.`);
};

/** PATCH of network resources sets tags and nothing else (learn.microsoft.com, "Load Balancers - Update Tags"). */
export const patchSetsTags: Rule = ({ request: { method, body } }) => {
  const others = method === 'PATCH' ? Object.keys(body).filter((key) => key !== 'tags') : [];
  if (others.length === 0) return undefined;
  return refusal(400, 'InvalidRequestContent', `The request content was invalid: '${others.join(', ')}' can't be updated by PATCH.`);
};

/** Where a resource is, and its SKU, stay (learn.microsoft.com, "Resolve errors for resource provider": PropertyChangeNotAllowed). */
export const immutable: Rule = ({ before, after }) => {
  if (before === undefined || after === undefined) return undefined;
  if (before.location !== after.location) {
    const text = `The resource '${before.name}' already exists in location '${before.location}'.`;
    return refusal(409, 'InvalidResourceLocation', text);
  }
  if (JSON.stringify(before.sku) === JSON.stringify(after.sku)) return undefined;
  return refusal(400, 'PropertyChangeNotAllowed', `Changing property 'sku' of ${before.id} is not allowed.`);
};

/** Zones of a resource, or of a part such as a frontend, stay (Azure/azure-powershell#14326). */
export const zonesStay: Rule = ({ before, after }) => {
  if (before === undefined || after === undefined) return undefined;
  const had = new Map([before, ...partsOf(before)].map(({ id, zones }) => [id.toLowerCase(), zonesOf(zones)]));
  for (const { id, zones } of [after, ...partsOf(after)]) {
    const [old, wanted] = [had.get(id.toLowerCase()), zonesOf(zones)];
    if (old === undefined || old === wanted) continue;
    const text = `Resource ${id} has an existing availability zone constraint ${old} and the request has availability zone constraint ${wanted}, which do not match.`;
    return refusal(400, 'ResourceAvailabilityZonesCannotBeModified', text);
  }
  return undefined;
};

function zonesOf(zones: readonly string[] = []): string {
  return [...zones].sort().join(', ');
}

/**
 * Keys of tags are short, have none of `<>%&\\?/`, and no letter case; there are 50 at most (learn.microsoft.com, "Use tags to organize your Azure resources").
 * Of two that differ in that alone some services of Azure keep one (MicrosoftDocs/azure-docs#57888); here both are refused.
 */
export const tagNames: Rule = ({ after }) => {
  const tags = Object.entries(after?.tags ?? {});
  const bad = tags.find(([key, value]) => /[<>%&\\?/]/.test(key) || key.length > 512 || value.length > 256);
  if (bad !== undefined) return refusal(400, 'InvalidTagNameCharacters', `The tag name '${bad[0]}' is not allowed.`);
  const keys = tags.map(([key]) => key.toLowerCase());
  const twin = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twin !== undefined) return refusal(400, 'InvalidRequestContent', `The tag name '${twin}' stands there twice.`);
  if (tags.length <= 50) return undefined;
  return refusal(400, 'TooManyTags', `${after?.id} has ${tags.length} tags, and may have 50.`);
};
