import type { JsonObject } from '../../operator/base/json';
import type { RenderedStack } from './load-balancers/load-balancers';
import { TAG } from './tags';

/** WorkerModule.loadBalancersOf: by the owner that a resource's tags name; what a placement shares names none, and serves all. Pure. */
export function loadBalancersOf({ args }: { args: Record<string, unknown> }, inputs: JsonObject): string[] {
  const { networkLoadBalancers = [], sharedLoadBalancers = [], classicLoadBalancers = [] } = inputs as unknown as Partial<RenderedStack>;
  const owner = (args.tags as Record<string, unknown> | undefined)?.[TAG.ownerUID];
  const all = [...networkLoadBalancers, ...sharedLoadBalancers.flatMap(({ members }) => members), ...classicLoadBalancers];
  return [...new Set(all.filter(({ ownerUID }) => ownerUID === owner).map(({ uid }) => uid))];
}
