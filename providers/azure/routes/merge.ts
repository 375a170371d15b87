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
 * The routes of a table with ours as they are wanted, and everybody else's as they are. Pure.
 * @param owned names of routes that were ours so far
 * @throws OperatorError Conflict naming the route that somebody else has to a destination of ours, Quota when the table can't hold them
 */
export function mergedRoutes(
  existing: readonly Route[],
  wanted: readonly WantedRoute[],
  { owned, limit }: { owned: readonly string[]; limit: number },
): Route[] {
  const ours = new Set([...owned, ...wanted.map(({ name }) => name)]);
  const foreign = existing.filter(({ name }) => !ours.has(name));
  for (const { addressPrefix } of wanted) {
    const other = foreign.find(({ properties }) => properties.addressPrefix === addressPrefix);
    if (other !== undefined) throw taken(other);
  }
  const routes = wanted.map(({ name, addressPrefix, nextHopIpAddress }): Route => {
    const has = existing.find((one) => one.name === name);
    return { ...has, name, properties: { ...has?.properties, addressPrefix, nextHopType: 'VirtualAppliance', nextHopIpAddress } };
  });
  const merged = [...foreign, ...routes];
  if (merged.length <= limit || merged.length <= existing.length) return merged;
  const remedy = 'Set spec.azure.limits.routesPerTable to what the subscription has, or use fewer Nodes.';
  throw new OperatorError('Quota', `the route table would have ${merged.length} routes, and may have ${limit}. ${remedy}`, { remedy });
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

/** Upstream's name of a route: the Node's; in clusters of both families with the destination too (providers 2.2). Pure. */
export function routeNameOf(nodeName: string, destinationCIDR: string, isDualStack: boolean): string {
  return isDualStack ? `${nodeName}____${destinationCIDR.replaceAll(/[.:/]/g, '')}` : nodeName;
}

function taken({ name, properties: { addressPrefix, nextHopIpAddress } }: Route): OperatorError {
  const leads = nextHopIpAddress === undefined ? '' : `, which leads to ${nextHopIpAddress},`;
  const remedy = 'Delete it by hand if nobody needs it.';
  return new OperatorError('Conflict', `the route ${name}${leads} has the destination ${addressPrefix}, and is not ours. ${remedy}`, {
    remedy,
  });
}
