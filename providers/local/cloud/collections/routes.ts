import { z } from 'zod';
import type { Route } from '../../api';
import { ApiFailure, invalid } from '../api-failure';
import type { Entry } from '../entry';
import { id, name, network, tags } from '../schema';
import { livingInstance } from './instances';
import { MAIN_ROUTE_TABLE } from './routetables';
import type { CollectionRules, View } from './rules';

const mutable = { tags: tags.exactOptional(), instanceID: id };

const spec = z.strictObject({ name, routeTableID: id.exactOptional(), destinationCIDR: network, ...mutable });

type Spec = z.infer<typeof spec>;

/** Routes to pod ranges, each through one instance. */
export const routeRules: CollectionRules<'routes', Spec> = {
  collection: 'routes',
  idPrefix: 'route',
  createSchema: spec,
  patchSchema: z.strictObject(mutable).partial(),
  create: (wanted) => ({
    fields: {
      routeTableID: wanted.routeTableID ?? MAIN_ROUTE_TABLE,
      destinationCIDR: wanted.destinationCIDR,
      instanceID: wanted.instanceID,
      routeState: 'active',
      enforced: 'none',
    },
  }),
  check: checkRoute,
  derive: (fields) => ('instanceID' in fields ? { routeState: 'active' } : {}),
  effects: () => ({ changes: [], parts: [{ kind: 'routes' }] }),
};

function checkRoute({ resource }: Entry<Route>, view: View, before: Entry<Route> | undefined): void {
  if (view.state.get('routetables', resource.routeTableID) === undefined) {
    throw invalid('routeTableID', `route table ${resource.routeTableID} does not exist`);
  }
  if (before?.resource.instanceID !== resource.instanceID) livingInstance(view, resource.instanceID, 'instanceID');
  const other = view.state
    .all('routes')
    .find(({ resource: one }) => one.destinationCIDR === resource.destinationCIDR && one.routeTableID === resource.routeTableID);
  if (other === undefined || other.resource.id === resource.id) return;
  throw new ApiFailure(
    'NameTaken',
    `${resource.routeTableID} has a route to ${resource.destinationCIDR} already: ${other.resource.name} (${other.resource.id})`,
    { field: 'destinationCIDR' },
  );
}
