import { isDeepStrictEqual } from 'node:util';
import { keyOf } from '../../operator/kube/object';
import type { LoadBalancer, Resource } from '../../providers/local/api';
import { sameSet, type Seen } from './seen';
import type { ProviderName, WantedBalancer, World } from './world';

/** What one object asks of the cloud: a Service with its load balancer, or a CloudLoadBalancer that people wrote. */
export interface Carried extends Omit<WantedBalancer, 'ports'> {
  /** `<namespace>/<name>`. */
  key: string;
  /** UIDs that its resources may bear. */
  uids: readonly (string | undefined)[];
  /** Node port of each port. */
  ports: Readonly<Record<number, number>>;
  sourceRanges: readonly string[];
  /** Addresses that its users see. */
  published: readonly (string | undefined)[];
}

/** Everything of one object in the cloud that is not as it asks. Pure. */
export function carriedProblems(carried: Carried, world: World, seen: Seen): string[] {
  const { key, provider, published } = carried;
  const differ = (what: string, is: unknown, ought: unknown): string[] =>
    isDeepStrictEqual(is, ought) ? [] : [`${key}: ${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(ought)}`];
  const [balancer, ...others] = seen.cloud.loadbalancers.filter((one) => carries(one, key));
  if (balancer === undefined || others.length > 0)
    return [`${key}: ${balancer === undefined ? 'no' : others.length + 1} load balancers in the cloud`];
  const listeners = balancer.listeners.filter(({ owner = balancer.tags.owner }) => owner === key);
  const pools = seen.cloud.pools.filter(({ tags }) => tags.owner === key);
  const ports = Object.keys(carried.ports).map(Number);
  return [
    ...differ('carried by', carrierOf(balancer, seen), carrierFor(carried)),
    ...differ('its addresses and those in the cloud', published, addressesOf(balancer, listeners[0], seen)),
    ...differ('ports in the cloud', listeners.map(({ port }) => port).sort(ascending), ports.sort(ascending)),
    ...listeners.flatMap(({ port, sourceRanges = balancer.sourceRanges }) =>
      differ(`source ranges of port ${port} in the cloud`, [...sourceRanges].sort(), [...carried.sourceRanges]),
    ),
    ...differ('pools in the cloud', pools.length, ports.length),
    ...differ('cloud resources of another object of that name', foreign([balancer, ...pools], carried).length, 0),
    ...listeners.flatMap(({ port, poolID }) => {
      const targets = pools.find(({ id }) => id === poolID)?.targets.map((target) => `${target.instanceID}:${target.port}`);
      return differ(`targets of port ${port}`, targets?.sort(), wantedTargets(provider, carried.ports[port] ?? 0, world, seen));
    }),
  ];
}

/** Load balancers and addresses are there once for each that is wanted, or for all who share one, and no others. Pure. */
export function carrierProblems(all: readonly Carried[], seen: Seen): string[] {
  const wanted = [...new Set(all.map(carrierFor))];
  const withoutScheme = (carrier: string): string => carrier.slice(0, carrier.lastIndexOf(' '));
  return [
    ...sameSet(
      'load balancers in the cloud',
      seen.cloud.loadbalancers.map((one) => carrierOf(one, seen)),
      wanted,
    ),
    ...sameSet(
      'addresses in the cloud',
      seen.cloud.addresses.map(({ tags }) => ownerOf(tags, seen)),
      wanted.map(withoutScheme),
    ),
    ...sameSet(
      'pools in the cloud',
      seen.cloud.pools.map(({ tags }) => tags.owner ?? '?'),
      all.flatMap(({ key, ports }) => Object.keys(ports).map(() => key)),
    ),
  ];
}

function carries({ tags, listeners }: LoadBalancer, key: string): boolean {
  return tags.owner === key || listeners.some(({ owner }) => owner === key);
}

/** A load balancer in words: whose it is, by which CloudProvider, and its scheme. */
function carrierFor({ key, provider, placement, scheme }: Carried): string {
  const owner = placement === null ? key : `placement default/${placement}`;
  return `${owner} of ${provider} ${scheme}`;
}

function carrierOf({ tags, scheme }: LoadBalancer, seen: Seen): string {
  return `${ownerOf(tags, seen)} ${scheme}`;
}

function ownerOf({ owner = '?', stack }: Resource['tags'], { stacks }: Seen): string {
  return `${owner} of ${stacks.find(({ metadata }) => metadata.name === stack)?.spec.provider ?? 'nobody'}`;
}

function addressesOf(balancer: LoadBalancer, listener: LoadBalancer['listeners'][number] | undefined, { cloud }: Seen): string[] {
  const ids = listener?.addressIDs ?? balancer.addressIDs;
  return ids.flatMap((id) => cloud.addresses.find((address) => address.id === id)?.ip ?? []);
}

/** Those that bear another UID; what several share bears the placement's mark. */
function foreign(resources: Resource[], { placement, uids, key }: Carried): Resource[] {
  return resources.filter(({ tags }) => (placement === null || tags.owner === key) && !uids.includes(tags.ownerUID));
}

function wantedTargets(provider: ProviderName, nodePort: number, world: World, { machines }: Seen): string[] {
  return Object.entries(world.nodes)
    .filter(([, node]) => !node.excluded && node.provider === provider)
    .map(([name]) => `${machines.get(name) ?? `no machine of ${name}`}:${nodePort}`)
    .sort();
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** All objects of the world that ask for a load balancer, as far as they are there. Pure. */
export function carriedOf(world: World, seen: Seen): Carried[] {
  const ofServices = Object.entries(world.services).flatMap(([name, { type, sourceRanges }]): Carried[] => {
    const service = seen.services.find(({ metadata }) => metadata.name === name);
    if (service === undefined || type !== 'LoadBalancer') return [];
    const key = keyOf(service.metadata);
    const published = (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
    const ports = Object.fromEntries((service.spec?.ports ?? []).map(({ port, nodePort = 0 }) => [port, nodePort]));
    const uids = [service.metadata.uid, uidOf(key, seen)];
    return [{ key, uids, ports, sourceRanges, published, provider: 'local', scheme: 'Public', placement: null }];
  });
  const ofPeople = Object.entries(world.balancers).map(([name, { ports, ...wanted }]): Carried => {
    const key = `default/${name}`;
    const object = seen.loadBalancers.find(({ metadata }) => keyOf(metadata) === key);
    const published = (object?.status?.ingress ?? []).map(({ ip }) => ip);
    return { ...wanted, key, uids: [object?.metadata.uid], ports: nodePortsOf(ports), sourceRanges: [], published };
  });
  return [...ofServices, ...ofPeople];
}

/** Of a load balancer that people wrote; only targets show them. */
export function nodePortsOf(ports: readonly number[]): Record<number, number> {
  return Object.fromEntries(ports.map((port) => [port, 20_000 + port]));
}

function uidOf(key: string, { loadBalancers }: Seen): string | undefined {
  return loadBalancers.find(({ metadata }) => keyOf(metadata) === key)?.metadata.uid;
}
