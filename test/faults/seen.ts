import { CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_STACKS, type CloudLoadBalancer, type CloudStack } from '../../crds';
import { NODES, SERVICES, type KubeObject, type Node, type Service } from '../../operator/kube/object';
import type { Address, LoadBalancer, TargetPool } from '../../providers/local/api';
import type { FaultSystem } from './system';

export type StoredLoadBalancer = CloudLoadBalancer & KubeObject;
export type StoredStack = CloudStack & KubeObject;

/** All that a check needs of cluster and cloud. */
export interface Seen {
  services: Service[];
  nodes: Node[];
  loadBalancers: StoredLoadBalancer[];
  stacks: StoredStack[];
  instances: KubeObject[];
  cloud: { addresses: Address[]; pools: TargetPool[]; loadbalancers: LoadBalancer[] };
  /** Instance id of each Node's machine, by name. */
  machines: Map<string, string>;
}

export async function look({ kube, resources }: FaultSystem): Promise<Seen> {
  const [services, nodes, loadBalancers, stacks, instances] = await Promise.all([
    kube.list<Service>(SERVICES, { namespace: 'default' }),
    kube.list<Node>(NODES),
    kube.list<StoredLoadBalancer>(CLOUD_LOAD_BALANCERS),
    kube.list<StoredStack>(CLOUD_STACKS),
    kube.list<KubeObject>(CLOUD_INSTANCES),
  ]);
  const [addresses, pools, loadbalancers, machines] = await Promise.all([
    resources.list('addresses'),
    resources.list('pools'),
    resources.list('loadbalancers'),
    resources.list('instances'),
  ]);
  return {
    services: services.filter(({ metadata }) => metadata.name !== 'kubernetes'),
    ...{ nodes, loadBalancers, stacks, instances },
    cloud: { addresses, pools, loadbalancers },
    machines: new Map(machines.filter(({ power }) => power !== 'terminated').map(({ name, id }) => [name, id])),
  };
}

/** Problem in words when two collections of names differ, in any order. Pure. */
export function sameSet(what: string, is: readonly string[], ought: readonly string[]): string[] {
  const [found, wanted] = [is.toSorted(), ought.toSorted()].map((all) => all.join(', ') || 'none');
  return found === wanted ? [] : [`${what}: ${found} instead of ${wanted}`];
}
