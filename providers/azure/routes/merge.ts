import { OperatorError } from '../../../operator/base/errors';

/** A route as Azure writes it; what is not looked at here stays as it is. */
export interface Route {
  name: string;
  properties: { addressPrefix: string; nextHopType: string; nextHopIpAddress?: string };
}

/** A route of ours: packets for a PodCIDR go to its Node's address. */
export interface WantedRoute {
  name: string;
  addressPrefix: string;
  nextHopIpAddress: string;
}

/**
 * The routes of a table with ours as they are wanted, and everybody else's as they are. Ours are known by their names, and by leading where ours lead:
 * routes of an older naming are taken up, and do not stay when they are not wanted any more. One that is named for a PodCIDR of ours is of the Node
 * that had it before. Pure.
 * @param owned routes that were ours so far
 * @throws OperatorError Conflict naming the route that somebody else has to a destination of ours, Quota when the table can't hold them; `field` says
 * which of the wanted ones are at fault
 */
export function mergedRoutes(
  existing: readonly Route[],
  wanted: readonly WantedRoute[],
  { owned, limit }: { owned: readonly WantedRoute[]; limit: number },
): Route[] {
  const known = [...owned, ...wanted];
  const foreign = existing.filter((route) => !known.some((one) => one.name === route.name || leadsAs(route, one) || isForPods(route, one)));
  for (const one of wanted) {
    const other = foreign.find(({ properties }) => properties.addressPrefix === one.addressPrefix);
    if (other !== undefined) throw taken(other, one);
  }
  const routes = wanted.map((one): Route => {
    const { addressPrefix, nextHopIpAddress } = one;
    const has = existing.find(({ name }) => name === one.name) ?? existing.find((route) => leadsAs(route, one));
    const name = has?.name ?? one.name;
    return { ...has, name, properties: { ...has?.properties, addressPrefix, nextHopType: 'VirtualAppliance', nextHopIpAddress } };
  });
  const merged = [...foreign, ...routes];
  if (merged.length <= limit || merged.length <= existing.length) return merged;
  throw full(merged.length, limit, unplaced(existing, wanted).slice(limit - merged.length));
}

/** Whether a route is in a table, under any name. Pure. */
export function isThere(existing: readonly Route[], wanted: WantedRoute): boolean {
  return existing.some((route) => leadsAs(route, wanted));
}

/** What a failure names as at fault: names of routes (mergedRoutes); undefined = nothing. Pure. */
export function routesAtFault({ field = '' }: Pick<OperatorError, 'field'>): string[] | undefined {
  return /^routes\[(.+)\]$/.exec(field)?.[1]?.split(',');
}

function leadsAs({ properties }: Route, { addressPrefix, nextHopIpAddress }: WantedRoute): boolean {
  return properties.addressPrefix === addressPrefix && properties.nextHopIpAddress === nextHopIpAddress;
}

/** It bears a Node's name for the same destination: of an update whose state was lost, or of the controller before us. */
function isForPods({ name, properties }: Route, { addressPrefix }: WantedRoute): boolean {
  return properties.addressPrefix === addressPrefix && name.endsWith(routeNameOf('', addressPrefix));
}

/** Those that need a place in the table which they don't have yet. */
function unplaced(existing: readonly Route[], wanted: readonly WantedRoute[]): WantedRoute[] {
  const names = new Set(existing.map(({ name }) => name));
  return wanted.filter((one) => !names.has(one.name) && !isThere(existing, one));
}

/** The same routes, in any order. Pure. */
export function sameRoutes(some: readonly Route[], others: readonly Route[]): boolean {
  const said = (routes: readonly Route[]): string =>
    routes
      .map(({ name, properties: { addressPrefix, nextHopType, nextHopIpAddress } }) =>
        JSON.stringify([name, addressPrefix, nextHopType, nextHopIpAddress]),
      )
      .sort()
      .join();
  return said(some) === said(others);
}

/** Upstream's name of a route: that of the Node, and the destination, because a Node may have several. Pure. */
export function routeNameOf(nodeName: string, destinationCIDR: string): string {
  return `${nodeName}____${destinationCIDR.replaceAll(/[.:/]/g, '')}`;
}

function taken({ name, properties: { addressPrefix, nextHopIpAddress } }: Route, wanted: WantedRoute): OperatorError {
  const leads = nextHopIpAddress === undefined ? '' : `, which leads to ${nextHopIpAddress},`;
  const remedy = 'Delete it by hand if nobody needs it.';
  return new OperatorError('Conflict', `the route ${name}${leads} has the destination ${addressPrefix}, and is not ours. ${remedy}`, {
    remedy,
    field: fieldOf([wanted]),
  });
}

function full(count: number, limit: number, without: readonly WantedRoute[]): OperatorError {
  const remedy = 'Set spec.azure.limits.routesPerTable to what the subscription has, or use fewer Nodes.';
  return new OperatorError('Quota', `the route table would have ${count} routes, and may have ${limit}. ${remedy}`, {
    remedy,
    field: fieldOf(without),
  });
}

function fieldOf(routes: readonly WantedRoute[]): string {
  return `routes[${routes.map(({ name }) => name).join()}]`;
}
