import type { CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import { hashJson } from '../../../operator/base/json';
import { sameID } from '../client/resource-id';
import { familyOf, type WantedRule } from '../security-groups/security-rule';
import { wantedRules } from '../security-groups/wanted-rules';
import { keptOf } from './adopted';
import type { AzureInput, BalancerPlace } from './arguments';
import { BASE_LENGTH, frontendNameOf, publicIPNameOf } from './names';
import { hasFloatingIP } from './rules';

/** The address of a frontend in one family: made for one load balancer, there already, or taken from a subnet. */
export type Entry = { family: IPFamily; /** Of the frontend. */ frontend: string } & (
  | { kind: 'Made'; /** Of the public address. */ name: string }
  | { kind: 'Named'; resourceGroup: string; by: { name: string } | { address: string } }
  | { kind: 'Private'; address?: string }
);

/**
 * The addresses of one load balancer, one in each family. One that is asked for may be asked for by several: they share its frontend, whose name is
 * made of it, so that it stays whoever of them goes; one that was taken over keeps its name. Pure.
 */
export function entriesOf(input: AzureInput, place: Pick<BalancerPlace, 'settings'>): Entry[] {
  const entryIn = input.spec.scheme === 'Internal' ? privateEntry : publicEntry;
  const kept = keptOf(input)?.frontends ?? {};
  return input.spec.ipFamilies.map((family) => {
    const entry = entryIn(input, family, place);
    return { ...entry, frontend: kept[family] ?? entry.frontend };
  });
}

function privateEntry(input: AzureInput, family: IPFamily, { settings }: Pick<BalancerPlace, 'settings'>): Entry {
  const address = addressOf(input, family);
  if (address === undefined) return { kind: 'Private', family, frontend: frontendNameOf(input, family) };
  const subnet = input.spec.azure?.subnetName ?? settings.subnetName ?? '';
  return { kind: 'Private', family, frontend: sharedName('subnet', subnet, address), address };
}

function publicEntry(input: AzureInput, family: IPFamily, { settings }: Pick<BalancerPlace, 'settings'>): Entry {
  const name = publicNameOf(input, family);
  const asked = name ?? addressOf(input, family);
  if (asked === undefined) {
    return { kind: 'Made', family, frontend: frontendNameOf(input, family), name: publicIPNameOf(input, settings.clusterName, family) };
  }
  const resourceGroup = input.spec.azure?.publicIP?.resourceGroup ?? settings.resourceGroup;
  const by = name === undefined ? { address: asked } : { name };
  return { kind: 'Named', family, frontend: sharedName('public', resourceGroup.toLowerCase(), asked), resourceGroup, by };
}

/** The name of the public address that is there, where one is named. Pure. */
export function publicNameOf({ spec }: { spec: Pick<CloudLoadBalancerSpec, 'azure'> }, family: IPFamily): string | undefined {
  const { ipv4Name, ipv6Name } = spec.azure?.publicIP ?? {};
  return family === 'IPv6' ? ipv6Name : ipv4Name;
}

/** The address that is asked for in a family; undefined = Azure chooses. Pure. */
export function addressOf({ spec }: { spec: Pick<CloudLoadBalancerSpec, 'addresses' | 'azure'> }, family: IPFamily): string | undefined {
  const own = family === 'IPv6' ? spec.azure?.ipv6Address : spec.azure?.ipv4Address;
  return own ?? spec.addresses?.find((address) => familyOf(address) === family);
}

/** Addresses that exist only once, and that several may ask for, in words. Pure. */
export function placesOf(spec: Pick<CloudLoadBalancerSpec, 'ipFamilies' | 'addresses' | 'azure'>): string[] {
  const places = spec.ipFamilies.map((family) => {
    const name = publicNameOf({ spec }, family);
    return name === undefined ? addressOf({ spec }, family) : `public IP address ${name}`;
  });
  return places.filter((place) => place !== undefined);
}

/**
 * LoadBalancers.exclusive: addresses, the DNS label of one that is made, and, without floating IP, rules of the security group: those of two load balancers
 * that let the same clients in to the same ports of the same Nodes are one rule, and who goes last takes it along. Pure.
 */
export function exclusivesOf(spec: CloudLoadBalancerSpec): string[] {
  const label =
    spec.scheme === 'Public' && spec.ipFamilies.some((family) => isMade({ spec }, family)) ? spec.azure?.publicIP?.dnsLabel : undefined;
  const behind = spec.azure?.configurations === undefined ? '' : ` behind ${spec.azure.configurations.join(' or ')}`;
  const rules = spec.ipFamilies.flatMap((family) => (hasFloatingIP(spec, family) ? [] : nodeRulesOf(spec, family)));
  const words = rules.map(({ ports = [], protocol, sources }) => {
    const to = `${ports.map((port) => `${port}/${protocol}`).join(', ')} of the Nodes${behind}`;
    return `the rule that lets ${sources.join(', ')} in to ${to}`;
  });
  return [...placesOf(spec), ...(label === undefined ? [] : [`DNS label ${label}`]), ...words];
}

/** Its address is one of its own; a public one has its DNS label. Pure. */
export function isMade(input: { spec: Pick<CloudLoadBalancerSpec, 'addresses' | 'azure'> }, family: IPFamily): boolean {
  return publicNameOf(input, family) === undefined && addressOf(input, family) === undefined;
}

/** To the addresses of Nodes, whichever those are. */
function nodeRulesOf(spec: CloudLoadBalancerSpec, family: IPFamily): WantedRule[] {
  return wantedRules(spec, [family === 'IPv6' ? '::' : '0.0.0.0']).filter(({ access }) => access === 'Allow');
}

/**
 * LoadBalancers.places: addresses by every word by which another one may ask for them. One that was made for it can be asked for by its name, and by what it
 * has been given. Pure.
 */
export function portPlacesOf(input: AzureInput, { settings }: Pick<BalancerPlace, 'settings'>, given: readonly string[] = []): string[] {
  const { ipFamilies } = input.spec;
  // Behind those of its families are others that only its rules open.
  const own = given.slice(0, ipFamilies.length);
  const places = entriesOf(input, { settings }).flatMap((entry) => [
    wordsOf(entry, settings),
    own.find((one) => familyOf(one) === entry.family),
  ]);
  return [...new Set(places.filter((place) => place !== undefined))];
}

/** Azure's names are the same in every letter case. */
function wordsOf(entry: Entry, settings: BalancerPlace['settings']): string | undefined {
  if (entry.kind === 'Private') return entry.address;
  if (entry.kind === 'Made') return `public IP address ${entry.name.toLowerCase()}`;
  const { by, resourceGroup } = entry;
  if ('address' in by) return by.address;
  const where = sameID(resourceGroup, settings.resourceGroup) ? '' : ` of resource group ${resourceGroup.toLowerCase()}`;
  return `public IP address ${by.name.toLowerCase()}${where}`;
}

/** In the form of those of one load balancer, by which parts of ours are known. */
function sharedName(...of: string[]): string {
  return `a${hashJson(of)}`.slice(0, BASE_LENGTH);
}
