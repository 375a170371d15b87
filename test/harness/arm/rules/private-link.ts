import { sameID } from '../../../../providers/azure/client/resource-id';
import { refusal } from '../request';
import { partsIn, type Resource } from '../resource';
import type { Rule } from '../rule';
import { subnetOf } from './addresses';

const LINK_SERVICE = 'microsoft.network/privatelinkservices';

/** A Private Link Service takes addresses only of a subnet whose network policies for it are off (learn.microsoft.com, "Disable network policies for Private Link service source IP"). */
export const networkPolicies: Rule = ({ type, after }, cloud) => {
  if (type.toLowerCase() !== LINK_SERVICE) return undefined;
  for (const part of partsIn(after, 'ipConfigurations')) {
    const subnet = subnetOf(part, cloud);
    if (subnet === undefined || subnet.properties.privateLinkServiceNetworkPolicies === 'Disabled') continue;
    const text = `Private link service network policy is not disabled on subnet ${subnet.id}.`;
    return refusal(400, 'PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled', text);
  }
  return undefined;
};

/** One service for each frontend. */
export const frontendOnce: Rule = ({ id, type, after }, cloud) => {
  if (type.toLowerCase() !== LINK_SERVICE) return undefined;
  for (const frontend of frontendsOf(after)) {
    const holder = cloud.usersOf(frontend.id).find((one) => /\/privateLinkServices\//i.test(one) && !sameID(one, id));
    if (holder === undefined) continue;
    return refusal(400, 'PrivateLinkServiceFrontendInUse', `Frontend ${frontend.id} is already used by private link service ${holder}.`);
  }
  return undefined;
};

/** It has one frontend (Azure/azure-cli#29305), and keeps it (hashicorp/terraform-provider-azurerm#12249). */
export const frontendStays: Rule = ({ type, before, after }) => {
  if (type.toLowerCase() !== LINK_SERVICE || after === undefined) return undefined;
  const [has, wanted] = [before, after].map((one) => frontendsOf(one).map(({ id }) => id.toLowerCase()));
  if (wanted?.length !== 1) {
    const text = `Private link service ${after.name} has ${wanted?.length} load balancer frontend IP configurations specified.`;
    return refusal(400, 'InvalidNumberOfPrivateLinkServiceLoadBalancerFrontendIpConfigurationsSpecified', text);
  }
  if (before === undefined || has?.[0] === wanted[0]) return undefined;
  return refusal(400, 'PrivateLinkServiceFrontendCannotBeChanged', `Private link service ${after.name} keeps its frontend.`);
};

/** Nor does it stand on a load balancer that has pools of addresses, or get such a pool under it (MicrosoftDocs/azure-docs#75134). */
export const poolsOfInterfaces: Rule = ({ type, after }, cloud) => {
  if (after === undefined) return undefined;
  const under = frontendsOf(after).map(({ id }) => cloud.find(id.replace(/\/frontendIPConfigurations\/.*$/i, '')));
  const isUsed = /\/loadBalancers$/i.test(type) && cloud.usersOf(after.id).some((one) => /\/privateLinkServices\//i.test(one));
  const bad = [...under, ...(isUsed ? [after] : [])].find((balancer) => balancer !== undefined && hasPoolOfAddresses(balancer));
  if (bad === undefined) return undefined;
  const text = `Private link service is not supported for load balancer ${bad.id} with backend addresses set by (virtualNetwork, ipAddress) or (subnet, ipAddress).`;
  return refusal(400, 'PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer', text);
};

/** Whom it approves at once must see it (learn.microsoft.com, "What is Azure Private Link service?": control service exposure). */
export const approvedSee: Rule = ({ type, after }) => {
  if (type.toLowerCase() !== LINK_SERVICE) return undefined;
  const { visibility, autoApproval } = (after?.properties ?? {}) as { visibility?: Subscriptions; autoApproval?: Subscriptions };
  const seen = visibility?.subscriptions ?? [];
  const blind = seen.includes('*') ? undefined : autoApproval?.subscriptions.find((one) => !seen.includes(one));
  if (blind === undefined) return undefined;
  return refusal(400, 'PrivateLinkServiceAutoApprovalNotVisible', `Subscription ${blind} is approved, and does not see ${after?.id}.`);
};

/** It goes after the connections to it (learn.microsoft.com, "Can't delete load balancer with a private link service"). */
export const connectionsFirst: Rule = ({ id, type, before, after }) => {
  if (type.toLowerCase() !== LINK_SERVICE || after !== undefined) return undefined;
  const { length } = partsIn(before, 'privateEndpointConnections');
  if (length === 0) return undefined;
  const text = `Private link service ${id} cannot be deleted since it has ${length} private endpoint connections.`;
  return refusal(400, 'PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted', text);
};

interface Subscriptions {
  subscriptions: string[];
}

function frontendsOf(service: Pick<Resource, 'properties'> | undefined): { id: string }[] {
  return (service?.properties.loadBalancerFrontendIpConfigurations ?? []) as { id: string }[];
}

function hasPoolOfAddresses(balancer: Resource): boolean {
  return partsIn(balancer, 'backendAddressPools').some(({ properties }) => {
    const addresses = (properties.loadBalancerBackendAddresses ?? []) as { properties?: { ipAddress?: string } }[];
    return addresses.some((one) => one.properties?.ipAddress !== undefined);
  });
}
