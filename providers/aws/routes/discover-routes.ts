import type { DiscoveredResource } from '../../provider';
import { FILTER_VALUES } from '../client/chunks';
import type { Api } from '../resources/description';
import { NEXT_HOP, nextHopID, outputsOf, primaryInterfaceOf } from '../resources/next-hop';
import { inputsOf, route } from '../resources/route';
import { marksOf, ROUTE_MARK_PREFIX, type RouteMark } from './route-marks';
import { destinationOf, nextHopOf, routeID, routeTo, selectorsOf, tablesFor } from './route-tables';
import type { RouteScope } from './routes';

interface Found {
  stack: string;
  resource: DiscoveredResource;
}

/**
 * Routes of this cluster and their next hops, by the marks on instances: one listing of those, and one of the tables.
 * @param wanted whether a mark is asked for
 */
export async function discoverRoutes({ ec2, options }: Api, scope: RouteScope, wanted: (mark: RouteMark) => boolean): Promise<Found[]> {
  const instances = await ec2.instances([{ Name: 'tag-key', Values: [`${ROUTE_MARK_PREFIX}*`] }], options);
  const living = instances.filter(({ State }) => State?.Name !== 'terminated');
  const marks = living.flatMap((instance) =>
    marksOf(instance)
      .filter((mark) => mark.clusterID === scope.clusterID && wanted(mark))
      .map((mark) => ({ mark, instance })),
  );
  const ids = [...new Set(marks.map(({ mark }) => mark.routeTableID))].slice(0, FILTER_VALUES);
  const tables = ids.length === 0 ? [] : await ec2.routeTables([{ Name: 'route-table-id', Values: ids }], options);
  const byPlace = new Map<string, Found[]>();
  for (const { mark, instance } of marks) {
    const { routeTableID, destination, stack, resource: name } = mark;
    const table = tables.find(({ RouteTableId }) => RouteTableId === routeTableID);
    const entry = table === undefined ? undefined : routeTo(table, destination);
    const primary = primaryInterfaceOf(instance);
    const place = nextHopID(mark);
    // An update that was cut off leaves two instances with the mark of one place: it is the one's to which the route leads.
    if (byPlace.has(place) && entry?.NetworkInterfaceId !== primary?.NetworkInterfaceId) continue;
    const inputs = {
      instanceId: instance.InstanceId ?? '',
      destination,
      routeTable: { ...selectorOf(scope, routeTableID) },
      routesPerTable: scope.routesPerTable,
      sourceDestCheck: primary?.SourceDestCheck ?? false,
    };
    const hop = { type: NEXT_HOP, name, id: place, inputs, outputs: { ...inputs, ...outputsOf(instance, routeTableID) } };
    const found: Found[] = [{ stack, resource: hop }];
    if (entry !== undefined) {
      const properties = inputsOf(routeTableID, entry);
      const resource = { type: route.token, name, id: routeID(routeTableID, destination), inputs: properties, outputs: { ...properties } };
      found.push({ stack, resource });
    }
    byPlace.set(place, found);
  }
  return [...byPlace.values()].flat();
}

/**
 * Routes that lead nowhere: their instance is gone, and its mark with it. Whose they are only a stack's state can tell, so each is given to all
 * stacks, unmarked, with its next hop: a stack that has it goes on having it, until it is deleted or leads to another instance.
 */
export async function deadRoutes({ ec2, options }: Api, scope: RouteScope, stacks: readonly string[]): Promise<Found[]> {
  const tables = await Promise.all(selectorsOf(scope).map((selector) => tablesFor(ec2, selector, options)));
  const dead = tables.flat().flatMap(({ RouteTableId = '', Routes = [] }) =>
    Routes.filter(({ State }) => State === 'blackhole').flatMap((entry): DiscoveredResource[] => {
      const destination = destinationOf(entry);
      const failure = `the route to ${destination} leads to ${nextHopOf(entry)}, which is gone`;
      const none = { name: '', inputs: {}, outputs: {}, unmarked: true } as const;
      return [
        { ...none, type: NEXT_HOP, id: nextHopID({ routeTableID: RouteTableId, destination }) },
        { ...none, type: route.token, id: routeID(RouteTableId, destination), failure },
      ];
    }),
  );
  return stacks.flatMap((stack) => dead.map((resource) => ({ stack, resource })));
}

/** As the program would say it today. */
function selectorOf(scope: RouteScope, routeTableID: string): ReturnType<typeof selectorsOf>[number] {
  const [first = { id: routeTableID }] = selectorsOf(scope);
  return 'id' in first ? { id: routeTableID } : first;
}
