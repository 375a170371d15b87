import type { Json } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { routes, routesIn } from '../resources/routes';
import type { Whole } from '../resources/part-of-resource';

/**
 * The Nodes' route table, with all routes in it. Whose they are only a stack's state can tell, because routes bear no marks: so it is given to all
 * stacks, unmarked, and counts for the one that has it. One read, and none where no table or no stack is named.
 */
export async function discoverRoutes(
  arm: ArmClient,
  routeTableId: string | undefined,
  stacks: readonly string[],
): Promise<{ stack: string; resource: DiscoveredResource }[]> {
  const table = routeTableId === undefined || stacks.length === 0 ? undefined : await arm.get<Whole>(routeTableId);
  if (routeTableId === undefined || table === undefined) return [];
  const all = routesIn(table.properties).map(({ name, properties: { addressPrefix, nextHopIpAddress = '' } }) => ({
    name,
    addressPrefix,
    nextHopIpAddress,
  }));
  const inputs = { routes: all as unknown as Json };
  const resource: DiscoveredResource = {
    type: routes.token,
    name: '',
    id: routeTableId,
    inputs,
    outputs: {},
    unmarked: true,
    sharedLists: { routes: 'name' },
  };
  return stacks.map((stack) => ({ stack, resource }));
}
