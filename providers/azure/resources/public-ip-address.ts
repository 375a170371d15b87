import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import { nameInID, parseResourceID, resourceID } from '../client/resource-id';
import type { ArmClient } from '../client/arm-client';
import { RegionZones } from '../client/region-zones';
import { ownTags } from '../tags';
import { armBody, bodyOver } from './arm-body';
import type { OwnedDescription } from './owned-resource';

const schema = z.strictObject({
  resourceGroupName: z.string().min(1),
  publicIpAddressName: z.string().min(1),
  location: z.string().min(1),
  sku: z.strictObject({ name: z.literal('Standard') }),
  publicIPAllocationMethod: z.literal('Static'),
  publicIPAddressVersion: z.enum(['IPv4', 'IPv6']),
  zones: z.array(z.string()).optional(),
  publicIPPrefix: z.strictObject({ id: z.string().min(1) }).optional(),
  ipTags: z.array(z.strictObject({ ipTagType: z.string(), tag: z.string() })).optional(),
  dnsSettings: z.strictObject({ domainNameLabel: z.string().min(1) }).optional(),
  tags: z.record(z.string(), z.string()),
});
export type PublicIPAddressInputs = z.infer<typeof schema>;

/** Properties that programs set now and then, and what Azure alone writes beside those of every resource. */
const OWN = ['publicIPPrefix', 'ipTags', 'dnsSettings', 'ipConfiguration'];
/** What of its names is the label's, and goes with it. */
const OF_LABEL = ['domainNameLabel', 'domainNameLabelScope', 'fqdn'];

/**
 * The official type: a Standard address, which stays the same as long as it is there. As upstream has it, it is in all zones of its region, or those of
 * its prefix: with none said, Azure makes one that a zone's end may take along (azure.microsoft.com, "Upcoming changes to Standard Public IPs").
 * @param arm absent = nothing is made by it
 */
export function publicIPAddress(subscription: string, arm?: ArmClient): OwnedDescription<PublicIPAddressInputs> {
  const regions = arm && new RegionZones(arm, subscription);
  return {
    unsaid: ['zones'],
    saidAtMaking: async ({ zones: said, location, publicIPPrefix }, options) => {
      if (said !== undefined || arm === undefined) return {};
      const prefix = publicIPPrefix && (await arm.get<{ zones?: string[] }>(publicIPPrefix.id, options));
      const zones = publicIPPrefix === undefined ? ((await regions?.of(location, options)) ?? []) : (prefix?.zones ?? []);
      return zones.length === 0 ? {} : { zones };
    },
    token: 'azure-native:network:PublicIPAddress',
    replaceOn: [
      'resourceGroupName',
      'publicIpAddressName',
      'location',
      'sku',
      'publicIPAllocationMethod',
      'publicIPAddressVersion',
      'zones',
      'publicIPPrefix',
      'ipTags',
    ],
    schema,
    idProperties: ['resourceGroupName', 'publicIpAddressName'],
    idOf: ({ resourceGroupName: resourceGroup, publicIpAddressName: name }) =>
      resourceID({ subscription, resourceGroup, namespace: 'Microsoft.Network', path: [{ type: 'publicIPAddresses', name }] }),
    body: (inputs) => armBody(inputs as JsonObject),
    merged: ({ properties }, { dnsSettings, ...inputs }) => {
      const names = namesOver(properties, dnsSettings?.domainNameLabel);
      return bodyOver(armBody({ ...inputs, ...names } as JsonObject), properties, OWN);
    },
    describe: ({ id, location = '', tags, properties, ...found }) => {
      const {
        publicIPAddressVersion = 'IPv4',
        publicIPPrefix,
        ipTags,
        dnsSettings,
        ipAddress,
      } = properties as Partial<PublicIPAddressInputs> & {
        ipAddress?: string;
      };
      const { zones } = found as { zones?: string[] };
      const label = dnsSettings?.domainNameLabel;
      const inputs: PublicIPAddressInputs = {
        resourceGroupName: parseResourceID(id).resourceGroup,
        publicIpAddressName: nameInID(id),
        location,
        sku: { name: 'Standard' },
        publicIPAllocationMethod: 'Static',
        publicIPAddressVersion,
        ...(zones !== undefined && zones.length > 0 && { zones }),
        ...(publicIPPrefix !== undefined && { publicIPPrefix: { id: publicIPPrefix.id } }),
        ...(ipTags !== undefined && ipTags.length > 0 && { ipTags: ipTags.map(({ ipTagType, tag }) => ({ ipTagType, tag })) }),
        ...(label !== undefined && { dnsSettings: { domainNameLabel: label } }),
        tags: ownTags(tags),
      };
      return { inputs, observed: ipAddress === undefined ? {} : { ipAddress } };
    },
  };
}

/** Its names with the label that is wanted, or without one: who has set its name for the way back keeps that. */
function namesOver({ dnsSettings = {} }: JsonObject, label: string | undefined): JsonObject {
  const has = dnsSettings as JsonObject;
  const { domainNameLabelScope: scope } = has;
  const others = Object.entries(has).filter(([key]) => !OF_LABEL.includes(key));
  const own = label === undefined ? {} : { domainNameLabel: label, ...(scope !== undefined && { domainNameLabelScope: scope }) };
  const names = { ...Object.fromEntries(others), ...own };
  return Object.keys(names).length === 0 ? {} : { dnsSettings: names };
}
