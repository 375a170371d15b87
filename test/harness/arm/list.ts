import { parseResourceID, sameID, type ResourceName } from '../../../providers/azure/client/resource-id';
import { withUsers } from './fill';
import { refusal, type Answer } from './request';
import { partListsOf, partsIn, type Part, type Resource } from './resource';
import type { CloudView } from './rule';

/** What a list asks for: resources of a type in a subscription, in a group, or below another resource; or parts of one. */
export interface Collection {
  subscription: string;
  resourceGroup?: string;
  /** `Microsoft.Network/loadBalancers`. */
  type: string;
  /** The resource that it is below. */
  below?: ResourceName;
}

/** Reads the path of a list; undefined = it is none. */
export function collectionOf(path: string): Collection | undefined {
  const form = /^\/subscriptions\/([^/]+)(?:\/resourceGroups\/([^/]+))?\/providers\/([^/]+)\/(.+)$/i;
  const [, subscription = '', resourceGroup, namespace = '', tail = ''] = form.exec(path) ?? [];
  const words = tail.split('/');
  if (tail === '' || words.length % 2 === 0) return undefined;
  const type = [namespace, ...words.filter((_, index) => index % 2 === 0)].join('/');
  const below = words.length === 1 ? undefined : parseResourceID(path.slice(0, path.lastIndexOf('/')));
  return { subscription, type, ...(resourceGroup !== undefined && { resourceGroup }), ...(below !== undefined && { below }) };
}

/** Some of a collection, in the order in which it was made, and whether there are more. @param from the first one's index; @param size how many */
export function listed(
  collection: Collection,
  query: URLSearchParams,
  cloud: CloudView,
  { from, size }: { from: number; size: number },
): Answer | { value: object[]; isMore: boolean } {
  const { resourceGroup, type, below } = collection;
  if (resourceGroup !== undefined && !cloud.resourceGroups.has(resourceGroup.toLowerCase())) {
    return refusal(404, 'ResourceGroupNotFound', `Resource group '${resourceGroup}' could not be found.`);
  }
  // learn.microsoft.com, "Virtual Machines - List": instanceView can only be specified with a valid $filter
  const isMachines = type.toLowerCase() === 'microsoft.compute/virtualmachines';
  if (isMachines && query.has('$expand') && !query.has('$filter')) {
    return refusal(400, 'InvalidParameter', "The expand option 'instanceView' needs a $filter.");
  }
  const found = below === undefined ? top(collection, cloud) : inside(below, collection, cloud);
  const value = found.slice(from, from + size).map((one) => shown('type' in one ? withUsers(one, cloud) : one, query, type));
  return { value, isMore: from + size < found.length };
}

function top({ subscription, resourceGroup, type }: Collection, cloud: CloudView): Resource[] {
  return cloud.all().filter((one) => one.type.toLowerCase() === type.toLowerCase() && belongs(one, subscription, resourceGroup));
}

function belongs({ id }: Resource, subscription: string, resourceGroup: string | undefined): boolean {
  const name = parseResourceID(id);
  return sameID(name.subscription, subscription) && (resourceGroup === undefined || sameID(name.resourceGroup, resourceGroup));
}

/** Parts of a resource; or resources whose ids lie below it, at any depth, as the interfaces of a scale set's machines do. */
function inside(below: ResourceName, { type }: Collection, cloud: CloudView): (Part | Resource)[] {
  const id = `/subscriptions/${below.subscription}/resourceGroups/${below.resourceGroup}/providers/${below.namespace}${below.path.map((one) => `/${one.type}/${one.name}`).join('')}`;
  const list = type.slice(type.lastIndexOf('/') + 1);
  const whole = cloud.find(id);
  const parts = partListsOf(whole?.type ?? '').find((one) => one.toLowerCase() === list.toLowerCase());
  if (parts !== undefined) return partsIn(whole, parts);
  const inSet = new RegExp(`/${list}/[^/]+$`, 'i');
  return cloud.all().filter((one) => one.id.toLowerCase().startsWith(`${id.toLowerCase()}/`) && inSet.test(one.id));
}

/** Run-time state is given only where it is asked for: `$expand=instanceView`, or `statusOnly=true` for nothing else. */
function shown(one: Part | Resource, query: URLSearchParams, type: string): object {
  const { properties } = one;
  if (!/microsoft\.compute\//i.test(type)) return one;
  const { instanceView, ...rest } = properties;
  if (query.get('statusOnly') === 'true') return { ...one, properties: { instanceView } };
  return query.get('$expand') === 'instanceView' ? one : { ...one, properties: rest };
}
