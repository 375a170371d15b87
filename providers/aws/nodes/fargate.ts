import type { NetworkInterface } from '@aws-sdk/client-ec2';
import type { Instance, NodeAddress } from '../../provider';
import { ZONE_ID_LABEL, type InstanceScope } from './instances';
import { fargateAddressOf } from './provider-id';

/**
 * Fargate Nodes as the loops see them, by their network interfaces: no type, no names to be found by, and never stopped. Pure.
 * @param interfaces of the VPC, with the addresses that the providerIDs name
 */
export function describeFargate(
  providerIDs: readonly string[],
  interfaces: readonly NetworkInterface[],
  { region, nodeIPFamilies, zoneIDs }: Pick<InstanceScope, 'region' | 'nodeIPFamilies'> & { zoneIDs: ReadonlyMap<string, string> },
): Instance[] {
  return providerIDs.flatMap((providerID): Instance[] => {
    const address = fargateAddressOf(providerID);
    const found = interfaces.find((one) => one.PrivateIpAddress === address && one.Attachment?.Status === 'attached');
    if (address === undefined || found === undefined) return [];
    const zone = found.AvailabilityZone ?? '';
    const zoneID = zoneIDs.get(zone);
    const addresses = nodeIPFamilies.flatMap((family) => addressesOf(found, family));
    const common = { id: found.NetworkInterfaceId ?? address, providerID, names: [], state: 'Running' as const, type: '' };
    return [{ ...common, zone, region, addresses, ...(zoneID !== undefined && { additionalLabels: { [ZONE_ID_LABEL]: zoneID } }) }];
  });
}

/** Upstream's: for each family the address, and the name in DNS where there is one. */
function addressesOf(
  { PrivateIpAddress, PrivateDnsName = '', Ipv6Addresses = [] }: NetworkInterface,
  family: 'IPv4' | 'IPv6',
): NodeAddress[] {
  const address = family === 'IPv4' ? PrivateIpAddress : Ipv6Addresses[0]?.Ipv6Address;
  if (address === undefined) return [];
  return [{ type: 'InternalIP', address }, ...(PrivateDnsName === '' ? [] : [{ type: 'InternalDNS' as const, address: PrivateDnsName }])];
}
