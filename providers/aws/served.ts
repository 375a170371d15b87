import type { JsonObject } from '../../operator/base/json';
import type { RenderedStack } from './load-balancers/load-balancers';
import { TAG } from './tags';

/** WorkerModule.loadBalancersOf: by the owner that a resource's tags name. Pure. */
export function loadBalancersOf({ args }: { args: Record<string, unknown> }, inputs: JsonObject): string[] {
  const { networkLoadBalancers = [], classicLoadBalancers = [] } = inputs as unknown as Partial<RenderedStack>;
  const owner = (args.tags as Record<string, unknown> | undefined)?.[TAG.ownerUID];
  const all = [...networkLoadBalancers, ...classicLoadBalancers];
  return [...new Set(all.filter(({ ownerUID }) => ownerUID === owner).map(({ uid }) => uid))];
}
