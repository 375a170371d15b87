import type { RouteTable as Ec2RouteTable, Subnet as Ec2Subnet } from '@aws-sdk/client-ec2';
import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import { CHOICE } from '../../resource-provider/own-package';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { Problem } from '../../provider';
import type { Ec2 } from '../client/ec2';
import {
  chooseSubnets,
  misfitOf,
  type RouteTable,
  type Subnet,
  type SubnetChoice,
  type SubnetWish,
  type ZoneType,
} from '../load-balancers/subnets';
import { fromAwsTags } from '../tags';
import type { Vpcs } from './vpc-listings';

/** Type token of a choice of subnets. */
export const SUBNETS = CHOICE.subnets;

const schema = z.strictObject({
  vpcId: z.string().min(1),
  internal: z.boolean(),
  /** Ids, or values of the tag Name; absent = found by tags and route tables. */
  named: z.array(z.string()).min(1).optional(),
  clusterName: z.string().optional(),
  fallbackSubnetId: z.string().optional(),
  dualStack: z.boolean(),
  /** How many addresses were asked for. */
  addresses: z.number().int().optional(),
});
export type SubnetsInputs = z.infer<typeof schema>;

/**
 * The choice of a load balancer's subnets. It is made once and stands in the state from then on, because a Network Load Balancer keeps its subnets:
 * tags and route tables that change later move nothing. It stands for nothing in the cloud.
 */
export function subnets(ec2: Ec2, vpcs: Vpcs, region: string): ResourceType {
  const choiceOf = async (inputs: SubnetsInputs, since?: number): Promise<SubnetChoice> => {
    const byTables = inputs.named === undefined && !inputs.internal;
    const [all, tables] = await Promise.all([vpcs.subnets(inputs.vpcId, since), byTables ? vpcs.routeTables(inputs.vpcId, since) : []]);
    return chooseSubnets(
      all.map((subnet) => describeSubnet(subnet, region)),
      tables.map(describeTable),
      wishOf(inputs),
    );
  };
  const choose = async (inputs: SubnetsInputs, { urn }: ResourceContext): Promise<string[]> => {
    const asked = vpcs.now();
    const known = await choiceOf(inputs);
    // Somebody may have mended a moment ago what stood in the way.
    const choice = 'problem' in known ? await choiceOf(inputs, asked) : known;
    if ('problem' in choice) throw failure(choice.problem, urn);
    return choice.subnets.map(({ id }) => id);
  };
  return {
    token: SUBNETS,
    replaceOn: ['vpcId', 'internal', 'named'],
    create: async (inputs, context) => {
      const subnetIds = await choose(schema.parse(inputs), context);
      return { id: subnetIds.join(','), outputs: { ...inputs, subnetIds } };
    },
    foresee: async (inputs, context, olds) => (olds === undefined ? { subnetIds: await choose(schema.parse(inputs), context) } : {}),
    read: (id) => Promise.resolve({ inputs: {}, outputs: { subnetIds: id.split(',') } }),
    update: async (id, _olds, news, { urn, signal }) => {
      const subnetIds = id.split(',');
      const found = await ec2.subnets([{ Name: 'subnet-id', Values: subnetIds }], { signal });
      const problem = misfitOf(
        found.map((subnet) => describeSubnet(subnet, region)),
        wishOf(schema.parse(news)),
      );
      if (problem !== undefined) throw failure(problem, urn);
      return { outputs: { ...news, subnetIds } };
    },
    delete: () => Promise.resolve(),
  };
}

function wishOf({ internal, named, clusterName, fallbackSubnetId, dualStack, addresses }: SubnetsInputs): SubnetWish {
  return {
    scheme: internal ? 'Internal' : 'Public',
    dualStack,
    ...(named !== undefined && { named }),
    ...(clusterName !== undefined && { clusterName }),
    ...(fallbackSubnetId !== undefined && { fallbackID: fallbackSubnetId }),
    ...(addresses !== undefined && { addresses }),
  };
}

function failure({ message, field }: Problem, resource: string): OperatorError {
  return new OperatorError('Invalid', message, { field, resource });
}

/** Pure. */
export function describeSubnet(subnet: Ec2Subnet, region: string): Subnet {
  const { SubnetId: id = '', VpcId: vpcID = '', AvailabilityZone: zone = '', AvailableIpAddressCount = 0 } = subnet;
  return {
    id,
    vpcID,
    zone,
    zoneType: subnet.OutpostArn === undefined ? zoneTypeOf(zone, region) : 'outpost',
    tags: fromAwsTags(subnet.Tags),
    availableAddresses: AvailableIpAddressCount,
    hasIPv6: rangesOf(subnet, 'IPv6').length > 0,
  };
}

/** A subnet's ranges of one family: of IPv6 those that it has by now. Pure. */
export function rangesOf({ CidrBlock, Ipv6CidrBlockAssociationSet = [] }: Ec2Subnet, family: 'IPv4' | 'IPv6'): string[] {
  if (family === 'IPv4') return CidrBlock === undefined ? [] : [CidrBlock];
  const present = Ipv6CidrBlockAssociationSet.filter(({ Ipv6CidrBlockState }) => Ipv6CidrBlockState?.State === 'associated');
  return present.map(({ Ipv6CidrBlock = '' }) => Ipv6CidrBlock);
}

/** AWS calls the zones of a region after it and a letter; those of cities and carriers have more in their names. */
function zoneTypeOf(zone: string, region: string): ZoneType {
  if (zone.startsWith(region) && /^[a-z]$/.test(zone.slice(region.length))) return 'availability-zone';
  return zone.includes('-wl') ? 'wavelength-zone' : 'local-zone';
}

function describeTable({ RouteTableId: id = '', Associations = [], Routes = [] }: Ec2RouteTable): RouteTable {
  return {
    id,
    subnetIDs: Associations.flatMap(({ SubnetId }) => SubnetId ?? []),
    isMain: Associations.some(({ Main }) => Main === true),
    gatewayIDs: Routes.flatMap(({ GatewayId }) => GatewayId ?? []),
  };
}
