import { excludedFromLoadBalancers, hasTaint, isReady, LABEL_EXCLUDE_FROM_LOAD_BALANCERS, TAINT_AUTOSCALER_DELETES } from '../kube/node';
import type { Node } from '../kube/object';
import type { EndpointSlice, StoredInstance, StoredLoadBalancer } from './kinds';

export interface TargetFacts {
  node: Node;
  /** What the operator has written down about its machine. */
  instance: Pick<StoredInstance, 'spec'> | undefined;
}

/** A Node, as a target of one load balancer. */
export interface TargetState {
  node: string;
  /** It is registered with the load balancer, or is about to be. */
  target: boolean;
  /** Why it is no target, or why it gets no traffic although it is one. */
  why?: string;
}

/** Why a Node is no target of any load balancer (contract 2.9); undefined = nothing of the Node's own stands against it. Pure. */
export function whyExcluded(node: Node): string | undefined {
  if (node.metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (excludedFromLoadBalancers(node)) return `it has the label ${LABEL_EXCLUDE_FROM_LOAD_BALANCERS}`;
  if (hasTaint(node, TAINT_AUTOSCALER_DELETES)) return `the cluster autoscaler is about to remove it (taint ${TAINT_AUTOSCALER_DELETES})`;
  return (node.spec.providerID ?? '') === '' ? 'it has no providerID yet' : undefined;
}

/**
 * Whether a Node is a target of a load balancer, by the rules that the operator goes by. Pure.
 * @param slices the EndpointSlices of its Service; undefined = nobody has looked, and nothing is said of them
 */
export function targetState(
  { node, instance }: TargetFacts,
  { spec }: Pick<StoredLoadBalancer, 'spec'>,
  slices: readonly EndpointSlice[] | undefined,
): TargetState {
  const name = node.metadata.name;
  const no = (why: string): TargetState => ({ node: name, target: false, why });
  const excluded = whyExcluded(node);
  if (excluded !== undefined) return no(excluded);
  if (instance === undefined) return no('it is not known yet which CloudProvider has it');
  if (instance.spec.provider !== spec.provider) return no(`it belongs to CloudProvider ${instance.spec.provider}, not ${spec.provider}`);
  const missing = Object.entries(spec.aws?.targetNodeLabels ?? {}).find(([key, value]) => node.metadata.labels?.[key] !== value);
  if (missing !== undefined) return no(`it lacks the label ${missing.join('=')} (spec.aws.targetNodeLabels)`);
  const quiet = whyQuiet(node, spec.trafficPolicy, slices);
  return { node: name, target: true, ...(quiet === undefined ? {} : { why: quiet }) };
}

/** Why a target gets no traffic: its health check fails. Pure. */
function whyQuiet(node: Node, trafficPolicy: string, slices: readonly EndpointSlice[] | undefined): string | undefined {
  if (trafficPolicy === 'Local' && slices !== undefined && !nodesWithEndpoints(slices).has(node.metadata.name))
    return 'no ready endpoint of the Service is on it (traffic policy Local), so that its health check fails';
  return isReady(node) ? undefined : 'kubelet does not say that it is ready';
}

/** Names of the Nodes that have a ready endpoint. Pure. */
export function nodesWithEndpoints(slices: readonly EndpointSlice[]): Set<string> {
  const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return new Set(ready.flatMap(({ nodeName }) => nodeName ?? []));
}
