import { CONDITION_NETWORK_UNAVAILABLE } from '../../kube/node';
import type { Node } from '../../kube/object';

/** Contract 5.5. */
export const ROUTE_CREATED = { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' } as const;
export const NO_ROUTE_CREATED = { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' } as const;

export type NetworkCondition = typeof ROUTE_CREATED | typeof NO_ROUTE_CREATED;

/** Strategic merge patch of nodes/status; undefined when status and reason are so already (contract 5.5). @param now RFC 3339 time */
export function conditionPatch(node: Node, wanted: NetworkCondition, now: string): object | undefined {
  if (says(node, wanted)) return undefined;
  const condition = { type: CONDITION_NETWORK_UNAVAILABLE, ...wanted, lastTransitionTime: now, lastHeartbeatTime: now };
  return { status: { conditions: [condition] } };
}

/** Its routes were there when the cloud was last asked. */
export function isSaidToBeRouted(node: Node): boolean {
  return says(node, ROUTE_CREATED);
}

function says(node: Node, { status, reason }: NetworkCondition): boolean {
  return (
    node.status?.conditions?.some((one) => one.type === CONDITION_NETWORK_UNAVAILABLE && one.status === status && one.reason === reason) ===
    true
  );
}
