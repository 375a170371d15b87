import type { Json, JsonObject } from '../../../operator/base/json';
import { sameID } from '../../../providers/azure/client/resource-id';
import { addressesIn, freeAddress, subnetOf } from './rules/addresses';
import { partListsOf, partsIn, partsOf, referencesOf, type Part, type Resource } from './resource';
import type { CloudView } from './rule';

/** Gives addresses to what asks for one, and keeps those that were given. */
export function withAddresses(
  after: Resource,
  before: Resource | undefined,
  cloud: CloudView,
  nextPublic: (family: 4 | 6) => string,
): Resource {
  if (/\/publicIPAddresses$/i.test(after.type)) return withPublicAddress(after, before, nextPublic);
  const kept = before === undefined ? [] : partsOf(before);
  const taken: string[] = [];
  for (const part of partsOf(after)) {
    const had = kept.find(({ id }) => sameID(id, part.id))?.properties.privateIPAddress as string | undefined;
    const given = privateAddressFor(part, had, { cloud, taken });
    if (given === undefined) continue;
    taken.push(given);
    Object.assign(part.properties, { privateIPAddress: given, privateIPAllocationMethod: 'Dynamic' });
  }
  return after;
}

function withPublicAddress(after: Resource, before: Resource | undefined, nextPublic: (family: 4 | 6) => string): Resource {
  const { publicIPAllocationMethod = 'Static', publicIPAddressVersion: version } = after.properties;
  const family = version === 'IPv6' ? 6 : 4;
  const ipAddress = before?.properties.ipAddress ?? (publicIPAllocationMethod === 'Static' ? nextPublic(family) : undefined);
  return { ...after, properties: { ...after.properties, publicIPAllocationMethod, ...(ipAddress !== undefined && { ipAddress }) } };
}

/** Undefined where none is asked for, or one was named. */
function privateAddressFor(
  part: Part,
  had: string | undefined,
  { cloud, taken }: { cloud: CloudView; taken: string[] },
): string | undefined {
  const subnet = subnetOf(part, cloud);
  if (subnet === undefined || part.properties.privateIPAllocationMethod === 'Static') return undefined;
  const others = [...taken, ...addressesIn(subnet.id, cloud).map(({ address }) => address)];
  return had ?? freeAddress(subnet, others, part.properties.privateIPAddressVersion === 'IPv6' ? 6 : 4);
}

/** A resource as a read gives it: with who uses it, which Azure writes into what is used. */
export function withUsers(resource: Resource, cloud: Pick<CloudView, 'usersOf'>): Resource {
  const shown = structuredClone(resource);
  const [user] = /\/publicIPAddresses$/i.test(resource.type) ? cloud.usersOf(resource.id) : [];
  if (user !== undefined) shown.properties.ipConfiguration = { id: user };
  if (/\/loadBalancers$/i.test(resource.type)) noteRules(shown);
  return shown;
}

/** Frontends, pools and probes name the rules that name them. */
function noteRules(balancer: Resource): void {
  for (const list of ['loadBalancingRules', 'outboundRules'] as const) {
    for (const rule of partsIn(balancer, list)) {
      for (const { to } of referencesOf({ ...balancer, properties: { [list]: [rule] as unknown as Json } })) note(balancer, list, rule, to);
    }
  }
}

function note(balancer: Resource, list: string, rule: Part, to: string): void {
  const named = partListsOf(balancer.type)
    .flatMap((one) => partsIn(balancer, one))
    .find(({ id }) => id.toLowerCase() === to.toLowerCase());
  if (named === undefined) return;
  const users = (named.properties[list] ?? []) as JsonObject[];
  if (!users.some(({ id }) => id === rule.id)) named.properties[list] = [...users, { id: rule.id }];
}
