import type { JsonObject } from '../../operator/base/json';
import type { RenderedStack } from './load-balancers/render';
import { TAG } from './tags';

/** WorkerModule.loadBalancersOf: by the owner that a resource's tags name; what many share names none of them, and serves all. Pure. */
export function loadBalancersOf({ args }: { args: Record<string, unknown> }, inputs: JsonObject): string[] {
  const { balancers = [] } = inputs as unknown as Partial<RenderedStack>;
  const owner = (args.tags as Record<string, unknown> | undefined)?.[TAG.ownerUID];
  const all = balancers.flatMap(({ members }) => members);
  return [...new Set(all.filter(({ ownerUID }) => ownerUID === owner).map(({ uid }) => uid))];
}
