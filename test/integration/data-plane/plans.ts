import type { ListenerPlan, LoadBalancerPlan, PoolPlan } from '../../../providers/local/cloud/data-plane';
import type { Backend } from './backend';

/** 127.99.x.y: away from the addresses that clouds take. */
export const LB = '127.99.0.1';

export function poolPlan(members: Backend[], changes: Partial<PoolPlan> = {}): PoolPlan {
  return {
    id: 'pool-1',
    drainMs: 5000,
    affinityMs: 0,
    proxyProtocol: 'none',
    failOpen: true,
    healthCheck: { protocol: 'TCP', intervalMs: 100, timeoutMs: 1000, healthyThreshold: 2, unhealthyThreshold: 2 },
    targets: members.map(({ name, address, port }) => ({ instanceID: name, addresses: [address], port })),
    ...changes,
  };
}

/** TCP 8080 as `http` with the pool `pool-1`, UDP 8080 as `dns` with `pool-2`. */
export function loadBalancerPlan(
  members: Backend[],
  changes: Partial<LoadBalancerPlan> = {},
  poolChanges: Partial<PoolPlan> = {},
): LoadBalancerPlan {
  const http: ListenerPlan = { name: 'http', protocol: 'TCP', port: 8080, idleTimeoutMs: 60_000, pool: poolPlan(members, poolChanges) };
  const udp: ListenerPlan = {
    ...http,
    name: 'dns',
    protocol: 'UDP',
    pool: poolPlan(members, { ...poolChanges, id: 'pool-2', proxyProtocol: 'none' }),
  };
  return { id: 'lb-1', name: 'web', mode: 'proxy', ips: [LB], sourceRanges: [], listeners: [http, udp], ...changes };
}
