import type { Json } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { discoverPart } from '../resources/discover-part';
import { routes, routesIn } from '../resources/routes';
import type { Whole } from '../resources/part-of-resource';

/** The Nodes' route table, with all routes in it: which are a stack's own, its state says. */
export function discoverRoutes(
  arm: ArmClient,
  routeTableId: string | undefined,
  stacks: readonly string[],
): Promise<{ stack: string; resource: DiscoveredResource }[]> {
  return discoverPart(arm, routeTableId, stacks, {
    type: routes.token,
    inputsOf: (table) => ({ routes: wantedIn(table) }),
    sharedLists: { routes: 'name' },
  });
}

/** As programs would want them. */
function wantedIn(table: Whole): Json[] {
  return routesIn(table.properties).map(({ name, properties: { addressPrefix, nextHopIpAddress = '' } }) => ({
    name,
    addressPrefix,
    nextHopIpAddress,
  }));
}
