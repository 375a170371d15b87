import type { CloudLoadBalancer, CloudRoute, Condition } from '../../../crds';
import type { Node, Service } from '../../../operator/kube/object';
import type { StoredCloudLoadBalancer, StoredCloudRoute } from '../../../operator/loops/kinds';

/** 2026-01-01T00:00:00Z, as the loops write it. */
export const NOW = '2026-01-01T00:00:00Z';

type Partially<T> = { [Key in keyof T]?: T[Key] | undefined };

interface Changes<T extends { spec: object; status?: object }> {
  metadata?: Record<string, unknown>;
  spec?: Partially<T['spec']>;
  status?: unknown;
}

/** A Service of type LoadBalancer with one TCP port. */
export function service(changes: Changes<Service> = {}): Service {
  return merge<Service>(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'demo', uid: 'service-1', resourceVersion: '10', creationTimestamp: NOW },
      spec: { type: 'LoadBalancer', ports: [{ protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 8080 }] },
    },
    changes,
  );
}

/** A Ready Node with a providerID. */
export function node(changes: Changes<Node> = {}): Node {
  return merge<Node>(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', uid: 'node-1', resourceVersion: '20', creationTimestamp: NOW },
      spec: { providerID: 'fake://1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    },
    changes,
  );
}

export function cloudLoadBalancer(changes: Changes<CloudLoadBalancer> = {}): StoredCloudLoadBalancer {
  return merge<StoredCloudLoadBalancer>(
    {
      apiVersion: 'cloud-operator.dev/v1alpha1',
      kind: 'CloudLoadBalancer',
      metadata: { name: 'web', namespace: 'demo', uid: 'clb-1', resourceVersion: '30', generation: 1, creationTimestamp: NOW },
      spec: {} as CloudLoadBalancer['spec'],
    },
    changes,
  );
}

export function cloudRoute(changes: Changes<CloudRoute> = {}): StoredCloudRoute {
  return merge<StoredCloudRoute>(
    {
      apiVersion: 'cloud-operator.dev/v1alpha1',
      kind: 'CloudRoute',
      metadata: { name: 'r', uid: 'route-1', resourceVersion: '40', generation: 1, creationTimestamp: NOW },
      spec: {} as CloudRoute['spec'],
    },
    changes,
  );
}

export function condition(type: string, status: 'True' | 'False', reason: string, message = reason): Condition {
  return { type, status, reason, message, lastTransitionTime: NOW };
}

function merge<T extends { metadata: object; spec: object; status?: unknown }>(base: T, changes: Changes<T & { status?: object }>): T {
  const metadata = { ...base.metadata, ...changes.metadata };
  const spec = { ...base.spec, ...changes.spec };
  const status = changes.status === undefined ? base.status : changes.status;
  const merged = { ...base, metadata, spec, ...(status === undefined ? {} : { status }) };
  return JSON.parse(JSON.stringify(merged)) as T;
}
