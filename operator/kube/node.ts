import type { Node } from './object';
import { LABEL_EXCLUDE_FROM_LOAD_BALANCERS, TAINT_AUTOSCALER_DELETES } from './well-known';

export * from './well-known';

/** The spellings that Go's strconv.ParseBool takes for false. */
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** kubelet says that the Node is ready. */
export function isReady(node: Node): boolean {
  return node.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}

/** @param effect absent = any */
export function hasTaint(node: Node, key: string, effect?: string): boolean {
  return node.spec.taints?.some((taint) => taint.key === key && (effect === undefined || taint.effect === effect)) ?? false;
}

/** The label's answer alone (contract 2.9 rule 2): there, and not a spelling of false. Anything else that is there excludes, garbage too. */
export function excludedFromLoadBalancers(node: Node): boolean {
  const value = node.metadata.labels?.[LABEL_EXCLUDE_FROM_LOAD_BALANCERS];
  return value !== undefined && !FALSE.has(value);
}

/**
 * Whether a Node is a member of load balancers (contract 2.9): not being deleted, not excluded by label, not about to be removed by the
 * autoscaler. Ready, unschedulable, the providerID and other taints don't matter.
 */
export function eligibleForLoadBalancers(node: Node): boolean {
  return node.metadata.deletionTimestamp === undefined && !excludedFromLoadBalancers(node) && !hasTaint(node, TAINT_AUTOSCALER_DELETES);
}
