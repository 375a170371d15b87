import type { Family, Instance, LoadBalancer, PoolTarget, ProxyProtocol, Route, TargetPool, Topology } from '../api';

/** A load balancer with everything that it refers to resolved: what the data plane needs and no more. */
export interface LoadBalancerPlan {
  id: string;
  name: string;
  mode: LoadBalancer['mode'];
  ips: string[];
  sourceRanges: string[];
  listeners: ListenerPlan[];
}

export interface ListenerPlan {
  name: string;
  protocol: 'TCP' | 'UDP';
  port: number;
  /** Those of the load balancer's addresses that it answers on; absent = all of them. */
  ips?: string[];
  /** Who is let in; absent = as the load balancer says. */
  sourceRanges?: string[];
  idleTimeoutMs: number;
  pool: PoolPlan;
}

export interface PoolPlan {
  id: string;
  drainMs: number;
  /** How long a client keeps its target after its last new connection, milliseconds; 0 = it keeps none. */
  affinityMs: number;
  proxyProtocol: ProxyProtocol;
  /** Whether all targets are tried while none is healthy. */
  failOpen: boolean;
  healthCheck: TargetPool['healthCheck'];
  /** Each with its address of each family that it has. */
  targets: (PoolTarget & { addresses: string[] })[];
}

/** Every place at which a load balancer listens: each of its listeners with each address of that one. Pure. */
export function placesOf(plan: LoadBalancerPlan): { ip: string; listener: ListenerPlan }[] {
  const answers = (listener: ListenerPlan, ip: string): boolean => listener.ips?.includes(ip) ?? true;
  return plan.ips.flatMap((ip) => plan.listeners.filter((listener) => answers(listener, ip)).map((listener) => ({ ip, listener })));
}

/** Moves the packets. All `apply…` calls are idempotent and take the whole wanted thing; removing what is not there is done. */
export interface DataPlane {
  readonly topology: Topology;
  start(): Promise<void>;
  /**
   * Address plan: the IPs that instances and load balancers get in this tier. `index` counts from 1; the server uses those indexes whose
   * address lies inside the topology's ranges for that family, and keeps an index for the resource's life.
   */
  instanceAddress(index: number, family: Family): string;
  loadBalancerAddress(index: number, family: Family): string;
  applyInstance(instance: Instance): Promise<{ netns?: string; socket?: string }>;
  removeInstance(id: string): Promise<void>;
  applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']>;
  removeLoadBalancer(id: string): Promise<void>;
  applyRoutes(routes: Route[]): Promise<Route['enforced']>;
  /** Takes a route out of the kernel (or the userland router) without telling anybody. */
  breakRoute(destinationCIDR: string): Promise<void>;
  /** What health checks and drains say now, by pool id. */
  health(): Promise<Map<string, TargetPool['health']>>;
  /** Ends every process and removes every namespace made here. */
  stop(): Promise<void>;
}
