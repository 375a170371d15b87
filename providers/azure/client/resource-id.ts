import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type Json } from '../../../operator/base/json';

/** A resource of Azure Resource Manager, as its id names it: `Microsoft.Network/loadBalancers/<name>`, or a part of one. */
export interface ResourceName {
  subscription: string;
  resourceGroup: string;
  /** `Microsoft.Network`. */
  namespace: string;
  /** Types from the outermost to the innermost, each with a name. */
  path: { type: string; name: string }[];
}

/** An id as Azure writes it. Pure. */
export function resourceID({ subscription, resourceGroup, namespace, path }: ResourceName): string {
  const tail = path.map(({ type, name }) => `/${type}/${name}`).join('');
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${namespace}${tail}`;
}

/**
 * Reads an id; upper and lower case are the same in its fixed words. Pure.
 * @throws OperatorError Invalid when it is none of a resource in a resource group
 */
export function parseResourceID(id: string): ResourceName {
  const form = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/([^/]+)((?:\/[^/]+\/[^/]+)+)\/?$/i;
  const [, subscription = '', resourceGroup = '', namespace = '', tail = ''] = form.exec(id) ?? [];
  const words = tail.split('/').filter((word) => word !== '');
  if (words.length === 0) {
    throw new OperatorError(
      'Invalid',
      `"${id}" is no id of a resource. It begins with /subscriptions/<id>/resourceGroups/<name>/providers/`,
    );
  }
  const path = words.flatMap((type, index) => (index % 2 === 0 ? [{ type, name: words[index + 1] ?? '' }] : []));
  return { subscription, resourceGroup, namespace, path };
}

/** `Microsoft.Network/loadBalancers`, or of a part of one `Microsoft.Network/virtualNetworks/subnets`. Pure. */
export function resourceTypeOf({ namespace, path }: Pick<ResourceName, 'namespace' | 'path'>): string {
  return [namespace, ...path.map(({ type }) => type)].join('/');
}

/** The type of what a path leads to, a list or one resource, in lower case; undefined where it is no resource's. Pure. */
export function typeIn(path: string): string | undefined {
  const [, namespace, tail = ''] = /\/providers\/([^/]+)\/(.+)$/i.exec(path) ?? [];
  if (namespace === undefined) return undefined;
  const types = tail.split('/').filter((_, index) => index % 2 === 0);
  return [namespace, ...types].join('/').toLowerCase();
}

/** Ids name the same resource whatever their case: APIs of Azure give it now so, now so. Pure. */
export function sameID(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** What every id begins with. */
export const ID_PREFIX = '/subscriptions/';

/** A value with all ids in it in one letter case, to be compared with another one. */
function inOneCase(value: Json): Json {
  if (typeof value === 'string') return value.toLowerCase().startsWith(ID_PREFIX) ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map(inOneCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, inOneCase(inside)]));
}

/** Values are the same, whatever the letter case of ids in them. Pure. */
export function isSameInOneCase(one: Json, other: Json): boolean {
  return canonicalJson(inOneCase(one)) === canonicalJson(inOneCase(other));
}

/**
 * A text with its ids cut by what they have in common with the id of what it is about: subscription, or resource group and namespace too. They are long,
 * and a text may have several. Pure.
 * @param about an id, or what begins like one
 */
export function inShort(text: string, about: string): string {
  const [whole = '', subscription = ''] = PREFIX.exec(about) ?? [];
  return text.replaceAll(new RegExp(PREFIX, 'gi'), (prefix: string, ofSubscription: string) => {
    if (sameID(prefix, whole)) return '…/';
    return sameID(ofSubscription, subscription) ? `…/${prefix.slice(ofSubscription.length + 1)}` : prefix;
  });
}

/** What ids begin with: subscription, and in a resource group that and the namespace. */
const PREFIX = /(\/subscriptions\/[^/\s']+)\/(?:resourceGroups\/[^/\s']+\/providers\/[^/\s']+\/)?/i;

/** The last name in an id, in its own case. Pure. */
export function nameInID(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
