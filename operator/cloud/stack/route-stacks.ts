import { CLOUD_ROUTES, GROUP, type CloudRouteSpec, type CloudRouteStatus, type CloudStackSpec } from '../../../crds';
import type { JsonObject, Problem, RouteInput, Routes } from '../../../providers/provider';
import type { Clock } from '../../base/clock';
import { OperatorError } from '../../base/errors';
import type { Store } from '../../kube/api';
import type { Node } from '../../kube/object';
import type { Verdict } from '../conditions';
import type { UpdatePolicy } from '../plan/approval';
import { destinationProblem } from '../providers/policy';
import type { ConnectedCloud, RegisteredCloud } from '../providers/registry';
import type { Stored } from '../stored';
import type { Holdings, Settled, Settlement, StackKind, StatusFields } from './stack-kind';
import { stackName } from './stack-name';

export type StoredRoute = Stored<CloudRouteSpec, CloudRouteStatus>;

/**
 * Stacks that carry routes: sharded by the provider, the shard fixed when the route is first seen. What fixes it over a restart is the
 * CloudStack's record of its members.
 */
export class RouteStacks implements StackKind<StoredRoute, RouteInput> {
  readonly kind: CloudStackSpec['kind'] = 'Routes';
  readonly crd = `${CLOUD_ROUTES.plural}.${GROUP}`;
  /** A Node that joins takes no Pods before it has its routes. */
  readonly newAtOnce = true;

  /** CloudProviders of the stacks named here, which have no record yet. */
  private readonly named = new Map<string, string>();

  /** @param clusterCIDRs `--cluster-cidr`, in which destinations must lie; empty = they may lie anywhere */
  constructor(
    private readonly nodes: Pick<Store<Node>, 'get'>,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly clusterCIDRs: readonly string[] = [],
  ) {}

  stackOf(object: StoredRoute, cloud: RegisteredCloud | undefined, { held, providerOf, sizeOf }: Holdings): string | undefined {
    const routes = cloud?.cloud?.routes;
    if (cloud === undefined || routes === undefined) return undefined;
    const fixed = held.find((stack) => (providerOf(stack) ?? this.named.get(stack)) === cloud.name);
    if (fixed !== undefined) return fixed;
    const nameOf = (shard: string): string => stackName('routes', `${cloud.name} ${shard}`, [cloud.name, shard]);
    const stack = nameOf(routes.shard(this.inputOf(object), (shard) => sizeOf(nameOf(shard))));
    this.named.set(stack, cloud.name);
    return stack;
  }

  problems(object: StoredRoute, cloud: ConnectedCloud): Problem[] {
    const outside = destinationProblem(object.spec.destinationCIDR, this.clusterCIDRs);
    return [...(outside === undefined ? [] : [outside]), ...capability(cloud).validate(this.inputOf(object).spec)];
  }

  /** Its Node, or that one's providerID, is not there yet. */
  waiting({ spec }: StoredRoute): Verdict | undefined {
    if (hasProviderID(spec) || hasProviderID(this.nodeOf(spec)?.spec)) return undefined;
    const remedy = 'or set spec.providerID';
    if (this.nodeOf(spec) !== undefined)
      return waiting('NodeNotInitialized', `Node ${spec.nodeName} has no providerID yet: it gets one when it is initialized; ${remedy}`);
    const which = spec.nodeUID === undefined ? '' : ` with UID ${spec.nodeUID}`;
    return waiting('NodeNotFound', `there is no Node ${spec.nodeName}${which}: correct spec.nodeName, wait until it joins, ${remedy}`);
  }

  updatePolicy({ spec }: StoredRoute): UpdatePolicy | undefined {
    return spec.updatePolicy;
  }

  /** The next hop is the Node's instance, where the spec doesn't say which. */
  inputOf({ metadata, spec: whole }: StoredRoute): RouteInput {
    const spec = { ...whole };
    delete spec.updatePolicy;
    delete spec.managementPolicy;
    delete spec.deletionPolicy;
    delete spec.driftInterval;
    delete spec.maintenanceWindows;
    const { providerID } = hasProviderID(spec) ? spec : (this.nodeOf(spec)?.spec ?? {});
    return { name: metadata.name, uid: metadata.uid, spec: providerID === undefined ? spec : { ...spec, providerID } };
  }

  /** A destination has one route. */
  claims({ spec }: RouteInput): string[] {
    return [`the route to ${spec.destinationCIDR}`];
  }

  conflict(): { reason: string; remedy: string } {
    return { reason: 'RouteConflict', remedy: 'delete one of the two CloudRoutes' };
  }

  render(stack: string, inputs: RouteInput[], cloud: ConnectedCloud): JsonObject {
    return capability(cloud).render(stack, inputs);
  }

  attribute(error: OperatorError, inputs: RouteInput[], cloud: ConnectedCloud): string[] {
    return capability(cloud).attribute?.(error, inputs) ?? [];
  }

  settle({ stack, cloud, result }: Settlement, _object: StoredRoute, input: RouteInput): Promise<Settled> {
    const message = `${input.spec.destinationCIDR} goes to ${input.spec.nodeName}`;
    const againMs = (capability(cloud).worksAt?.(result.outputs, input) ?? 0) - this.clock.now();
    if (againMs <= 0) return Promise.resolve({ fields: { stack }, verdict: { state: 'Ready', message } });
    const verdict = waiting('RouteStarting', `it is written, and works within ${Math.ceil(againMs / 1000)} s: ${message}`);
    return Promise.resolve({ fields: { stack }, verdict, againMs });
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

  private nodeOf({ nodeName, nodeUID }: CloudRouteSpec): Node | undefined {
    const node = this.nodes.get(nodeName);
    return nodeUID === undefined || node?.metadata.uid === nodeUID ? node : undefined;
  }
}

function capability(cloud: ConnectedCloud): Routes {
  const { routes } = cloud.cloud;
  if (routes === undefined) throw new OperatorError('Invalid', 'the cloud provider does not support routes', { field: 'spec.provider' });
  return routes;
}

function hasProviderID(spec: { providerID?: string | undefined } | undefined): boolean {
  return spec?.providerID !== undefined && spec.providerID !== '';
}

function waiting(reason: string, message: string): Verdict {
  return { state: 'Reconciling', reason, message };
}
