import type { Address, NetworkInterface } from '@aws-sdk/client-ec2';
import type { Problem } from '../../provider';
import { holderOf, TAG } from '../tags';
import type { Api } from './description';
import { emptyWhenGone } from './elb-tags';

/** An Elastic IP address on something that is not this cluster's to take it from. */
interface HeldAddress {
  id: string;
  address: string;
  /** In words. */
  holder: string;
}

/**
 * Elastic IP addresses that something else than this cluster's load balancers has: AWS would refuse them. A load balancer of the cluster's gives them up when
 * it goes (R-46), and what is not found any more is letting go of them. No call where none of them is on anything.
 * @param found as DescribeAddresses gives them
 */
export async function heldElsewhere(found: readonly Address[], clusterID: string, api: Omit<Api, 'classic'>): Promise<Problem | undefined> {
  const taken = found.filter(({ InstanceId, NetworkInterfaceId }) => Boolean(InstanceId) || Boolean(NetworkInterfaceId));
  if (taken.length === 0) return undefined;
  const ids = taken.flatMap(({ NetworkInterfaceId }) => NetworkInterfaceId || []);
  const filters = [{ Name: 'network-interface-id', Values: ids }];
  const interfaces = ids.length === 0 ? [] : await api.ec2.networkInterfaces(filters, api.options);
  const held = await Promise.all(taken.map((address) => heldBy(address, interfaces, { ...api, clusterID })));
  return problemOf(held.filter((one) => one !== undefined));
}

async function heldBy(
  { AllocationId: id = '', PublicIp: address = '', InstanceId, NetworkInterfaceId }: Address,
  interfaces: readonly NetworkInterface[],
  api: Omit<Api, 'classic'> & { clusterID: string },
): Promise<HeldAddress | undefined> {
  if (InstanceId) return { id, address, holder: `instance ${InstanceId}` };
  const on = interfaces.find((one) => one.NetworkInterfaceId === NetworkInterfaceId);
  if (on === undefined) return undefined;
  const balancer = networkBalancerOf(on);
  const holder = balancer === undefined ? ownerOf(on) : await foreignBalancer(balancer, api);
  return holder === undefined ? undefined : { id, address, holder };
}

/** What AWS writes on the interfaces of a Network load balancer: `ELB net/<name>/<id>`. */
function networkBalancerOf({ Description = '' }: NetworkInterface): string | undefined {
  return /^ELB net\/([^/]+)\//.exec(Description)?.[1];
}

/** Whose an interface is, in words: instances and NAT gateways by their ids, all else as AWS describes it. */
function ownerOf({ NetworkInterfaceId = '', Description = '', Attachment }: NetworkInterface): string {
  if (Attachment?.InstanceId) return `instance ${Attachment.InstanceId}`;
  const [gateway] = /\bnat-[0-9a-f]+\b/.exec(Description) ?? [];
  if (gateway !== undefined) return `NAT gateway ${gateway}`;
  return `network interface ${NetworkInterfaceId}${Description === '' ? '' : ` (${Description})`}`;
}

/** In words; undefined = it is this cluster's, or is gone. */
async function foreignBalancer(
  name: string,
  { elb, options, clusterID }: Omit<Api, 'classic'> & { clusterID: string },
): Promise<string | undefined> {
  const [found] = await emptyWhenGone(elb.loadBalancers({ Names: [name] }, options));
  const tags = found?.LoadBalancerArn === undefined ? undefined : await elb.tagsOf(found.LoadBalancerArn, options);
  if (tags === undefined || (tags[TAG.clusterID] === clusterID && tags[TAG.released] === undefined)) return undefined;
  return `load balancer ${name}, which belongs to ${holderOf(tags)}`;
}

function problemOf(held: readonly HeldAddress[]): Problem | undefined {
  if (held.length === 0) return undefined;
  const each = held.map(({ id, address, holder }) => `${id} (${address}) is on ${holder}`).join('; ');
  const [what, them] = held.length === 1 ? ['the Elastic IP address', 'it'] : ['the Elastic IP addresses', 'them'];
  const message = `${what} asked for can't be used: ${each}. Take ${them} off there, or name others`;
  return { severity: 'Error', field: 'spec.aws.eipAllocationIDs', value: held.map(({ id }) => id).join(', '), message };
}
