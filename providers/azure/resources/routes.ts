import { z } from 'zod';
import type { Json } from '../../../operator/base/json';
import { OWN_PACKAGE } from '../../resource-provider/own-package';
import { isThere, mergedRoutes, sameRoutes, type Route } from '../routes/merge';
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

/** When routes were written that are not older than the table: wall clock, milliseconds, by their names. */
export type RoutesObserved = { writtenAt: Record<string, number> };

/**
 * Our routes in a route table, all of them in one write. The table is made where there is none, and stays when they go: somebody's subnet may have it.
 * Discovery finds the table, and of its routes those that the state has.
 */
export const routes: PartDescription<RoutesInputs> = {
  token: `${OWN_PACKAGE}:azure:Routes`,
  schema,
  idProperty: 'routeTableId',
  idOf: ({ routeTableId }) => routeTableId,
  empty: ({ location, tags }) => ({ location, ...(tags !== undefined && { tags }), properties: { routes: [] } }),
  merged: (properties, wanted, owned) => {
    const existing = routesIn(properties);
    const limit = wanted?.routesPerTable ?? existing.length;
    const merged = mergedRoutes(existing, wanted?.routes ?? [], { owned: owned.flatMap((one) => one.routes), limit });
    return sameRoutes(existing, merged) ? undefined : { ...properties, routes: merged as unknown as Json };
  },
  without: (part, kept, others) => {
    const wanted = new Set(others.flatMap(({ routes: all }) => all.map(({ addressPrefix }) => addressPrefix)));
    return { part: { ...part, routes: part.routes.filter(({ addressPrefix }) => !wanted.has(addressPrefix)) }, kept };
  },
  observed: (wanted, had, { olds, now }): RoutesObserved => {
    const { writtenAt: before = {} } = olds as Partial<RoutesObserved>;
    const existing = routesIn(had);
    const written = wanted.routes.flatMap((route): [string, number][] => {
      if (!isThere(existing, route)) return [[route.name, now]];
      const at = before[route.name];
      return at === undefined ? [] : [[route.name, at]];
    });
    return { writtenAt: Object.fromEntries(written) };
  },
};

/** The routes of a table. Pure. */
export function routesIn(properties: { routes?: unknown }): Route[] {
  return (properties.routes ?? []) as Route[];
}
