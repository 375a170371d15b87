import type * as sdkTypes from '@aws-sdk/client-ec2';
import { AwsService, type AwsClientOptions } from './aws-client';
import type { CallOptions } from '../../client-options';

type Sdk = typeof sdkTypes;

/** The most that one page gives. */
const PAGE_SIZE = 1000;
const TABLES_PAGE_SIZE = 100;
const VOLUMES_PAGE_SIZE = 500;

/** Which side of a security group a rule is on. */
export type Direction = 'Ingress' | 'Egress';

/** The part of the EC2 API that is used here: instances, volumes, routes, security groups, subnets, addresses. Every method throws as AwsService. */
export class Ec2 {
  private readonly service: AwsService<Sdk, sdkTypes.EC2Client>;

  constructor(options: AwsClientOptions) {
    this.service = new AwsService(
      {
        iamPrefix: 'ec2',
        load: () => import('@aws-sdk/client-ec2'),
        connect: (sdk, config) => new sdk.EC2Client(config),
        endpoint: ({ endpoints }) => endpoints?.EC2,
        signing: ({ signing }) => signing?.EC2,
      },
      options,
    );
  }

  get retryPolicy(): AwsService<Sdk, sdkTypes.EC2Client>['retryPolicy'] {
    return this.service.retryPolicy;
  }

  instances(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.Instance[]> {
    return this.service.pages(async (token) => {
      const { Reservations, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeInstances',
        send: (sdk, client, prepare, signal) =>
          client.send(prepare(new sdk.DescribeInstancesCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken: token })), signal),
      });
      return { items: Reservations?.flatMap(({ Instances = [] }) => Instances), next: NextToken };
    });
  }

  volumes(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.Volume[]> {
    return this.service.pages(async (token) => {
      const { Volumes, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeVolumes',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeVolumesCommand({ Filters: filters, MaxResults: VOLUMES_PAGE_SIZE, NextToken: token })),
            signal,
          ),
      });
      return { items: Volumes, next: NextToken };
    });
  }

  networkInterfaces(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.NetworkInterface[]> {
    return this.service.pages(async (token) => {
      const { NetworkInterfaces, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeNetworkInterfaces',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeNetworkInterfacesCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken: token })),
            signal,
          ),
      });
      return { items: NetworkInterfaces, next: NextToken };
    });
  }

  /** Lets an interface pass what is not addressed to itself, or not. */
  async setSourceDestCheck(networkInterfaceID: string, check: boolean, options: CallOptions): Promise<void> {
    const input = { NetworkInterfaceId: networkInterfaceID, SourceDestCheck: { Value: check } };
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyNetworkInterfaceAttribute',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyNetworkInterfaceAttributeCommand(input)), signal),
    });
  }

  routeTables(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.RouteTable[]> {
    return this.service.pages(async (token) => {
      const { RouteTables, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeRouteTables',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeRouteTablesCommand({ Filters: filters, MaxResults: TABLES_PAGE_SIZE, NextToken: token })),
            signal,
          ),
      });
      return { items: RouteTables, next: NextToken };
    });
  }

  async createRoute(input: sdkTypes.CreateRouteCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'create',
      operation: 'CreateRoute',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateRouteCommand(input)), signal),
    });
  }

  async replaceRoute(input: sdkTypes.ReplaceRouteCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ReplaceRoute',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ReplaceRouteCommand(input)), signal),
    });
  }

  async deleteRoute(input: sdkTypes.DeleteRouteCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'delete',
      operation: 'DeleteRoute',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteRouteCommand(input)), signal),
    });
  }

  /** Of those of the given instances for which AWS has it. */
  instanceTopology(ids: string[], options: CallOptions = {}): Promise<sdkTypes.InstanceTopology[]> {
    return this.service.pages(async (token) => {
      const { Instances, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeInstanceTopology',
        send: (sdk, client, prepare, signal) =>
          client.send(prepare(new sdk.DescribeInstanceTopologyCommand({ InstanceIds: ids, NextToken: token })), signal),
      });
      return { items: Instances, next: NextToken };
    });
  }

  /** Every zone of the region that the account may use. */
  async availabilityZones(options: CallOptions = {}): Promise<sdkTypes.AvailabilityZone[]> {
    const { AvailabilityZones = [] } = await this.service.call({
      ...options,
      verb: 'list',
      operation: 'DescribeAvailabilityZones',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeAvailabilityZonesCommand({})), signal),
    });
    return AvailabilityZones;
  }

  subnets(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.Subnet[]> {
    return this.service.pages(async (token) => {
      const { Subnets, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeSubnets',
        send: (sdk, client, prepare, signal) =>
          client.send(prepare(new sdk.DescribeSubnetsCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken: token })), signal),
      });
      return { items: Subnets, next: NextToken };
    });
  }

  /** Elastic IP addresses. */
  async addresses(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.Address[]> {
    const { Addresses = [] } = await this.service.call({
      ...options,
      verb: 'list',
      operation: 'DescribeAddresses',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeAddressesCommand({ Filters: filters })), signal),
    });
    return Addresses;
  }

  securityGroups(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.SecurityGroup[]> {
    return this.service.pages(async (token) => {
      const { SecurityGroups, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeSecurityGroups',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeSecurityGroupsCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken: token })),
            signal,
          ),
      });
      return { items: SecurityGroups, next: NextToken };
    });
  }

  /** @returns id and ARN of the new group, which lets everything out */
  createSecurityGroup(
    input: sdkTypes.CreateSecurityGroupCommandInput,
    options: CallOptions,
  ): Promise<sdkTypes.CreateSecurityGroupCommandOutput> {
    return this.service.call({
      ...options,
      verb: 'create',
      operation: 'CreateSecurityGroup',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateSecurityGroupCommand(input)), signal),
    });
  }

  async deleteSecurityGroup(id: string, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'delete',
      operation: 'DeleteSecurityGroup',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteSecurityGroupCommand({ GroupId: id })), signal),
    });
  }

  securityGroupRules(filters: sdkTypes.Filter[], options: CallOptions = {}): Promise<sdkTypes.SecurityGroupRule[]> {
    return this.service.pages(async (token) => {
      const { SecurityGroupRules, NextToken } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeSecurityGroupRules',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeSecurityGroupRulesCommand({ Filters: filters, MaxResults: PAGE_SIZE, NextToken: token })),
            signal,
          ),
      });
      return { items: SecurityGroupRules, next: NextToken };
    });
  }

  /** @returns the rules that it made */
  async authorize(
    direction: Direction,
    input: sdkTypes.AuthorizeSecurityGroupEgressCommandInput,
    options: CallOptions,
  ): Promise<sdkTypes.SecurityGroupRule[]> {
    const { SecurityGroupRules = [] } = await this.service.call({
      ...options,
      verb: 'create',
      operation: `AuthorizeSecurityGroup${direction}`,
      send: (sdk, client, prepare, signal) =>
        direction === 'Ingress'
          ? client.send(prepare(new sdk.AuthorizeSecurityGroupIngressCommand(input)), signal)
          : client.send(prepare(new sdk.AuthorizeSecurityGroupEgressCommand(input)), signal),
    });
    return SecurityGroupRules;
  }

  async revoke(direction: Direction, groupID: string, ruleIDs: readonly string[], options: CallOptions): Promise<void> {
    const input = { GroupId: groupID, SecurityGroupRuleIds: [...ruleIDs] };
    await this.service.call<unknown>({
      ...options,
      verb: 'delete',
      operation: `RevokeSecurityGroup${direction}`,
      send: (sdk, client, prepare, signal) =>
        direction === 'Ingress'
          ? client.send(prepare(new sdk.RevokeSecurityGroupIngressCommand(input)), signal)
          : client.send(prepare(new sdk.RevokeSecurityGroupEgressCommand(input)), signal),
    });
  }

  async modifySecurityGroupRule(
    groupID: string,
    ruleID: string,
    rule: sdkTypes.SecurityGroupRuleRequest,
    options: CallOptions,
  ): Promise<void> {
    const input = { GroupId: groupID, SecurityGroupRules: [{ SecurityGroupRuleId: ruleID, SecurityGroupRule: rule }] };
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifySecurityGroupRules',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifySecurityGroupRulesCommand(input)), signal),
    });
  }

  async createTags(ids: string[], tags: sdkTypes.Tag[], options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'CreateTags',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateTagsCommand({ Resources: ids, Tags: tags })), signal),
    });
  }

  async deleteTags(ids: string[], keys: string[], options: CallOptions): Promise<void> {
    const Tags = keys.map((Key) => ({ Key }));
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'DeleteTags',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteTagsCommand({ Resources: ids, Tags })), signal),
    });
  }

  forgetCredentials(): void {
    this.service.forgetCredentials();
  }

  close(): void {
    this.service.close();
  }
}
