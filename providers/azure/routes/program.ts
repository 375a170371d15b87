import * as pulumi from '@pulumi/pulumi';
import { routes, type RoutesInputs, type RoutesObserved } from '../resources/routes';
import type { RenderedRoutes } from './routes';

/** Our routes in the Nodes' route table. */
class Routes extends pulumi.CustomResource {
  declare readonly observed: pulumi.Output<RoutesObserved>;

  constructor(name: string, args: RoutesInputs) {
    super(routes.token, name, { ...args, observed: undefined });
  }
}

/** The program of a stack of routes. @returns its outputs: when which route was written */
export function declareRoutes({ routeTable: { name, ...args } }: RenderedRoutes): { routes: pulumi.Output<RoutesObserved> } {
  return { routes: new Routes(name, args).observed };
}
