import { z } from 'zod';
import type { ResourceDescription } from './description';

const schema = z.object({
  name: z.string().min(1),
  ownerUID: z.string().min(1),
  owner: z.string(),
  routeTableID: z.string().min(1),
  destinationCIDR: z.string().min(1),
  instanceID: z.string().min(1),
});
export type RouteInputs = z.infer<typeof schema>;

/** Our entry in a route table that others may use as well. */
export const route: ResourceDescription<'routes', RouteInputs> = {
  token: 'local:index:Route',
  collection: 'routes',
  replaceOn: ['name', 'routeTableID', 'destinationCIDR'],
  schema,
  specFields: { destinationCIDR: 'spec.destinationCIDR', instanceID: 'spec.providerID' },
  fields: ({ routeTableID, destinationCIDR, instanceID }) => ({ routeTableID, destinationCIDR, instanceID }),
  properties: ({ routeTableID, destinationCIDR, instanceID }) => ({ routeTableID, destinationCIDR, instanceID }),
  observed: () => ({}),
};
