import { CONDITION_NETWORK_UNAVAILABLE } from '../../kube/node';
import type { Node } from '../../kube/object';

/** Contract 5.5. */
export const ROUTE_CREATED = { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' } as const;
export const NO_ROUTE_CREATED = { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' } as const;

export type NetworkCondition = typeof ROUTE_CREATED | typeof NO_ROUTE_CREATED;

/** Strategic merge patch of nodes/status; undefined when status and reason are so already (contract 5.5). @param now RFC 3339 time */
export function conditionPatch(node: Node, wanted: NetworkCondition, now: string): object | undefined {
  const current = node.status?.conditions?.find(({ type }) => type === CONDITION_NETWORK_UNAVAILABLE);
  if (current?.status === wanted.status && current.reason === wanted.reason) return undefined;
  const condition = { type: CONDITION_NETWORK_UNAVAILABLE, ...wanted, lastTransitionTime: now, lastHeartbeatTime: now };
  return { status: { conditions: [condition] } };
}
