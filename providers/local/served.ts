import type { JsonObject } from '../../operator/base/json';
import type { RenderedStack } from './load-balancers';

/** WorkerModule.loadBalancersOf: by the owner that every resource names; what is shared serves all who share it. Pure. */
export function loadBalancersOf({ args }: { args: Record<string, unknown> }, inputs: JsonObject): string[] {
  const { loadBalancers = [], shared = [] } = inputs as unknown as Partial<RenderedStack>;
  const members = [...loadBalancers, ...shared.flatMap((one) => one.members)];
  const own = members.filter(({ ownerUID }) => ownerUID === args.ownerUID);
  const sharing = shared.filter(({ ownerUID }) => ownerUID === args.ownerUID).flatMap((one) => one.members);
  return [...own, ...sharing].map(({ uid }) => uid);
}
