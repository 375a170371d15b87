import type { JsonObject } from '../../operator/base/json';
import { declareBalancers } from './load-balancers/program';
import type { RenderedStack } from './load-balancers/render';
import { declareRoutes } from './routes/program';
import type { RenderedRoutes } from './routes/routes';

/** The program of every stack: `inputs` are what `LoadBalancers.render` or `Routes.render` gave. */
export function program(inputs: JsonObject): Promise<Record<string, unknown>> {
  if ('routeTable' in inputs) return Promise.resolve(declareRoutes(inputs as unknown as RenderedRoutes));
  return declareBalancers(inputs as unknown as RenderedStack);
}
