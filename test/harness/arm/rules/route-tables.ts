import { isIP } from 'node:net';
import { refusal } from '../request';
import { partsIn } from '../resource';
import type { Rule } from '../rule';

interface Route {
  addressPrefix: string;
  nextHopType: string;
  nextHopIpAddress?: string;
}

/** A virtual appliance has an address, and nothing else has one (learn.microsoft.com, "Virtual network traffic routing"). */
export const nextHop: Rule = ({ after }) => {
  for (const { name, properties } of partsIn(after, 'routes')) {
    const { nextHopType, nextHopIpAddress } = properties as unknown as Route;
    const needs = nextHopType === 'VirtualAppliance';
    if (needs !== (nextHopIpAddress !== undefined) || (needs && isIP(nextHopIpAddress ?? '') === 0)) {
      return refusal(400, 'InvalidNextHopIpAddress', `Route ${name}: next hop ${nextHopType} with address ${nextHopIpAddress ?? 'none'}.`);
    }
  }
  return undefined;
};

/** One route for each destination in a table. */
export const destinationOnce: Rule = ({ after }) => {
  const seen = new Map<string, string>();
  for (const { name, properties } of partsIn(after, 'routes')) {
    const { addressPrefix } = properties as unknown as Route;
    const other = seen.get(addressPrefix);
    if (other !== undefined)
      return refusal(400, 'RouteConflict', `Route ${name} conflicts with route ${other}: both have prefix ${addressPrefix}.`);
    seen.set(addressPrefix, name);
  }
  return undefined;
};

/** How many routes a table may have. */
export const routeLimit: Rule = ({ after }, { limits }) => {
  if (partsIn(after, 'routes').length <= limits.routesPerTable) return undefined;
  return refusal(400, 'RouteCountLimitReached', `Cannot create more than ${limits.routesPerTable} routes for one route table.`);
};
