import { randomUUID } from 'node:crypto';
import type { Json } from '../../../operator/base/json';
import { sameID } from '../../../providers/azure/client/resource-id';
import { addressesIn, freeAddress, subnetOf } from './rules/addresses';
import { partsIn, partsOf, referencesOf, type Part, type Resource } from './resource';
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

/** A Private Link Service has an alias, and the connections that others have made to it, whatever a write says. */
export function withConnections(after: Resource, before: Resource | undefined): Resource {
  if (!/\/privateLinkServices$/i.test(after.type)) return after;
  const { privateEndpointConnections = [], alias = `${after.name}.${randomUUID()}.${after.location}.azure.privatelinkservice` } =
    before?.properties ?? {};
  return { ...after, properties: { ...after.properties, alias, privateEndpointConnections } };
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
  const parts = new Map(partsOf(balancer).map((part) => [part.id.toLowerCase(), part]));
  for (const list of ['loadBalancingRules', 'outboundRules'] as const) {
    const users = new Map<Part, Set<string>>();
    const references = partsIn(balancer, list).flatMap((rule) =>
      referencesOf({ ...balancer, properties: { [list]: [rule] as unknown as Json } }).map(({ to }) => ({ rule, to })),
    );
    for (const { rule, to } of references) {
      const named = parts.get(to.toLowerCase());
      if (named !== undefined) users.set(named, (users.get(named) ?? new Set()).add(rule.id));
    }
    for (const [{ properties }, rules] of users) properties[list] = [...rules].map((id) => ({ id }));
  }
}
