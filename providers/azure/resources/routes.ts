import { z } from 'zod';
import type { Json } from '../../../operator/base/json';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import { mergedRoutes, sameRoutes, type Route } from '../routes/merge';
import type { PartDescription } from './part-of-resource';

const schema = z.strictObject({
  routeTableId: z.string().min(1),
  /** Of the table, if it has to be made. */
  location: z.string().min(1),
  tags: z.record(z.string(), z.string()).optional(),
  routes: z.array(
    z.strictObject({
      name: z.string().min(1),
      addressPrefix: z.string().min(1),
      nextHopIpAddress: z.string().min(1),
    }),
  ),
  routesPerTable: z.int().min(1),
});
export type RoutesInputs = z.infer<typeof schema>;

/** Our routes in a route table, which is made where there is none, and stays when they go: somebody's subnet may have it. */
export const routes: PartDescription<RoutesInputs> = {
  token: `${STATE_PACKAGE}AzureRoutes`,
  schema,
  idProperty: 'routeTableId',
  idOf: ({ routeTableId }) => routeTableId,
  empty: ({ location, tags }) => ({ location, ...(tags !== undefined && { tags }), properties: { routes: [] } }),
  merged: (properties, wanted, owned) => {
    const existing = (properties.routes ?? []) as unknown as Route[];
    const names = owned.flatMap((one) => one.routes).map(({ name }) => name);
    const limit = wanted?.routesPerTable ?? existing.length;
    const merged = mergedRoutes(existing, wanted?.routes ?? [], { owned: names, limit });
    return sameRoutes(existing, merged) ? undefined : { ...properties, routes: merged as unknown as Json };
  },
};
