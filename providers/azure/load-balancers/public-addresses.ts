import type { PublicIPAddressInputs } from '../resources/public-ip-address';
import { CLUSTER_TAG, DNS_LABEL_TAG, mergedTags, SERVICE_TAG, TAG } from '../tags';
import type { AzureInput } from './arguments';
import type { Entry } from './entries';
import type { AzureScope } from './scope';

/** A public address that is made, without the resource's own tag, which the program adds. */
export type RenderedPublicAddress = PublicIPAddressInputs & { /** Of the frontend that it is for. */ frontend: string };

/** Pure. */
export function renderPublicAddress(
  stack: string,
  { input, entry }: { input: AzureInput; entry: Extract<Entry, { kind: 'Made' }> },
  { clusterID, location, settings }: AzureScope,
): RenderedPublicAddress {
  const { family, name, frontend } = entry;
  const { publicIP = {} } = input.spec.azure ?? {};
  const { ipv4PrefixID, ipv6PrefixID, ipTags = {}, dnsLabel, tags } = publicIP;
  const prefixID = family === 'IPv6' ? ipv6PrefixID : ipv4PrefixID;
  const service = `${input.namespace}/${input.name}`;
  const asked = Object.entries(ipTags).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    frontend,
    resourceGroupName: settings.resourceGroup,
    publicIpAddressName: name,
    location,
    sku: { name: 'Standard' },
    publicIPAllocationMethod: 'Static',
    publicIPAddressVersion: family,
    ...(prefixID !== undefined && { publicIPPrefix: { id: prefixID } }),
    ...(asked.length > 0 && { ipTags: asked.map(([ipTagType, tag]) => ({ ipTagType, tag })) }),
    ...(dnsLabel !== undefined && { dnsSettings: { domainNameLabel: dnsLabel } }),
    tags: mergedTags(
      {
        [SERVICE_TAG]: service,
        [CLUSTER_TAG]: settings.clusterName,
        ...(dnsLabel !== undefined && { [DNS_LABEL_TAG]: service }),
        [TAG.clusterID]: clusterID,
        [TAG.stack]: stack,
        [TAG.ownerUID]: input.ownerUID,
        [TAG.owner]: service,
      },
      settings.tags,
      tags,
    ),
  };
}
