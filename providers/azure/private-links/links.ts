import type { AzureProviderSettings, CloudLoadBalancerSpec } from '../../../crds';
import type { Generation } from '../../generations';
import { sameID } from '../client/resource-id';
import { type AzureInput, balancerID, type BalancerPlace, subnetID } from '../load-balancers/arguments';
import { entriesOf, placesOf } from '../load-balancers/entries';
import { NAME_LENGTH } from '../load-balancers/names';
import { isPreConfigured } from '../load-balancers/nodes-behind';
import { networkSubscriptionOf, type AzureScope } from '../load-balancers/scope';
import { type LinkAddress, ordered, privateLinkService, type PrivateLinkServiceInputs } from '../resources/private-link-service';
import type { StandingLinksInputs } from '../resources/standing-links';
import { CLUSTER_TAG, mergedTags, OWNER_SERVICE_TAG, TAG } from '../tags';

type PrivateLink = NonNullable<NonNullable<CloudLoadBalancerSpec['azure']>['privateLink']>;
type Groups = Pick<AzureProviderSettings, 'privateLinkServiceResourceGroup' | 'loadBalancerResourceGroup' | 'resourceGroup'>;

/** A Private Link Service, without the resource's own tag, which the program adds. */
export type RenderedLink = PrivateLinkServiceInputs & {
  /** Of its resource. */
  name: string;
  /** Where its own addresses are from. */
  subnetID: string;
};

/** What the program of a load balancer gets that may have Private Link Services. */
export interface RenderedLinks {
  services: RenderedLink[];
  standing: StandingLinksInputs;
}

/**
 * The Private Link Services of one load balancer: one for a frontend, however many share that. Undefined where it can't have any: its pools are ours, and
 * have addresses. Pure.
 */
export function renderLinks(
  stack: string,
  generations: readonly Generation[],
  place: BalancerPlace,
  scope: AzureScope,
): RenderedLinks | undefined {
  const services = owners(generations, place).map(({ input, frontend }) => renderLink(stack, { input, frontend }, place, scope));
  if (services.length === 0 && !isPreConfigured(place.name, place.settings)) return undefined;
  const type = privateLinkService(networkSubscriptionOf(scope.settings));
  const links = services.map((service) => ({ name: service.name, id: type.idOf(service) }));
  return { services, standing: { loadBalancerId: balancerID(place), links, resourceGroups: linkGroupsOf(scope.settings) } };
}

/** Resource groups in which Private Link Services may be: those in which the CloudProvider has something anyway. Pure. */
export function linkGroupsOf(settings: Groups): string[] {
  const { loadBalancerResourceGroup, resourceGroup } = settings;
  const all = [usualGroupOf(settings), resourceGroup, loadBalancerResourceGroup ?? resourceGroup];
  return all.filter((group, index) => all.findIndex((one) => sameID(one, group)) === index);
}

/** Where one is that asks for no group. */
function usualGroupOf({ privateLinkServiceResourceGroup, resourceGroup }: Groups): string {
  return privateLinkServiceResourceGroup ?? resourceGroup;
}

/** Names of the resources that are there for a load balancer's Private Link Service: they say whose failure it is. Pure. */
export function linkResourcesOf(input: AzureInput, place: BalancerPlace): string[] {
  const { privateLink } = input.spec.azure ?? {};
  if (privateLink === undefined) return [];
  const policy = policyNameOf(place.name, linkSubnetID(input, place));
  return [policy, ...frontendsOf(input, place).map((frontend) => resourceNameOf(privateLink, frontend, place.settings))];
}

/** Name of the resource that is there for a subnet's policy. Pure. */
export function policyNameOf(balancer: string, subnet: string): string {
  return `${balancer}-links-${subnet.slice(subnet.lastIndexOf('/') + 1)}`;
}

/** LoadBalancers.sole: a Private Link Service is one's by its name, and its settings are one's where several share it (upstream's owner). Pure. */
export function solesOf(spec: CloudLoadBalancerSpec, settings: Groups): string[] {
  const { privateLink } = spec.azure ?? {};
  if (privateLink === undefined || !hasSettings(privateLink)) return [];
  const { name, resourceGroup = usualGroupOf(settings) } = privateLink;
  const named = name === undefined ? [] : [`Private Link Service ${resourceGroup}/${name}`.toLowerCase()];
  return [...named, ...placesOf(spec).map((address) => `the settings of the Private Link Service at ${address}`)];
}

interface Owned {
  input: AzureInput;
  frontend: string;
}

/**
 * Who decides about each: of those that share a frontend who has settings of it, which is one at most (solesOf), else the first; of the generations of one
 * name the newest. Azure knows them for IPv4 alone.
 */
function owners(generations: readonly Generation[], place: BalancerPlace): Owned[] {
  const asking = generations.flatMap(({ input, retiring }) => {
    const own = input as AzureInput;
    const { privateLink } = own.spec.azure ?? {};
    if (privateLink === undefined) return [];
    const rank = `${Number(retiring)}${Number(!hasSettings(privateLink))}`;
    return frontendsOf(own, place).map((frontend) => ({ input: own, frontend, rank }));
  });
  const byRank = [...asking].sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0));
  const owned = new Map<string, Owned>();
  const names = new Set<string>();
  for (const { input, frontend } of byRank) {
    const name = resourceNameOf(input.spec.azure?.privateLink ?? {}, frontend, place.settings).toLowerCase();
    if (owned.has(frontend) || names.has(name)) continue;
    owned.set(frontend, { input, frontend });
    names.add(name);
  }
  return [...owned.values()].sort((a, b) => (a.frontend < b.frontend ? -1 : 1));
}

function frontendsOf(input: AzureInput, place: BalancerPlace): string[] {
  return entriesOf(input, place).flatMap(({ family, frontend }) => (family === 'IPv4' ? [frontend] : []));
}

function hasSettings(privateLink: PrivateLink): boolean {
  return Object.keys(privateLink).length > 0;
}

/** Upstream's name, where none is asked for. */
function serviceNameOf({ name }: PrivateLink, frontend: string): string {
  return name ?? `pls-${frontend}`;
}

/** By its name in Azure: a Private Link Service of a name is there once, whatever frontend it is on. */
function resourceNameOf(privateLink: PrivateLink, frontend: string, settings: Groups): string {
  const usual = usualGroupOf(settings);
  const { resourceGroup = usual } = privateLink;
  const name = serviceNameOf(privateLink, frontend);
  return resourceGroup === usual ? name : `${resourceGroup}/${name}`;
}

function linkSubnetID({ spec }: AzureInput, place: BalancerPlace): string {
  const { privateLink, subnetName } = spec.azure ?? {};
  return subnetID(privateLink?.subnetName ?? (spec.scheme === 'Internal' ? subnetName : undefined), place);
}

function renderLink(stack: string, { input, frontend }: Owned, place: BalancerPlace, scope: AzureScope): RenderedLink {
  const { privateLink = {} } = input.spec.azure ?? {};
  const { settings, clusterID, location } = scope;
  const serviceName = serviceNameOf(privateLink, frontend);
  const subnet = linkSubnetID(input, place);
  const service = `${input.namespace}/${input.name}`;
  return {
    name: resourceNameOf(privateLink, frontend, settings),
    subnetID: subnet,
    resourceGroupName: privateLink.resourceGroup ?? usualGroupOf(settings),
    serviceName,
    location,
    loadBalancerFrontendIpConfigurations: [{ id: balancerID(place, 'frontendIPConfigurations', frontend) }],
    ipConfigurations: addressesOf(privateLink, serviceName, subnet),
    enableProxyProtocol: privateLink.proxyProtocol ?? false,
    fqdns: [...(privateLink.fqdns ?? [])].sort(),
    visibility: { subscriptions: subscriptionsIn(privateLink.visibility) },
    autoApproval: { subscriptions: subscriptionsIn(privateLink.autoApproval) },
    tags: mergedTags(
      {
        [OWNER_SERVICE_TAG]: service,
        [CLUSTER_TAG]: settings.clusterName,
        [TAG.clusterID]: clusterID,
        [TAG.stack]: stack,
        [TAG.ownerUID]: input.ownerUID,
        [TAG.owner]: service,
      },
      settings.tags,
    ),
  };
}

/** Those that are asked for, the first as the main one, and as many more as there are to be, by upstream's names. */
function addressesOf({ addresses = [], addressCount = 1 }: PrivateLink, serviceName: string, subnet: string): LinkAddress[] {
  const base = `${subnet.slice(subnet.lastIndexOf('/') + 1)}-${serviceName}`;
  const nameOf = (suffix: string): string => `${base.slice(0, NAME_LENGTH - suffix.length)}${suffix}`;
  const common = { privateIPAddressVersion: 'IPv4' as const, subnet: { id: subnet } };
  const asked = addresses.map((privateIPAddress, index) => ({
    name: nameOf(`-static-${privateIPAddress}`),
    primary: index === 0,
    privateIPAddress,
    privateIPAllocationMethod: 'Static' as const,
    ...common,
  }));
  const others = Array.from({ length: Math.max(0, addressCount - asked.length) }, (_, index) => ({
    name: nameOf(`-dynamic-${index}`),
    primary: asked.length === 0 && index === 0,
    privateIPAllocationMethod: 'Dynamic' as const,
    ...common,
  }));
  return ordered([...asked, ...others]);
}

/** Azure knows them in small letters; `*` is all of them. */
function subscriptionsIn(ids: readonly string[] = []): string[] {
  return ids.includes('*') ? ['*'] : ids.map((id) => id.toLowerCase()).sort();
}
