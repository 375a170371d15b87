import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { nameInID, parseResourceID, resourceID } from '../client/resource-id';
import { ownTags } from '../tags';
import { armBody, bodyOver } from './arm-body';
import type { OwnedDescription } from './owned-resource';

/** Azure's own name of the type. */
export const LINK_SERVICE = 'Microsoft.Network/privateLinkServices';

const reference = z.strictObject({ id: z.string().min(1) });
const subscriptions = z.strictObject({ subscriptions: z.array(z.string().min(1)) });

const ipConfiguration = z.strictObject({
  name: z.string().min(1),
  primary: z.boolean(),
  privateIPAddress: z.string().optional(),
  privateIPAddressVersion: z.literal('IPv4'),
  privateIPAllocationMethod: z.enum(['Static', 'Dynamic']),
  subnet: reference,
});

const schema = z.strictObject({
  resourceGroupName: z.string().min(1),
  serviceName: z.string().min(1),
  location: z.string().min(1),
  loadBalancerFrontendIpConfigurations: z.array(reference).length(1),
  ipConfigurations: z.array(ipConfiguration).min(1),
  enableProxyProtocol: z.boolean(),
  fqdns: z.array(z.string().min(1)),
  visibility: subscriptions,
  autoApproval: subscriptions,
  tags: z.record(z.string(), z.string()),
});
export type PrivateLinkServiceInputs = z.infer<typeof schema>;
export type LinkAddress = z.infer<typeof ipConfiguration>;

/** What Azure alone writes beside what it writes of every resource. */
const READ_ONLY = ['alias', 'networkInterfaces', 'privateEndpointConnections'];

/** In one order: Azure and upstream have none. Pure. */
export function ordered<T extends { name: string }>(addresses: readonly T[]): T[] {
  return [...addresses].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The official type: a Private Link Service on one frontend, which it keeps (hashicorp/terraform-provider-azurerm#12249). What endpoints have connected
 * to it goes before it (kubernetes-sigs/cloud-provider-azure#2125).
 */
export function privateLinkService(subscription: string): OwnedDescription<PrivateLinkServiceInputs> {
  return {
    token: 'azure-native:network:PrivateLinkService',
    replaceOn: ['resourceGroupName', 'serviceName', 'location', 'loadBalancerFrontendIpConfigurations'],
    follows: ['loadBalancerFrontendIpConfigurations'],
    schema,
    idProperties: ['resourceGroupName', 'serviceName'],
    idOf: ({ resourceGroupName: resourceGroup, serviceName: name }) =>
      resourceID({ subscription, resourceGroup, namespace: 'Microsoft.Network', path: [{ type: 'privateLinkServices', name }] }),
    body: (inputs) => armBody(inputs as unknown as JsonObject),
    merged: ({ properties }, inputs) => bodyOver(armBody(inputs as unknown as JsonObject), properties, READ_ONLY),
    below: ({ id, properties: { privateEndpointConnections = [] } }) =>
      (privateEndpointConnections as { name: string }[]).map(({ name }) => `${id}/privateEndpointConnections/${name}`),
    describe: ({ id, location = '', tags, properties }) => {
      const { alias, fqdns = [], ...found } = properties as Partial<PrivateLinkServiceInputs> & { alias?: string };
      const addresses = (found.ipConfigurations ?? []) as unknown as { name: string; properties: Omit<LinkAddress, 'name'> }[];
      const inputs: PrivateLinkServiceInputs = {
        resourceGroupName: parseResourceID(id).resourceGroup,
        serviceName: nameInID(id),
        location,
        loadBalancerFrontendIpConfigurations: (found.loadBalancerFrontendIpConfigurations ?? []).map((one) => ({ id: one.id })),
        ipConfigurations: ordered(addresses.map((one) => addressFrom({ ...one.properties, name: one.name }))),
        enableProxyProtocol: found.enableProxyProtocol ?? false,
        fqdns: [...fqdns].sort(),
        visibility: { subscriptions: [...(found.visibility?.subscriptions ?? [])].sort() },
        autoApproval: { subscriptions: [...(found.autoApproval?.subscriptions ?? [])].sort() },
        tags: ownTags(tags),
      };
      return { inputs, observed: alias === undefined ? {} : { alias } };
    },
  };
}

/** An address that Azure has chosen was not asked for. */
function addressFrom({ name, primary, privateIPAddress, privateIPAllocationMethod, subnet }: LinkAddress): LinkAddress {
  return {
    name,
    primary,
    ...(privateIPAllocationMethod === 'Static' && { privateIPAddress }),
    privateIPAddressVersion: 'IPv4',
    privateIPAllocationMethod,
    subnet: { id: subnet.id },
  };
}
