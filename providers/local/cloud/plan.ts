import type { LoadBalancer, LoadBalancerListener, PoolTarget, Route } from '../api';
import type { ListenerPlan, LoadBalancerPlan, PoolPlan } from './data-plane';
import type { State } from './state';

/** How long an idle flow lives where the listener does not say: what network load balancers of the big clouds do. */
const IDLE_TIMEOUT_MS = { TCP: 350_000, UDP: 120_000 };

/** Resolves everything that the load balancer refers to. Pure. */
export function planLoadBalancer(balancer: LoadBalancer, state: State): LoadBalancerPlan {
  return {
    id: balancer.id,
    name: balancer.name,
    mode: balancer.mode ?? 'proxy',
    ips: ipsOf(balancer.addressIDs, state),
    sourceRanges: balancer.sourceRanges,
    listeners: balancer.listeners.flatMap((listener) => planListener(listener, state)),
  };
}

/** The routes that should work; those being deleted are left out. Pure. */
export function planRoutes(state: State): Route[] {
  return state
    .all('routes')
    .map(({ resource }) => resource)
    .filter((route) => route.state !== 'deleting');
}

function ipsOf(addressIDs: string[], state: State): string[] {
  return addressIDs.flatMap((id) => state.get('addresses', id)?.resource.ip ?? []);
}

function planListener(listener: LoadBalancerListener, state: State): ListenerPlan[] {
  const pool = planPool(listener.poolID, state);
  if (pool === undefined) return [];
  const { name, protocol, port, idleTimeoutMs, addressIDs, sourceRanges } = listener;
  const own = {
    ...(addressIDs === undefined ? {} : { ips: ipsOf(addressIDs, state) }),
    ...(sourceRanges === undefined ? {} : { sourceRanges }),
  };
  return [{ name, protocol, port, ...own, idleTimeoutMs: idleTimeoutMs ?? IDLE_TIMEOUT_MS[protocol], pool }];
}

function planPool(poolID: string, state: State): PoolPlan | undefined {
  const pool = state.get('pools', poolID)?.resource;
  if (pool === undefined) return undefined;
  const { id, drainMs, affinityMs = 0, proxyProtocol = 'none', failOpen = true, healthCheck, targets } = pool;
  return { id, drainMs, affinityMs, proxyProtocol, failOpen, healthCheck, targets: targets.flatMap((target) => planTarget(target, state)) };
}

function planTarget(target: PoolTarget, state: State): PoolPlan['targets'] {
  const addresses = state.get('instances', target.instanceID)?.resource.addresses.map(({ ip }) => ip) ?? [];
  return addresses.length === 0 ? [] : [{ ...target, addresses }];
}
