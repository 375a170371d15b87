import { isDeepStrictEqual } from 'node:util';
import type { Service, ServicePort } from '../../kube/object';
import { isDeleting, isLoadBalancer, needsCleanup } from './rules';

/**
 * True when a load balancer may have to be another one after a change of its Service (contract 2.3). Pure. Whose class it is doesn't matter here:
 * that can't change while the type stays. Labels, selector, cluster IPs and the status are not looked at.
 */
export function needsUpdate(before: Service, after: Service): boolean {
  if (!isLoadBalancer(before) && !isLoadBalancer(after)) return false;
  return isLoadBalancer(before) !== isLoadBalancer(after) || !isDeepStrictEqual(compared(before), compared(after));
}

/** A change of the Service that people wait for, other than what controllers write to it. Pure. */
export function isAskedFor(before: Service | undefined, after: Service | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return needsUpdate(before, after) || needsCleanup(before) !== needsCleanup(after) || isDeleting(before) !== isDeleting(after);
}

/** Absent and empty differ in the lists that upstream compares as a whole. */
function compared({ metadata, spec }: Service): unknown[] {
  return [
    metadata.uid,
    metadata.annotations,
    spec.loadBalancerSourceRanges,
    (spec.ports ?? []).map(comparedPort),
    spec.sessionAffinity ?? '',
    spec.sessionAffinityConfig,
    spec.loadBalancerIP ?? '',
    spec.externalIPs ?? [],
    spec.externalTrafficPolicy ?? '',
    spec.healthCheckNodePort ?? 0,
    (spec.ipFamilies ?? []).length,
  ];
}

function comparedPort({ name, protocol, port, nodePort, targetPort, appProtocol }: ServicePort): unknown[] {
  return [name ?? '', protocol ?? '', port, nodePort ?? 0, targetPort ?? 0, appProtocol];
}
