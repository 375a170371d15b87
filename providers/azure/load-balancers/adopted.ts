import { z } from 'zod';
import type { IPFamily } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import { nameInID } from '../client/resource-id';
import { type PartList, partsIn } from './merge';
import type { JsonObject } from '../../../operator/base/json';

/** What stays as it is of a load balancer that was taken over, and what the program makes goes by (Adoption.kept). */
const kept = z.strictObject({
  /** Names of its frontends, by family: another one can't have the address at the same time. */
  frontends: z.partialRecord(z.enum(['IPv4', 'IPv6']), z.string().min(1)),
});
export type Kept = z.infer<typeof kept>;

/** Pure; undefined = it was made here. */
export function keptOf({ adopted }: Pick<LoadBalancerInput, 'adopted'>): Kept | undefined {
  return adopted === undefined ? undefined : kept.parse(adopted);
}

/** True for a part of the first generation of a Service, by upstream's rules for names. @param base baseNameOf. Pure. */
export function isOfService(base: string, name: string): boolean {
  return name === base || (name.startsWith(`${base}-`) && !/^-g[0-9]+(-|$)/.test(name.slice(base.length)));
}

/** The frontends that a Service's rules lead from, by family; upstream may have named one for another Service that shares it. Pure. */
export function frontendsOf(properties: JsonObject, base: string, ipFamilies: readonly IPFamily[]): Kept['frontends'] {
  const frontends: Kept['frontends'] = {};
  for (const { name, properties: rule } of partsIn(properties, 'loadBalancingRules' satisfies PartList)) {
    if (!isOfService(base, name)) continue;
    const [only = 'IPv4', second] = ipFamilies;
    const family = second === undefined ? only : name.endsWith('-IPv6') ? 'IPv6' : 'IPv4';
    frontends[family] = nameInID((rule.frontendIPConfiguration as { id: string }).id);
  }
  return frontends;
}
