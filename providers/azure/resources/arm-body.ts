import type { Json, JsonObject } from '../../../operator/base/json';
import { READ_ONLY } from '../client/provisioning';

/** What of a resource stands beside its `properties` in Azure's own terms; @pulumi/azure-native has all in one. */
const OUTSIDE = ['id', 'name', 'etag', 'type', 'location', 'tags', 'sku', 'zones', 'extendedLocation'];
/** Arguments that are in the id. */
const IN_ID = /^(resourceGroupName|loadBalancerName|publicIpAddressName|serviceName)$/;

/** Lists whose items are resources of their own, or look like such. */
const PARTS = new Set([
  'frontendIPConfigurations',
  'backendAddressPools',
  'loadBalancerBackendAddresses',
  'loadBalancingRules',
  'probes',
  'outboundRules',
  'inboundNatRules',
  'ipConfigurations',
]);

/**
 * Arguments of a resource of @pulumi/azure-native as the body of Azure's own API: what is a setting goes below `properties`, in the resource and in its
 * parts. Pure.
 */
export function armBody(given: JsonObject): JsonObject {
  const entries = Object.entries(given).filter(([key]) => !IN_ID.test(key));
  const outside = entries.filter(([key]) => OUTSIDE.includes(key));
  const inside = entries.filter(([key]) => !OUTSIDE.includes(key)).map(([key, value]): [string, Json] => [key, partsIn(key, value)]);
  return { ...Object.fromEntries(outside), properties: Object.fromEntries(inside) };
}

/**
 * A body with all that stands in the resource besides: what others have set of it, such as protection against floods, stays as it is. Pure.
 * @param found properties of the resource
 * @param own of these only what the body says: what programs set now and then, and what Azure alone writes of such a resource
 */
export function bodyOver(body: JsonObject, found: JsonObject, own: readonly string[]): JsonObject {
  const others = Object.entries(found).filter(([key]) => !READ_ONLY.includes(key) && !own.includes(key));
  return { ...body, properties: { ...Object.fromEntries(others), ...(body.properties as JsonObject) } };
}

/** A rule names pools by id alone, in a list of the same name as that of the pools themselves. */
function partsIn(key: string, value: Json): Json {
  if (!PARTS.has(key) || !Array.isArray(value)) return value;
  return value.map((item) => (isObject(item) && item.name !== undefined ? armBody(item) : item));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
