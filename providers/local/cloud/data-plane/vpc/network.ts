import { createHash } from 'node:crypto';
import type { Family, Route } from '../../../api';
import { linkAddresses, planFor, routerAddress, type AddressPlan, type FamilyPlan } from '../address-plan';
import { addressInCIDR, familyOf, formatRange, parseCIDR, widthOf } from '../ip-range';

/** Marks our routes in the kernel: `ip route show proto 77` lists these and no others. */
export const ROUTE_PROTOCOL = 77;

/** Names of what a cloud has in the kernel; `id` tells clouds apart. */
export function namespacePrefix(id: string): string {
  return `lc${id}-`;
}

/** The host's end of the link to the VPC; at most 15 characters, as the kernel wants. */
export function hostLink(id: string): string {
  return `lc-${id}`;
}

/** The VPC's own namespace. */
export function vpcNamespace(id: string): string {
  return `${namespacePrefix(id)}vpc`;
}

/** The VPC's end of an instance's link: unique per instance, at most 15 characters. */
export function instanceLink(instanceID: string): string {
  return `v${createHash('sha256').update(instanceID).digest('hex').slice(0, 12)}`;
}

/** Lines for `ip -batch` in the host's namespace: the link, and with it the route to the load balancers. Pure. */
export function hostLinkLines(id: string, plan: AddressPlan): string[] {
  const link = hostLink(id);
  const links = families(plan).map((family) => ({ ...linkAddresses(family), range: family.loadBalancerCIDR }));
  return [
    `link add ${link} type veth peer name host0 netns ${vpcNamespace(id)}`,
    ...links.map(({ host }) => addAddress(host, widthOf(familyOf(host)), link)),
    `link set ${link} up`,
    // By way of the VPC's router: it does not itself have every address of the range.
    ...links.flatMap(({ vpc, range }) => [
      `route add ${vpc}/${widthOf(familyOf(vpc))} dev ${link}`,
      `route add ${range} via ${vpc} dev ${link}`,
    ]),
  ];
}

/** Lines for `ip -batch` in the VPC's namespace: its router. Pure. @param linked whether the host has a link into it */
export function routerLines(plan: AddressPlan, linked: boolean): string[] {
  const links = families(plan).map((family) => linkAddresses(family));
  const link = [
    ...links.map(({ vpc }) => addAddress(vpc, widthOf(familyOf(vpc)), 'host0')),
    'link set host0 up',
    ...links.map(({ host }) => `route add ${host}/${widthOf(familyOf(host))} dev host0`),
  ];
  return [
    'link set lo up',
    'link add br0 type bridge',
    ...families(plan).map((family) => addAddress(routerAddress(family), prefixOf(family.nodeCIDR), 'br0')),
    'link set br0 up',
    ...(linked ? link : []),
  ];
}

/**
 * Lines for the VPC's namespace: an instance's link on the bridge. Its hardware address follows from its IP: an instance that was switched
 * off and on again is found at once by those who remember it. Pure.
 * @param netns path of the instance's namespace
 */
export function attachLines(instanceID: string, address: string, netns: string): string[] {
  const link = instanceLink(instanceID);
  const hardware = ['02', '00', ...address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))].join(':');
  return [`link add ${link} type veth peer name eth0 address ${hardware} netns ${netns}`, `link set ${link} master br0 up`];
}

/**
 * Lines for an instance's namespace: its addresses, the router as its only way out, and a bridge that carries the pods' addresses.
 * Nodes know no other node's pods, so that traffic between pods takes the VPC's route table. Pure.
 */
export function instanceLines(addresses: readonly string[], podCIDRs: readonly string[], plan: AddressPlan): string[] {
  const own = addresses.map((address) => ({ address, family: planFor(plan, familyOf(address)) }));
  return [
    'link set lo up',
    ...own.map(({ address, family }) => addAddress(address, prefixOf(family.nodeCIDR), 'eth0')),
    'link set eth0 up',
    ...own.map(({ family }) => `route add default via ${routerAddress(family)}`),
    'link add cni0 type bridge',
    ...podCIDRs.map((cidr) => addAddress(addressInCIDR(cidr, 1), prefixOf(cidr), 'cni0')),
    'link set cni0 up',
  ];
}

/** A route of ours as `ip -json route` gives it. */
export interface KernelRoute {
  type?: string;
  dst: string;
  gateway?: string;
  /** What a `default` is of; absent = IPv4. */
  family?: Family;
}

/** A route as it should be: `gateway` absent = a black hole. */
export interface WantedRoute {
  destination: string;
  gateway?: string;
}

/** The route table as it should be; a route to an instance that is not there swallows its traffic. Pure. */
export function wantedRoutes(
  routes: readonly Route[],
  addressOf: (instanceID: string, family: Family) => string | undefined,
): WantedRoute[] {
  return routes.map(({ destinationCIDR, instanceID, routeState }) => {
    const gateway = routeState === 'active' ? addressOf(instanceID, familyOf(destinationCIDR)) : undefined;
    return { destination: canonical(destinationCIDR), ...(gateway !== undefined && { gateway }) };
  });
}

/** Lines that turn the kernel's routes into the wanted ones and touch no route that is right. Pure. */
export function routeLines(current: readonly KernelRoute[], wanted: readonly WantedRoute[]): string[] {
  const have = new Map(current.map((route) => [canonical(route.dst, route.family), route.gateway ?? '']));
  const want = new Map(wanted.map((route) => [route.destination, route]));
  const gone = [...have.keys()].filter((destination) => !want.has(destination)).map(deleteRouteLine);
  const changed = [...want.values()].filter(({ destination, gateway }) => have.get(destination) !== (gateway ?? ''));
  return [...gone, ...changed.map(replaceRouteLine)];
}

export function replaceRouteLine({ destination, gateway }: WantedRoute): string {
  if (gateway === undefined) return `route replace blackhole ${destination} proto ${ROUTE_PROTOCOL}`;
  return `route replace ${destination} via ${gateway} proto ${ROUTE_PROTOCOL}`;
}

export function deleteRouteLine(destination: string): string {
  return `route del ${canonical(destination)} proto ${ROUTE_PROTOCOL}`;
}

/** `10.0.0.5/24` and `10.0.0.0/24` are one route; the kernel leaves `/32` away, and calls the widest route `default`. */
function canonical(destination: string, family: Family = 'IPv4'): string {
  if (destination === 'default') return family === 'IPv4' ? '0.0.0.0/0' : '::/0';
  return formatRange(parseCIDR(destination.includes('/') ? destination : `${destination}/${widthOf(familyOf(destination))}`));
}

function families(plan: AddressPlan): FamilyPlan[] {
  return [plan, plan.ipv6];
}

/** An IPv6 address is usable at once: nobody else can have it, and looking whether somebody does takes a second. */
function addAddress(address: string, prefix: number | string, link: string): string {
  return `address add ${address}/${prefix} dev ${link}${familyOf(address) === 'IPv6' ? ' nodad' : ''}`;
}

function prefixOf(cidr: string): string {
  return cidr.split('/')[1] ?? '';
}
