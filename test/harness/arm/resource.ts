import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../../../operator/base/json';
import { parseResourceID, resourceID, resourceTypeOf, type ResourceName } from '../../../providers/azure/client/resource-id';

/** A resource as Azure Resource Manager writes it. */
export interface Resource {
  id: string;
  name: string;
  type: string;
  location?: string;
  tags?: Record<string, string>;
  etag: string;
  sku?: JsonObject;
  zones?: string[];
  properties: JsonObject;
}

/** A part of a resource with a name and an id of its own. */
export interface Part {
  id: string;
  name: string;
  etag: string;
  zones?: string[];
  properties: JsonObject;
}

/** Lists of parts in a resource's properties, by its type in lower case. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'microsoft.network/loadbalancers': [
    'frontendIPConfigurations',
    'backendAddressPools',
    'loadBalancingRules',
    'probes',
    'outboundRules',
    'inboundNatRules',
    'inboundNatPools',
  ],
  'microsoft.network/networksecuritygroups': ['securityRules'],
  'microsoft.network/routetables': ['routes'],
  'microsoft.network/virtualnetworks': ['subnets'],
  'microsoft.network/networkinterfaces': ['ipConfigurations'],
  'microsoft.network/privatelinkservices': ['ipConfigurations', 'privateEndpointConnections'],
};

/** Names of the lists of parts that resources of a type have. */
export function partListsOf(type: string): readonly string[] {
  return PARTS[type.toLowerCase()] ?? [];
}

/** All parts of a resource. */
export function partsOf({ type, properties }: Resource): Part[] {
  return partListsOf(type).flatMap((list) => (properties[list] ?? []) as unknown as Part[]);
}

/** One list of parts. */
export function partsIn(resource: Pick<Resource, 'properties'> | undefined, list: string): Part[] {
  return (resource?.properties[list] ?? []) as unknown as Part[];
}

/** The resource that an id names or lies in, and the list and name of the part. */
export function wholeOf(name: ResourceName): { whole: ResourceName; part?: { list: string; name: string } } {
  const [outer, inner] = name.path;
  const type = `${name.namespace}/${outer?.type ?? ''}`;
  const list = partListsOf(type).find((one) => one.toLowerCase() === inner?.type.toLowerCase());
  if (list === undefined || inner === undefined || outer === undefined) return { whole: name };
  return { whole: { ...name, path: [outer] }, part: { list, name: inner.name } };
}

/** A resource as a request's body gives it, with ids and etags; what a client must not write is left out. */
export function resourceFrom(name: ResourceName, body: JsonObject): Resource {
  const type = resourceTypeOf(name);
  const id = resourceID(name);
  const properties = writable(body.properties as JsonObject | undefined);
  const { location, tags, sku, zones } = body as Partial<Resource>;
  const resource: Resource = {
    id,
    name: name.path.at(-1)?.name ?? '',
    type,
    etag: newEtag(),
    ...(location !== undefined && { location }),
    ...(tags !== undefined && { tags }),
    ...(sku !== undefined && { sku }),
    ...(zones !== undefined && { zones }),
    properties,
  };
  for (const list of partListsOf(type)) {
    const parts = (properties[list] ?? []) as unknown as Partial<Part>[];
    resource.properties[list] = parts.map((part) => partFrom(`${id}/${list}`, part)) as unknown as Json;
  }
  return resource;
}

export function partFrom(below: string, { name = '', zones, properties = {} }: Partial<Part>): Part {
  const id = `${below}/${name}`;
  const own = { ...writable(properties), provisioningState: 'Succeeded' };
  return { id, name, etag: newEtag(), ...(zones !== undefined && { zones }), properties: own };
}

/** Without what only Azure writes. */
function writable(properties: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !['provisioningState', 'resourceGuid'].includes(key)));
}

/** Ids of other resources, or of its own parts, that a resource names anywhere in its properties. */
export function referencesOf(resource: Resource): { from: string; to: string }[] {
  const own = { ...resource.properties };
  const parts = partsOf(resource);
  for (const list of partListsOf(resource.type)) delete own[list];
  return [
    ...idsIn(own).map((to) => ({ from: resource.id, to })),
    ...parts.flatMap(({ id, properties }) => idsIn(properties).map((to) => ({ from: id, to }))),
  ];
}

/** A part is found by the id of its resource and its own. */
export function isSameOrPart(id: string, of: string): boolean {
  return id.toLowerCase() === of.toLowerCase() || id.toLowerCase().startsWith(`${of.toLowerCase()}/`);
}

export function namesPart(id: string): boolean {
  return wholeOf(parseResourceID(id)).part !== undefined;
}

export function newEtag(): string {
  return `W/"${randomUUID()}"`;
}

function idsIn(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  const here = typeof value.id === 'string' && value.id.startsWith('/subscriptions/') ? [value.id] : [];
  return [...here, ...Object.values(value).flatMap(idsIn)];
}
