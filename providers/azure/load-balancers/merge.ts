import type { JsonObject } from '../../../operator/base/json';
import { READ_ONLY as READ_ONLY_IN_ALL } from '../client/provisioning';
import { sameID } from '../client/resource-id';
import { referencesIn } from '../client/references';

/** Lists of parts that a load balancer has; of the last three we make none. */
export const PART_LISTS = [
  'frontendIPConfigurations',
  'backendAddressPools',
  'loadBalancingRules',
  'probes',
  'outboundRules',
  'inboundNatRules',
  'inboundNatPools',
] as const;
export type PartList = (typeof PART_LISTS)[number];

/** A part as Azure writes it; some have zones beside their properties. */
export interface Part {
  id?: string;
  name: string;
  zones?: string[];
  properties: JsonObject;
}

/** Names of parts, by list. */
export type PartNames = Partial<Record<PartList, readonly string[]>>;

/** What Azure alone writes: who uses a part, and how far it is (no inputs of @pulumi/azure-native have it). */
const READ_ONLY: Partial<Record<PartList, readonly string[]>> = {
  frontendIPConfigurations: ['loadBalancingRules', 'outboundRules', 'inboundNatRules', 'inboundNatPools'],
  backendAddressPools: ['backendIPConfigurations', 'loadBalancingRules', 'outboundRule', 'outboundRules', 'inboundNatRules'],
  probes: ['loadBalancingRules'],
  inboundNatRules: ['backendIPConfiguration'],
};
const READ_ONLY_OF_ADDRESSES: readonly string[] = ['networkInterfaceIPConfiguration', 'inboundNatRulesPortMapping'];

/**
 * Parts of a load balancer that stay without ours: those that were never ours, and of ours those that they lead to, such as the pool behind somebody's
 * outbound rule. Azure refuses the whole where one of these is missing (InvalidResourceReference). Pure.
 * @param wanted names of parts that are written anew
 */
export function othersParts(properties: JsonObject, owned: readonly PartNames[], wanted: PartNames = {}): Record<PartList, Part[]> {
  const isOurs = (list: PartList, name: string): boolean => [...owned, wanted].some((one) => one[list]?.includes(name) === true);
  const all = PART_LISTS.flatMap((list) => partsIn(properties, list).map((part) => ({ list, part: writablePart(list, part) })));
  const foreign = all.filter(({ list, part }) => !isOurs(list, part.name));
  const needed = new Set(foreign.flatMap(({ part }) => referencesIn(part.properties)).map((id) => id.toLowerCase()));
  const stays = all.filter(
    ({ list, part: { id = '', name } }) => wanted[list]?.includes(name) !== true && (!isOurs(list, name) || needed.has(id.toLowerCase())),
  );
  const lists = PART_LISTS.map((list) => [list, stays.filter((one) => one.list === list).map(({ part }) => part)]);
  return Object.fromEntries(lists) as Record<PartList, Part[]>;
}

/** What of a part's properties programs set. */
export type SetProperties = Partial<Record<PartList, readonly string[]>>;

/**
 * Properties of a load balancer with our parts as they are wanted, and everything else as it is: others' parts, and what others, or upstream, have set
 * of ours, such as zones of frontends, which can't be changed (ResourceAvailabilityZonesCannotBeModified, Azure/azure-powershell#14326). Pure.
 * @param owned names of parts that were ours so far: those that are not wanted any more go
 * @param set what isn't wanted of this goes
 */
export function mergedParts(properties: JsonObject, wanted: JsonObject, owned: readonly PartNames[], set: SetProperties): JsonObject {
  const others = othersParts(properties, owned, namesIn(wanted));
  const lists = PART_LISTS.map((list) => {
    const found = new Map(partsIn(properties, list).map((part) => [part.name, part]));
    const ours = partsIn(wanted, list).map((part) => laidOver(list, found.get(part.name), part, set[list] ?? []));
    return [list, [...others[list], ...ours]];
  });
  return { ...writable(properties), ...wanted, ...(Object.fromEntries(lists) as JsonObject) };
}

/** What stays of the properties of a load balancer. Pure. */
export function remainingParts(properties: JsonObject, others: Record<PartList, Part[]>): JsonObject {
  return { ...writable(properties), ...(others as unknown as JsonObject) };
}

/** Names of all parts. Pure. */
export function namesIn(properties: JsonObject): PartNames {
  return Object.fromEntries(PART_LISTS.map((list) => [list, partsIn(properties, list).map(({ name }) => name)]));
}

export function partsIn(properties: JsonObject, list: PartList): Part[] {
  return (properties[list] ?? []) as unknown as Part[];
}

function laidOver(list: PartList, found: Part | undefined, wanted: Part, set: readonly string[]): Part {
  if (found === undefined) return wanted;
  const { zones, properties } = writablePart(list, found);
  const rest = without(properties, set);
  const laid = { ...wanted, ...(zones !== undefined && { zones }), properties: { ...rest, ...wanted.properties } };
  return list === 'backendAddressPools' ? { ...laid, properties: pooled(found.properties, laid.properties) } : laid;
}

interface Address {
  name: string;
  properties: JsonObject;
}

/** A pool's addresses with what others have set of them, such as an administrative state; the network is said once where it was. */
function pooled(found: JsonObject, laid: JsonObject): JsonObject {
  const had = new Map(addressesOf(found).map((one) => [one.properties.ipAddress, one.properties]));
  const network = laid.virtualNetwork as { id: string } | undefined;
  const addresses = addressesOf(laid).map(({ name, properties }) => {
    const { virtualNetwork, ...own } = properties as JsonObject & { virtualNetwork?: { id: string } };
    const rest = without(had.get(own.ipAddress) ?? {}, [...READ_ONLY_OF_ADDRESSES, 'virtualNetwork']);
    const isSaid = virtualNetwork === undefined || (network !== undefined && sameID(network.id, virtualNetwork.id));
    return { name, properties: { ...rest, ...own, ...(!isSaid && { virtualNetwork }) } };
  });
  return { ...laid, loadBalancerBackendAddresses: addresses };
}

function addressesOf({ loadBalancerBackendAddresses: all }: JsonObject): Address[] {
  return (all ?? []) as unknown as Address[];
}

function writablePart(list: PartList, { id, name, zones, properties }: Part): Part {
  const own = without(writable(properties), READ_ONLY[list] ?? []);
  return { ...(id !== undefined && { id }), name, ...(zones !== undefined && { zones }), properties: own };
}

function writable(properties: JsonObject): JsonObject {
  return without(properties, READ_ONLY_IN_ALL);
}

function without(properties: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}
