import type { Service } from '../../kube/object';
import { FINALIZER_LOAD_BALANCER_CLEANUP } from '../../kube/well-known';

/** Back-off of a Service's key: 5 s doubling to 300 s (contract 2.1). */
export const SERVICE_RETRY = { baseMs: 5_000, maxMs: 300_000 };

/** A Service that needs cleanup is looked at so often, in milliseconds, whatever its back-off (contract 2.2). */
export const SERVICE_RESYNC_MS = 30_000;

export function isLoadBalancer(service: Service): boolean {
  return service.spec.type === 'LoadBalancer';
}

export function isDeleting(object: { metadata: { deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasCleanupFinalizer(service: Service): boolean {
  return service.metadata.finalizers?.includes(FINALIZER_LOAD_BALANCER_CLEANUP) === true;
}

/** Contract 2.2: has the finalizer and is on its way out, or is no longer of type LoadBalancer. */
export function needsCleanup(service: Service): boolean {
  return hasCleanupFinalizer(service) && (isDeleting(service) || !isLoadBalancer(service));
}

/** Type LoadBalancer or NodePort with policy Local (contract 2.12). */
export function wantsOnlyLocalTraffic(service: Service): boolean {
  const reachable = service.spec.type === 'LoadBalancer' || service.spec.type === 'NodePort';
  return reachable && service.spec.externalTrafficPolicy === 'Local';
}

/** Path and port of the health check that kube-proxy answers; only for type LoadBalancer with policy Local (contract 2.12). */
export function healthCheckOf(service: Service): { path: string; port: number } | undefined {
  const port = service.spec.healthCheckNodePort ?? 0;
  return isLoadBalancer(service) && wantsOnlyLocalTraffic(service) && port !== 0 ? { path: '/healthz', port } : undefined;
}
