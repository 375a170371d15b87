import type { JsonObject } from '../../../operator/base/json';

/** Lists of parts that a load balancer has; of the last two we make none. */
export const PART_LISTS = [
  'frontendIPConfigurations',
  'backendAddressPools',
  'loadBalancingRules',
  'probes',
  'outboundRules',
  'inboundNatRules',
] as const;
export type PartList = (typeof PART_LISTS)[number];

/** A part as Azure writes it. */
export interface Part {
  name: string;
  properties: JsonObject;
}

/** Names of parts, by list. */
export type PartNames = Partial<Record<PartList, readonly string[]>>;

/** Parts of a load balancer that were never ours: somebody's outbound rules, pools or frontends. Pure. */
export function foreignParts(properties: JsonObject, ours: readonly PartNames[]): Record<PartList, Part[]> {
  const parts = PART_LISTS.map((list): [PartList, Part[]] => {
    const names = new Set(ours.flatMap((one) => one[list] ?? []));
    return [list, partsIn(properties, list).filter(({ name }) => !names.has(name))];
  });
  return Object.fromEntries(parts) as Record<PartList, Part[]>;
}

/**
 * Properties of a load balancer with our parts as they are wanted, and everybody else's as they are. Pure.
 * @param owned names of parts that were ours so far: those that are not wanted any more go
 */
export function mergedParts(properties: JsonObject, wanted: JsonObject, owned: PartNames): JsonObject {
  const foreign = foreignParts(properties, [owned, namesIn(wanted)]);
  const lists = PART_LISTS.map((list) => [list, [...foreign[list], ...partsIn(wanted, list)]]);
  return { ...wanted, ...(Object.fromEntries(lists) as JsonObject) };
}

/** Names of all parts. Pure. */
export function namesIn(properties: JsonObject): PartNames {
  return Object.fromEntries(PART_LISTS.map((list) => [list, partsIn(properties, list).map(({ name }) => name)]));
}

export function partsIn(properties: JsonObject, list: PartList): Part[] {
  return (properties[list] ?? []) as unknown as Part[];
}
