import type { JsonObject } from '../../operator/base/json';
import type { RenderedStack } from './load-balancers';
import { TAG } from './tags';

/** WorkerModule.loadBalancersOf: by the owner that a resource's tags name. Pure. */
export function loadBalancersOf({ args }: { args: Record<string, unknown> }, inputs: JsonObject): string[] {
  const { networkLoadBalancers = [] } = inputs as unknown as Partial<RenderedStack>;
  const owner = (args.tags as Record<string, unknown> | undefined)?.[TAG.ownerUID];
  return [...new Set(networkLoadBalancers.filter(({ ownerUID }) => ownerUID === owner).map(({ uid }) => uid))];
}
