import ipaddr from 'ipaddr.js';
import type { JsonObject } from '../../../../operator/base/json';
import { sameID } from '../../../../providers/azure/client/resource-id';
import { refusal } from '../request';
import { isSameOrPart, partsIn, partsOf, type Part, type Resource } from '../resource';
import type { CloudView, Rule } from '../rule';

/** The first four addresses of a subnet and its last are Azure's (learn.microsoft.com, "Azure Virtual Network FAQ"). */
const RESERVED = 5;

/** One public address for one frontend: PublicIPAddressInUse; twice in one load balancer: PublicIPReferencedByMultipleIPConfigs. */
export const publicAddressOnce: Rule = ({ after }, cloud) => {
  if (after === undefined) return undefined;
  const taken = new Map<string, string>();
  for (const { part, address } of publicUsers(after)) {
    const other = taken.get(address.toLowerCase());
    if (other !== undefined) {
      const text = `Public IP address ${address} is referenced by multiple ipconfigs: ${other}, ${part.id}.`;
      return refusal(400, 'PublicIPReferencedByMultipleIPConfigs', text);
    }
    taken.set(address.toLowerCase(), part.id);
    const holder = cloud.usersOf(address).find((id) => !id.toLowerCase().startsWith(`${after.id.toLowerCase()}/`));
    if (holder === undefined) continue;
    return refusal(
      400,
      'PublicIPAddressInUse',
      `Resource ${part.id} is referencing public IP address ${address} that is already allocated to resource ${holder}.`,
    );
  }
  return undefined;
};

/** A DNS label is one's in its region: DnsRecordInUse. */
export const dnsLabelOnce: Rule = ({ id, after }, cloud) => {
  const label = labelOf(after);
  if (after === undefined || label === undefined) return undefined;
  const holder = cloud.all().find((one) => !sameID(one.id, id) && one.location === after.location && labelOf(one) === label);
  if (holder === undefined) return undefined;
  return refusal(400, 'DnsRecordInUse', `DNS record ${label}.${after.location}.cloudapp.azure.com is already used by another public IP.`);
};

/** A private address that is asked for lies in its subnet, and is free. */
export const privateAddress: Rule = ({ after }, cloud) => {
  for (const part of after === undefined ? [] : partsOf(after)) {
    const subnet = subnetOf(part, cloud);
    const wanted = part.properties.privateIPAddress;
    if (subnet === undefined || typeof wanted !== 'string' || part.properties.privateIPAllocationMethod !== 'Static') continue;
    if (!prefixesOf(subnet).some((prefix) => contains(prefix, wanted))) {
      const text = `Private static IP address ${wanted} does not belong to the range of subnet ${subnet.id}.`;
      return refusal(400, 'PrivateIPAddressNotInSubnet', text);
    }
    const holder = addressesIn(subnet.id, cloud).find(({ from, address }) => address === wanted && !sameID(from, part.id));
    if (holder === undefined) continue;
    const text = `IP configuration ${part.id} is using the private IP address ${wanted} which is already allocated to resource ${holder.from}.`;
    return refusal(400, 'PrivateIPAddressIsAllocated', text);
  }
  return undefined;
};

/** There are as many addresses in a subnet as are taken from it. */
export const subnetRoom: Rule = ({ id, after }, cloud) => {
  const asking = new Map<Part, number>();
  for (const part of after === undefined ? [] : partsOf(after)) {
    const subnet = subnetOf(part, cloud);
    if (subnet !== undefined) asking.set(subnet, (asking.get(subnet) ?? 0) + 1);
  }
  for (const [subnet, count] of asking) {
    const others = addressesIn(subnet.id, cloud).filter(({ from }) => !isSameOrPart(from, id)).length;
    const room = prefixesOf(subnet).reduce((sum, prefix) => sum + sizeOf(prefix) - RESERVED, 0);
    if (others + count <= room) continue;
    return refusal(400, 'SubnetIsFull', `Subnet ${subnet.id} does not have enough capacity for ${count} IP addresses.`);
  }
  return undefined;
};

/** How many public addresses a subscription has: PublicIPCountLimitReached. */
export const publicAddressLimit: Rule = ({ type, before, after }, cloud) => {
  if (type.toLowerCase() !== 'microsoft.network/publicipaddresses' || before !== undefined || after === undefined) return undefined;
  const has = cloud.all().filter((one) => one.type.toLowerCase() === type.toLowerCase()).length;
  if (has < cloud.limits.publicAddresses) return undefined;
  return refusal(
    400,
    'PublicIPCountLimitReached',
    `Cannot create more than ${cloud.limits.publicAddresses} public IP addresses for this subscription in this region.`,
  );
};

/** A Standard load balancer takes Standard addresses only (learn.microsoft.com, "Public IP addresses": SKU). */
export const matchingSKU: Rule = ({ after }, cloud) => {
  for (const { address } of after === undefined ? [] : publicUsers(after)) {
    const pip = cloud.find(address);
    if (pip === undefined || after?.sku === undefined || after.sku.name === pip.sku?.name) continue;
    const text = `Load balancer ${after.id} and public IP address ${address} have different SKUs.`;
    return refusal(400, 'DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed', text);
  }
  return undefined;
};

function publicUsers(resource: Resource): { part: Part; address: string }[] {
  return partsOf(resource).flatMap((part) => {
    const address = (part.properties.publicIPAddress as { id?: string } | undefined)?.id;
    return address === undefined ? [] : [{ part, address }];
  });
}

function labelOf(resource: Resource | undefined): string | undefined {
  return (resource?.properties.dnsSettings as { domainNameLabel?: string } | undefined)?.domainNameLabel;
}

/** The subnet that a part of a resource takes an address from. */
export function subnetOf({ properties }: Part, cloud: Pick<CloudView, 'all'>): Part | undefined {
  const id = (properties.subnet as { id?: string } | undefined)?.id;
  if (id === undefined) return undefined;
  const networks = cloud.all().filter(({ type }) => /virtualNetworks$/i.test(type));
  return networks.flatMap((network) => partsIn(network, 'subnets')).find((one) => sameID(one.id, id));
}

/** Private addresses that are given out of a subnet, and to which part of which resource. */
export function addressesIn(subnetID: string, cloud: Pick<CloudView, 'all'>): { from: string; address: string }[] {
  return cloud
    .all()
    .flatMap(partsOf)
    .flatMap(({ id, properties }) => {
      const { subnet, privateIPAddress: address } = properties as { subnet?: { id?: string }; privateIPAddress?: string };
      return address !== undefined && subnet?.id !== undefined && sameID(subnet.id, subnetID) ? [{ from: id, address }] : [];
    });
}

/** The first address of a subnet that is free; undefined = none is. @param family 4 or 6 */
export function freeAddress(subnet: Part, taken: readonly string[], family: 4 | 6): string | undefined {
  const prefix = prefixesOf(subnet).find((one) => one.includes(':') === (family === 6));
  if (prefix === undefined) return undefined;
  const [first] = ipaddr.parseCIDR(prefix);
  const bytes = first.toByteArray();
  for (let offset = 4; offset < Math.min(sizeOf(prefix) - 1, 60_000); offset++) {
    const next = ipaddr.fromByteArray([...bytes.slice(0, -2), ...twoBytes(bytes, offset)]).toString();
    if (!taken.includes(next)) return next;
  }
  return undefined;
}

function twoBytes(bytes: number[], offset: number): number[] {
  const [high = 0, low = 0] = bytes.slice(-2);
  const sum = high * 256 + low + offset;
  return [Math.floor(sum / 256), sum % 256];
}

function prefixesOf({ properties }: Part): string[] {
  const { addressPrefix, addressPrefixes = [] } = properties as JsonObject & { addressPrefix?: string; addressPrefixes?: string[] };
  return addressPrefix === undefined ? addressPrefixes : [addressPrefix];
}

function contains(prefix: string, address: string): boolean {
  const parsed = ipaddr.parse(address);
  const range = ipaddr.parseCIDR(prefix);
  return parsed.kind() === range[0].kind() && parsed.match(range);
}

function sizeOf(prefix: string): number {
  const [address, bits] = ipaddr.parseCIDR(prefix);
  return 2 ** Math.min(30, (address.kind() === 'ipv4' ? 32 : 128) - bits);
}
