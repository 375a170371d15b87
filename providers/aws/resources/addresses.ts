import { isIP } from 'node:net';
import type { Address, Subnet } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { maskedCIDR } from '../../../crds';
import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { Problem } from '../../provider';
import { CHOICE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import { chooseSubnets } from '../load-balancers/subnets';
import { heldElsewhere } from './address-holders';
import type { Api } from './description';
import { emptyWhenGone } from './elb-tags';
import { subnetMapping } from './load-balancer';
import { describeSubnet } from './subnets';
import type { Vpcs } from './vpc-listings';

/** Type token of the addresses that a load balancer asks for. */
export const ADDRESSES = CHOICE.addresses;

const schema = z.strictObject({
  vpcId: z.string().min(1),
  /** Name of the load balancer in AWS. */
  loadBalancer: z.string().min(1),
  dualStack: z.boolean(),
  /** As the load balancer asks for them. */
  subnetMappings: z.array(subnetMapping).min(1),
});
export type AddressesInputs = z.infer<typeof schema>;

/**
 * Addresses that exist only once, with their subnets, looked at before the load balancer is made with them: what is there must be deleted first, and
 * nobody were served after that if AWS refused the new one for a subnet or an address that is not there, or that something else has
 * (hashicorp/terraform-provider-aws#15031). Looked at once, they stand in the state. It stands for nothing in the cloud.
 */
export function addresses(
  { ec2, elb }: Pick<Api, 'ec2' | 'elb'>,
  vpcs: Vpcs,
  { region, clusterID }: { region: string; clusterID: string },
): ResourceType {
  const misplacedIn = async (asked: AddressesInputs, signal: AbortSignal): Promise<Problem | undefined> => {
    const { vpcId, loadBalancer } = asked;
    // What goes by it is deleted first: a listing of a moment ago won't do.
    const all = await vpcs.subnets(vpcId, vpcs.now());
    if (misplaced(asked, all, { region }) === undefined) return undefined;
    // It may be there by now.
    const there = await emptyWhenGone(elb.loadBalancers({ Names: [loadBalancer] }, { signal }));
    const standsIn = there.flatMap(({ AvailabilityZones = [] }) => AvailabilityZones.map(({ SubnetId = '' }) => SubnetId));
    return misplaced(asked, all, { region, standsIn });
  };
  const found = ({ subnetMappings }: AddressesInputs, signal: AbortSignal): Promise<Address[]> => {
    const Values = allocationsOf(subnetMappings);
    return Values.length === 0 ? Promise.resolve([]) : ec2.addresses([{ Name: 'allocation-id', Values }], { signal });
  };
  const look = async (inputs: JsonObject, { urn, signal }: ResourceContext): Promise<AddressesInputs> => {
    const asked = schema.parse(inputs);
    const refuse = (problem: Problem | undefined, code: ErrorCode): void => {
      if (problem !== undefined) throw new OperatorError(code, problem.message, { field: problem.field, resource: urn });
    };
    refuse(await misplacedIn(asked, signal), 'Invalid');
    const there = await found(asked, signal);
    refuse(unallocated(asked, there), 'Invalid');
    refuse(await heldElsewhere(there, clusterID, { ec2, elb, options: { signal } }), 'Taken');
    return asked;
  };
  return {
    token: ADDRESSES,
    replaceOn: ['vpcId', 'subnetMappings'],
    create: async (inputs, context) => {
      const { subnetMappings } = await look(inputs, context);
      return { id: subnetMappings.map(({ subnetId }) => subnetId).join(','), outputs: inputs };
    },
    foresee: async (inputs, context, olds) => {
      if (olds === undefined) await look(inputs, context);
      return {};
    },
    read: () => Promise.resolve({ inputs: {}, outputs: {} }),
    update: (_id, _olds, news) => Promise.resolve({ outputs: news }),
    delete: () => Promise.resolve(),
  };
}

function allocationsOf(subnetMappings: AddressesInputs['subnetMappings']): string[] {
  return subnetMappings.flatMap(({ allocationId }) => allocationId ?? []);
}

function unallocated({ subnetMappings }: AddressesInputs, found: readonly Address[]): Problem | undefined {
  const missing = allocationsOf(subnetMappings).filter((id) => !found.some(({ AllocationId }) => AllocationId === id));
  const value = missing.join(', ');
  const message = `there is no Elastic IP address with the allocation ${value} in the account and region. Allocate it, or name another one.`;
  return missing.length === 0 ? undefined : { severity: 'Error', field: 'spec.aws.eipAllocationIDs', value, message };
}

/** Why it can't be in these subnets with these addresses. */
function misplaced(
  { subnetMappings, dualStack }: AddressesInputs,
  all: readonly Subnet[],
  { region, standsIn = [] }: { region: string; standsIn?: readonly string[] },
): Problem | undefined {
  const named = subnetMappings.map(({ subnetId }) => subnetId);
  const subnets = all.map((subnet) => describeSubnet(subnet, region));
  const choice = chooseSubnets(subnets, [], { scheme: 'Internal', named, dualStack, standsIn });
  if ('problem' in choice) return choice.problem;
  const strays = subnetMappings.flatMap(({ subnetId, privateIpv4Address, ipv6Address }) => {
    const ranges = rangesOf(all.find(({ SubnetId }) => SubnetId === subnetId));
    const asked = [privateIpv4Address, ipv6Address].filter((address) => address !== undefined);
    return asked.filter((address) => !isIn(address, ranges)).map((address) => outside(address, subnetId));
  });
  return strays[0];
}

function outside(value: string, subnetID: string): Problem {
  const field = isIP(value) === 6 ? 'spec.aws.ipv6Addresses' : 'spec.aws.privateIPv4Addresses';
  const message = `${value} is in no range of ${subnetID}. Name an address of the subnet that has the same place in the list.`;
  return { severity: 'Error', field, value, message };
}

function rangesOf({ CidrBlock, Ipv6CidrBlockAssociationSet = [] }: Subnet = {}): string[] {
  return [CidrBlock, ...Ipv6CidrBlockAssociationSet.map(({ Ipv6CidrBlock }) => Ipv6CidrBlock)].filter((range) => range !== undefined);
}

function isIn(address: string, ranges: readonly string[]): boolean {
  return ranges.some((range) => {
    const [network = '', bits] = range.split('/');
    return isIP(network) === isIP(address) && maskedCIDR(`${address}/${bits}`) === maskedCIDR(range);
  });
}
