import type { Family, LoadBalancer, Route, TargetPool, Topology } from '../api';
import { placesOf, type DataPlane, type LoadBalancerPlan } from './data-plane';

/** Moves nothing: for tests with thousands of objects, where only the API counts. Its ranges have room for 65,534 of each. */
export class NullDataPlane implements DataPlane {
  readonly topology: Topology = {
    tier: 'none',
    reason: 'asked for: nothing moves packets',
    loadBalancerCIDR: '10.201.0.0/16',
    nodeCIDR: '10.200.0.0/16',
    podCIDR: '10.244.0.0/14',
    ipv6: { loadBalancerCIDR: 'fd00:10:201::/112', nodeCIDR: 'fd00:10:200::/112' },
    netns: [],
  };

  start(): Promise<void> {
    return Promise.resolve();
  }

  instanceAddress(index: number, family: Family): string {
    if (family === 'IPv6') return `fd00:10:200::${index.toString(16)}`;
    return `10.200.${index >> 8}.${index & 255}`;
  }

  loadBalancerAddress(index: number, family: Family): string {
    if (family === 'IPv6') return `fd00:10:201::${index.toString(16)}`;
    return `10.201.${index >> 8}.${index & 255}`;
  }

  applyInstance(): Promise<{ netns?: string; socket?: string }> {
    return Promise.resolve({});
  }

  removeInstance(): Promise<void> {
    return Promise.resolve();
  }

  applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    const ports = placesOf(plan).map(({ ip, listener: { name, port, protocol } }) => ({ listener: name, ip, port, protocol }));
    return Promise.resolve(ports);
  }

  removeLoadBalancer(): Promise<void> {
    return Promise.resolve();
  }

  applyRoutes(): Promise<Route['enforced']> {
    return Promise.resolve('none');
  }

  breakRoute(): Promise<void> {
    return Promise.resolve();
  }

  health(): Promise<Map<string, TargetPool['health']>> {
    return Promise.resolve(new Map<string, TargetPool['health']>());
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
