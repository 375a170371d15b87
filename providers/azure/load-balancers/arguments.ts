import type { AzureProviderSettings, CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import type { LoadBalancerInput, Target } from '../../provider';
import { familyOf } from '../security-groups/security-rule';
import { type Entry, entriesOf } from './entries';
import { poolNameOf } from './names';
import { isPreConfigured } from './nodes-behind';
import type { Probe } from './probes';
import { type LoadBalancingRule, rulesOf } from './rules';

/** One CloudLoadBalancer with the block of this cloud. */
export type AzureInput = Omit<LoadBalancerInput, 'spec' | 'retiring'> & { spec: CloudLoadBalancerSpec };

/** A frontend as programs write it (azure-native:network:FrontendIPConfiguration). */
export interface Frontend {
  name: string;
  publicIPAddress?: { id: string };
  subnet?: { id: string };
  privateIPAddress?: string;
  privateIPAllocationMethod?: 'Static' | 'Dynamic';
  privateIPAddressVersion?: IPFamily;
}

/** The pool of all Nodes of a family. */
export interface BackendAddressPool {
  name: string;
  loadBalancerBackendAddresses: { name: string; ipAddress: string; virtualNetwork: { id: string } }[];
}

/** Arguments of one load balancer of Azure (azure-native:network:LoadBalancer) that carries many. */
export interface LoadBalancerArguments {
  resourceGroupName: string;
  loadBalancerName: string;
  location: string;
  sku: { name: 'Standard' };
  frontendIPConfigurations: Frontend[];
  backendAddressPools: BackendAddressPool[];
  loadBalancingRules: LoadBalancingRule[];
  probes: Probe[];
}

/** Where a load balancer is, and what its CloudProvider says for all. */
export interface BalancerPlace {
  /** Of the network. */
  subscriptionID: string;
  /** Of the load balancer. */
  resourceGroup: string;
  name: string;
  location: string;
  settings: Pick<
    AzureProviderSettings,
    | 'clusterName'
    | 'resourceGroup'
    | 'vnetName'
    | 'vnetResourceGroup'
    | 'subnetName'
    | 'outboundSNAT'
    | 'healthProbe'
    | 'preConfiguredPools'
    | 'privateLinkServiceResourceGroup'
    | 'loadBalancerResourceGroup'
  >;
}

/**
 * One load balancer with the frontends, rules and probes of all that it carries. Pure and deterministic: neither the order of the inputs nor that of the
 * Nodes matters.
 */
export function loadBalancerArguments(
  inputs: readonly AzureInput[],
  nodes: readonly Target[],
  place: BalancerPlace,
): LoadBalancerArguments {
  const parts = [...inputs].sort((a, b) => (a.uid < b.uid ? -1 : 1)).flatMap((input) => partsOf(input, place));
  // Frontends of addresses that several ask for, and the shared probe, are there once.
  const frontends = new Map(parts.map(({ frontend }) => [frontend.name, frontend]));
  const probes = new Map(parts.flatMap((part) => part.probes).map((probe) => [probe.name, probe]));
  const families: IPFamily[] = ['IPv4', 'IPv6'];
  return {
    resourceGroupName: place.resourceGroup,
    loadBalancerName: place.name,
    location: place.location,
    sku: { name: 'Standard' },
    frontendIPConfigurations: [...frontends.values()],
    backendAddressPools: (isPreConfigured(place.name, place.settings) ? [] : families)
      .filter((family) => parts.some((part) => part.family === family))
      .map((family) => poolOf(family, nodes, place)),
    loadBalancingRules: parts.flatMap(({ rules }) => rules),
    probes: [...probes.values()],
  };
}

/** Ids of parts of a load balancer. Pure. */
export function balancerID({ subscriptionID, resourceGroup, name }: BalancerPlace, ...part: string[]): string {
  return [networkID(subscriptionID, resourceGroup, 'loadBalancers', name), ...part].join('/');
}

interface Part {
  family: IPFamily;
  frontend: Frontend;
  rules: LoadBalancingRule[];
  probes: Probe[];
}

function partsOf(input: AzureInput, place: BalancerPlace): Part[] {
  return entriesOf(input, place).map((entry) => {
    const { family } = entry;
    const ids = {
      family,
      frontendID: balancerID(place, 'frontendIPConfigurations', entry.frontend),
      poolID: balancerID(place, 'backendAddressPools', poolNameOf(place.settings.clusterName, family)),
      probeID: (name: string) => balancerID(place, 'probes', name),
    };
    return { family, frontend: frontendOf(entry, input, place), ...rulesOf(input, ids, place.settings) };
  });
}

function frontendOf(entry: Entry, input: AzureInput, place: BalancerPlace): Frontend {
  const { frontend: name, family } = entry;
  if (entry.kind !== 'Private') return { name, publicIPAddress: { id: publicIPID(entry, place) } };
  return {
    name,
    subnet: { id: subnetID(input.spec.azure?.subnetName, place) },
    ...(entry.address === undefined
      ? { privateIPAllocationMethod: 'Dynamic' }
      : { privateIPAllocationMethod: 'Static', privateIPAddress: entry.address }),
    privateIPAddressVersion: family,
  };
}

/** The id of the public address of a frontend. One that is named by its address has none yet: the program finds it. Pure. */
export function publicIPID(entry: Exclude<Entry, { kind: 'Private' }>, { subscriptionID, settings }: BalancerPlace): string {
  if (entry.kind === 'Made') return networkID(subscriptionID, settings.resourceGroup, 'publicIPAddresses', entry.name);
  const name = 'name' in entry.by ? entry.by.name : entry.by.address;
  return networkID(subscriptionID, entry.resourceGroup, 'publicIPAddresses', name);
}

/** The id of a subnet of the Nodes' network. @param name absent = the Nodes' own. Pure. */
export function subnetID(name: string | undefined, { subscriptionID, settings }: BalancerPlace): string {
  return `${networkOf(subscriptionID, settings)}/subnets/${name ?? settings.subnetName ?? ''}`;
}

function networkOf(subscriptionID: string, { vnetResourceGroup, resourceGroup, vnetName = '' }: BalancerPlace['settings']): string {
  return networkID(subscriptionID, vnetResourceGroup ?? resourceGroup, 'virtualNetworks', vnetName);
}

/**
 * Addresses by themselves, so that no machine is written; the first of each family of each Node. A Node that has come under another name may have the
 * address of one that is not gone yet: an address is in a pool once, and which Node it is named for means nothing to Azure.
 */
function poolOf(family: IPFamily, nodes: readonly Target[], { subscriptionID, settings }: BalancerPlace): BackendAddressPool {
  const virtualNetwork = { id: networkOf(subscriptionID, settings) };
  const addresses = nodes.flatMap(({ nodeName, addresses: all }) => {
    const ipAddress = all.find((address) => familyOf(address) === family);
    return ipAddress === undefined ? [] : [{ name: family === 'IPv6' ? `${nodeName}-ipv6` : nodeName, ipAddress, virtualNetwork }];
  });
  const ordered = addresses.sort((a, b) => (a.name < b.name ? -1 : 1));
  const once = new Map(ordered.toReversed().map((one) => [one.ipAddress, one]));
  const loadBalancerBackendAddresses = ordered.filter((one) => once.get(one.ipAddress) === one);
  return { name: poolNameOf(settings.clusterName, family), loadBalancerBackendAddresses };
}

function networkID(subscriptionID: string, resourceGroup: string, type: string, name: string): string {
  return `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/${type}/${name}`;
}
