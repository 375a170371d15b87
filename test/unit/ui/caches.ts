import type { KubeObject } from '../../../operator/kube/object';
import { silentLogger } from '../../../operator/base/log';
import { MemoryStore } from '../../../operator/kube/store';
import type { Caches } from '../../../operator/ui/caches';
import type { StoredStack } from '../../../operator/explain/kinds';
import { condition } from '../explain/objects';

/** Caches that hold these objects. */
export function cachesOf(objects: { [K in keyof Caches]?: ReturnType<Caches[K]['list']> }): Caches {
  const store = <T extends KubeObject>(held: T[] = []): MemoryStore<T> => {
    const made = new MemoryStore<T>({}, silentLogger);
    made.replace(held);
    return made;
  };
  return {
    services: store(objects.services),
    nodes: store(objects.nodes),
    providers: store(objects.providers),
    loadBalancers: store(objects.loadBalancers),
    routes: store(objects.routes),
    stacks: store(objects.stacks),
    instances: store(objects.instances),
  };
}

/** The stack of the load balancer shop/web. */
export function stack(status: StoredStack['status'] = {}): StoredStack {
  const conditions = [condition('Ready', 'True', 'Ready', 'as the spec asks')];
  return {
    apiVersion: 'cloud-operator.dev/v1alpha1',
    kind: 'CloudStack',
    metadata: { name: 'lb-shop-web', uid: 'stack-uid', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: { provider: 'local', kind: 'LoadBalancer', project: 'cloud-operator' },
    status: { observedGeneration: 1, conditions, members: ['shop/web'], resourceCount: 3, ...status },
  };
}
