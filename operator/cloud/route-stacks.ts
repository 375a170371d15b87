import type { CloudRouteSpec, CloudRouteStatus, CloudStackSpec } from '../../crds';
import type { JsonObject, Problem, RouteInput, Routes } from '../../providers/provider';
import { OperatorError } from '../base/errors';
import type { Verdict } from './conditions';
import type { ConnectedCloud, RegisteredCloud } from './registry';
import type { Stored } from './stored';
import type { Settlement, StackKind, StatusFields } from './stack-kind';
import { stackName } from './stack-name';

export type StoredRoute = Stored<CloudRouteSpec, CloudRouteStatus>;

/** Stacks that carry routes: sharded by the provider, the shard fixed when the route is first seen. */
export class RouteStacks implements StackKind<StoredRoute, RouteInput> {
  readonly kind: CloudStackSpec['kind'] = 'Routes';

  stackOf(object: StoredRoute, cloud: RegisteredCloud | undefined): string | undefined {
    const routes = cloud?.cloud?.routes;
    if (cloud === undefined || routes === undefined) return undefined;
    const shard = routes.shard(inputOf(object));
    return stackName('routes', `${cloud.name} ${shard}`, [cloud.name, shard]);
  }

  problems(object: StoredRoute, cloud: ConnectedCloud): Problem[] {
    return capability(cloud).validate(object.spec);
  }

  readonly inputOf = inputOf;

  /** A destination has one route. */
  claims({ spec }: RouteInput): string[] {
    return [`the route to ${spec.destinationCIDR}`];
  }

  readonly conflict = { reason: 'RouteConflict', remedy: 'delete one of the two CloudRoutes' };

  render(stack: string, inputs: RouteInput[], cloud: ConnectedCloud): JsonObject {
    return capability(cloud).render(stack, inputs);
  }

  attribute(error: OperatorError, inputs: RouteInput[], cloud: ConnectedCloud): string[] {
    return capability(cloud).attribute?.(error, inputs) ?? [];
  }

  settle({ stack }: Settlement, _object: StoredRoute, { spec }: RouteInput): Promise<{ fields: StatusFields; verdict: Verdict }> {
    const message = `${spec.destinationCIDR} goes to ${spec.nodeName}`;
    return Promise.resolve({ fields: { stack }, verdict: { state: 'Ready', message } });
  }

  keep(): Promise<void> {
    return Promise.resolve();
  }

  keptFields(object: StoredRoute): StatusFields {
    return { stack: object.status?.stack };
  }

  serving(object: StoredRoute): boolean {
    return object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }
}

function capability(cloud: ConnectedCloud): Routes {
  const { routes } = cloud.cloud;
  if (routes === undefined) throw new OperatorError('Invalid', 'the cloud provider does not support routes', { field: 'spec.provider' });
  return routes;
}

function inputOf(object: StoredRoute): RouteInput {
  return { name: object.metadata.name, uid: object.metadata.uid, spec: object.spec };
}
