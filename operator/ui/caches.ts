import type { Store } from '../kube/api';
import type { KubeObject, Node, Service } from '../kube/object';
import type { StoredInstance, StoredLoadBalancer, StoredProvider, StoredRoute, StoredStack } from '../explain/kinds';

type Cache<T extends KubeObject> = Pick<Store<T>, 'get' | 'list'>;

/** What the page is made of: the operator's caches. */
export interface Caches {
  services: Cache<Service>;
  nodes: Cache<Node>;
  providers: Cache<StoredProvider>;
  loadBalancers: Cache<StoredLoadBalancer>;
  routes: Cache<StoredRoute>;
  stacks: Cache<StoredStack>;
  instances: Cache<StoredInstance>;
}

/** Something named. */
interface Named {
  metadata: { name: string; namespace?: string };
}

/** In the order in which people look for them: by namespace, then name. Pure. */
export function sorted<T extends Named>(objects: readonly T[]): T[] {
  const order = ({ metadata }: Named): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  return objects.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}
