import type { Json } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { discoverPart } from '../resources/discover-part';
import { routes, routesIn } from '../resources/routes';
import type { Whole } from '../resources/part-of-resource';
import { type Route, routeNameOf } from './merge';

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

/**
 * As programs would want them. One that was taken up keeps its name, by which no program wants it: upstream names routes of clusters of one family by their
 * Nodes alone.
 */
function wantedIn(table: Whole): Json[] {
  const all = routesIn(table.properties);
  const named = (nameOf: (route: Route) => string): Json[] =>
    all.map((route) => {
      const { addressPrefix, nextHopIpAddress = '' } = route.properties;
      return { name: nameOf(route), addressPrefix, nextHopIpAddress };
    });
  // What has a name by itself goes before what would have it.
  return [...named(({ name, properties }) => routeNameOf(name, properties.addressPrefix)), ...named(({ name }) => name)];
}
