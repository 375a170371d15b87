import type { Node } from '../../kube/object';
import type { Cidr } from '../cidr';
import type { StoredCloudRoute } from '../kinds';
import { type Readiness, readinessOf } from '../readiness';
import { bodyOf, type CloudRouteBody, isManaged, isUpToDate, nodeOf, routeName } from './cloud-route';
import { conditionPatch, isSaidToBeRouted, type NetworkCondition, NO_ROUTE_CREATED, ROUTE_CREATED } from './condition';
import { isResponsible } from './responsibility';

/** What a pass does for one Node, in this order. */
export type Action =
  { kind: 'Apply'; body: CloudRouteBody } | { kind: 'Delete'; name: string; uid: string } | { kind: 'PatchStatus'; patch: object };

/** Everything that a decision about one Node's routes rests on. */
export interface Gathered {
  /** Absent: the Node is gone, and only its routes are left. */
  node: Node | undefined;
  /** CloudRoutes that name the Node, or have the name that one of its routes would get. */
  routes: readonly StoredCloudRoute[];
  /** The Node's CloudProvider; absent while it is not known, or when it has no routes. */
  provider: string | undefined;
  clusterCidrs: readonly Cidr[];
  /** RFC 3339. */
  now: string;
}

export interface Evaluation {
  actions: Action[];
  /** What keeps a route from being made, by CIDR. */
  failures: { cidr: string; message: string }[];
}

/** Decides what becomes of one Node's routes: the difference is taken on (Node, CIDR), not on names. Pure. */
export function evaluate(gathered: Gathered): Evaluation {
  const { node, provider, clusterCidrs } = gathered;
  const managed = gathered.routes.filter((route) => isManaged(route) && isResponsible(clusterCidrs, route.spec.destinationCIDR));
  // One that is being deleted drains its Pods, which need their route until it is gone (contract 5.4).
  if (node === undefined) return { actions: deletions(managed, () => false), failures: [] };
  if (provider === undefined) return { actions: [], failures: [] };
  const verdicts = podCidrs(node).map((cidr) => judge(gathered, node, { cidr, provider }));
  const keep = (route: StoredCloudRoute): boolean =>
    verdicts.some(({ kept }) => kept === route.metadata.name) && route.spec.provider === provider;
  const failures = verdicts.flatMap(({ cidr, failure }) => (failure === undefined ? [] : [{ cidr, message: failure }]));
  return {
    actions: [
      ...verdicts.flatMap(({ apply }) => (apply === undefined ? [] : [{ kind: 'Apply', body: apply } as const])),
      ...deletions(managed, keep),
      ...condition(gathered, node, outcome(verdicts, managed)),
    ],
    failures,
  };
}

/** What the cloud refused, or another route has: it may be that a route which was there is not. All else, such as a lever, says nothing of that one. */
const REFUSED = new Set(['QuotaExceeded', 'Conflict', 'Taken', 'NotFound', 'UpdateFailed', 'RouteConflict']);

/** What keeps a route from being made without being a failure: a lever, or what waits for a person or a time. Nobody knows how long that takes. */
const HELD = new Set([
  'AwaitingWindow',
  'AwaitingApproval',
  'Paused',
  'Frozen',
  'Observed',
  'StackHeld',
  'StackAwaitingApproval',
  'KindDeleted',
]);

/** What is to be said of one PodCIDR. */
interface Verdict {
  cidr: string;
  /** Name of the CloudRoute that must stay. */
  kept: string;
  apply?: CloudRouteBody;
  failure?: string;
  ready: boolean;
  /** Not ours to route: what routes the Node's other CIDRs says whether it has its network. */
  outside?: true;
}

function judge({ routes, clusterCidrs }: Gathered, node: Node, { cidr, provider }: { cidr: string; provider: string }): Verdict {
  const kept = routeName(node.metadata.name, cidr);
  const pending = { cidr, kept, ready: false };
  if (!isResponsible(clusterCidrs, cidr)) {
    const failure = `PodCIDR ${cidr} is outside of the cluster CIDRs; correct --cluster-cidr or the Node's spec.podCIDRs`;
    return { ...pending, failure, outside: true };
  }
  const existing = routes.find(({ metadata }) => metadata.name === kept);
  // A Node gets its providerID a moment before its addresses: waiting for them saves a change of the route, and so a run of the engine.
  if (existing === undefined) return hasAddress(node) ? { ...pending, apply: bodyOf(node, cidr, provider, undefined) } : pending;
  if (!isManaged(existing) || nodeOf(existing) !== node.metadata.name) {
    return { ...pending, failure: `CloudRoute ${kept} was not made by the route loop and is not taken over; rename or delete it` };
  }
  if (existing.metadata.deletionTimestamp !== undefined || existing.spec.provider !== provider) return pending;
  const body = bodyOf(node, cidr, provider, existing);
  if (!isUpToDate(existing, body)) return { ...pending, apply: body };
  const readiness = readinessOf(existing);
  const failure = failureOf(readiness, node);
  return { ...pending, ready: readiness.settled, ...(failure !== undefined && { failure }) };
}

/** What keeps the route from being made; of one that there is, only what the cloud refused. */
function failureOf({ current, failure, ready }: Readiness, node: Node): string | undefined {
  if (!current) return undefined;
  if (isSaidToBeRouted(node)) return failure !== undefined && REFUSED.has(failure.reason) ? failure.message : undefined;
  const held = ready !== undefined && ready.status !== 'True' && HELD.has(ready.reason) ? ready.message : undefined;
  return failure?.message ?? held;
}

function hasAddress(node: Node): boolean {
  return node.status?.addresses?.some(({ type }) => type === 'InternalIP' || type === 'ExternalIP') === true;
}

/**
 * Contract 5.5; undefined = nothing is known yet, or there is nothing to say. A Node of two families of which only one is in `--cluster-cidr` has its
 * network by that one; one that has no CIDR in it at all has none.
 */
function outcome(verdicts: readonly Verdict[], managed: readonly StoredCloudRoute[]): NetworkCondition | undefined {
  if (verdicts.length === 0) return managed.length === 0 ? undefined : NO_ROUTE_CREATED;
  const ours = verdicts.filter(({ outside }) => outside !== true);
  if (ours.length === 0 || ours.some(({ failure }) => failure !== undefined)) return NO_ROUTE_CREATED;
  return ours.every(({ ready }) => ready) ? ROUTE_CREATED : undefined;
}

function condition({ now }: Gathered, node: Node, wanted: NetworkCondition | undefined): Action[] {
  const patch = wanted === undefined ? undefined : conditionPatch(node, wanted, now);
  return patch === undefined ? [] : [{ kind: 'PatchStatus', patch }];
}

function deletions(managed: readonly StoredCloudRoute[], keep: (route: StoredCloudRoute) => boolean): Action[] {
  return managed
    .filter((route) => route.metadata.deletionTimestamp === undefined && !keep(route))
    .map(({ metadata }) => ({ kind: 'Delete', name: metadata.name, uid: metadata.uid }));
}

/** `spec.podCIDR` is never read (contract 5.4); a CIDR that is listed twice counts once. */
function podCidrs(node: Node): string[] {
  return [...new Set(node.spec.podCIDRs ?? [])];
}
