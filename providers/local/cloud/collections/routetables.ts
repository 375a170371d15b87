import { z } from 'zod';
import { ApiFailure } from '../api-failure';
import { name, tags } from '../schema';
import type { CollectionRules } from './rules';

export const MAIN_ROUTE_TABLE = 'rtb-main';

/** The route table: one, made by the cloud itself. */
export const routeTableRules: CollectionRules<'routetables'> = {
  collection: 'routetables',
  idPrefix: 'rtb',
  createSchema: z.strictObject({ name, tags: tags.exactOptional() }),
  patchSchema: z.strictObject({ tags: tags.exactOptional() }),
  create: () => {
    throw new ApiFailure('Forbidden', `this cloud has one route table, ${MAIN_ROUTE_TABLE}; add routes to that one`);
  },
  effects: () => ({ changes: [], parts: [] }),
  inUseBy: () => 'the cloud itself: it is the main route table',
};
