import { ElasticLoadBalancing, type LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import {
  AllocateAddressCommand,
  AssociateAddressCommand,
  AssociateSubnetCidrBlockCommand,
  AttachInternetGatewayCommand,
  AttachNetworkInterfaceCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateInternetGatewayCommand,
  CreateNetworkInterfaceCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateTagsCommand,
  CreateVpcCommand,
  DeleteRouteTableCommand,
  DeleteSecurityGroupCommand,
  DeleteTagsCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DetachNetworkInterfaceCommand,
  DisassociateAddressCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
  RevokeSecurityGroupIngressCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
  type Instance,
} from '@aws-sdk/client-ec2';
import {
  AddListenerCertificatesCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DeleteTargetGroupCommand,
  DescribeListenerCertificatesCommand,
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
  ModifyLoadBalancerAttributesCommand,
  RemoveListenerCertificatesCommand,
  SetSubnetsCommand,
  type LoadBalancer,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { CloudProviderSpecInput } from '../../../crds';
import type { AwsClientOptions } from '../../../providers/aws/client/aws-client';
import type { AwsSettings } from '../../../providers/aws/client/settings';
import type { ConnectContext, Target } from '../../../providers/provider';

export const REGION = 'eu-central-1';
/** What names of security groups of Nodes begin with. */
const NODES = 'nodes-';

/** An account of moto's with a VPC and subnets in two zones; what a cluster's installer would have made. */
export class MotoAccount {
  vpcID = '';
  subnetIDs: string[] = [];
  readonly settings: AwsSettings;
  private readonly ec2: EC2Client;
  private readonly elb: ElasticLoadBalancingV2Client;
  private groups = 0;

  constructor(private readonly url: string) {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    this.settings = { region: REGION, endpoints: { EC2: url, ElasticLoadBalancingV2: url }, credentials };
    this.ec2 = new EC2Client({ region: REGION, endpoint: url, credentials });
    this.elb = new ElasticLoadBalancingV2Client({ region: REGION, endpoint: url, credentials });
  }

  async prepare(): Promise<void> {
    const { Vpc } = await this.ec2.send(new CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }));
    this.vpcID = Vpc?.VpcId ?? '';
    for (const zone of ['a', 'b']) await this.addSubnet(zone);
    this.subnetIDs.sort();
  }

  /** Another one. @returns its id */
  async makeVPC(CidrBlock: string): Promise<string> {
    return (await this.ec2.send(new CreateVpcCommand({ CidrBlock }))).Vpc?.VpcId ?? '';
  }

  /** The newest is the last of `subnetIDs`. */
  async addSubnet(zone: string): Promise<void> {
    const input = { VpcId: this.vpcID, CidrBlock: `10.0.${this.subnetIDs.length}.0/24`, AvailabilityZone: `${REGION}${zone}` };
    const { Subnet } = await this.ec2.send(new CreateSubnetCommand(input));
    this.subnetIDs.push(Subnet?.SubnetId ?? '');
  }

  /** Gives each subnet a range of IPv6, by its place in `subnetIDs`. */
  async addIPv6(): Promise<void> {
    for (const [index, SubnetId] of this.subnetIDs.entries())
      await this.ec2.send(new AssociateSubnetCidrBlockCommand({ SubnetId, Ipv6CidrBlock: `2001:db8:${index}::/64` }));
  }

  /** An Elastic IP address. @returns its allocation id */
  async makeAddress(): Promise<string> {
    return (await this.ec2.send(new AllocateAddressCommand({ Domain: 'vpc' }))).AllocationId ?? '';
  }

  /** Lets everybody in to a port. */
  async letEverybodyIn(group: string, port: number, description: string, tags: Record<string, string> = {}): Promise<void> {
    const IpPermissions = [
      { IpProtocol: 'tcp', FromPort: port, ToPort: port, IpRanges: [{ CidrIp: '0.0.0.0/0', Description: description }] },
    ];
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const TagSpecifications = Tags.length === 0 ? [] : [{ ResourceType: 'security-group-rule' as const, Tags }];
    await this.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: group, IpPermissions, TagSpecifications }));
  }

  /** Ports that a group lets everybody in to. */
  async openPorts(group: string): Promise<(number | undefined)[]> {
    const Filters = [{ Name: 'group-id', Values: [group] }];
    const { SecurityGroupRules = [] } = await this.ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
    const open = SecurityGroupRules.filter(({ IsEgress, CidrIpv4 }) => IsEgress !== true && CidrIpv4 === '0.0.0.0/0');
    return open.map(({ FromPort }) => FromPort).sort();
  }

  /** An Elastic IP address that an instance has. @returns its allocation, the instance's id, and how it is taken off there */
  async makeAddressOfInstance(): Promise<{ id: string; instance: string; free: () => Promise<unknown> }> {
    const [id, [machine]] = [await this.makeAddress(), await this.makeInstances(1, 'somebody-else')];
    const instance = machine?.providerID.split('/').at(-1) ?? '';
    const { AssociationId } = await this.ec2.send(new AssociateAddressCommand({ AllocationId: id, InstanceId: instance }));
    return { id, instance, free: () => this.ec2.send(new DisassociateAddressCommand({ AssociationId })) };
  }

  /** Every subnet of the VPC gets a way to the internet. */
  async openToInternet(): Promise<void> {
    const { InternetGateway } = await this.ec2.send(new CreateInternetGatewayCommand({}));
    const GatewayId = InternetGateway?.InternetGatewayId ?? '';
    await this.ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: GatewayId, VpcId: this.vpcID }));
    const Filters = [{ Name: 'vpc-id', Values: [this.vpcID] }];
    const { RouteTables = [] } = await this.ec2.send(new DescribeRouteTablesCommand({ Filters }));
    const route = { RouteTableId: RouteTables[0]?.RouteTableId, DestinationCidrBlock: '0.0.0.0/0', GatewayId };
    await this.ec2.send(new CreateRouteCommand(route));
  }

  clientOptions(): AwsClientOptions {
    return { settings: this.settings };
  }

  /** A CloudProvider of this account, whose credentials are in the Secret `aws`. */
  providerSpec(aws: CloudProviderSpecInput['aws'] = {}): CloudProviderSpecInput {
    const { vpcID, subnetIDs, url } = this;
    const endpoints = (['EC2', 'ElasticLoadBalancingV2', 'STS'] as const).map((service) => ({ service, url }));
    const credentialsSecretRef = { name: 'aws' };
    return { region: REGION, aws: { vpcID, subnetIDs, clusterName: 'prod', endpoints, credentialsSecretRef, ...aws } };
  }

  /** The file of cloud-provider-aws for this account. */
  upstreamConfig(url = this.url): string {
    const overrides = ['ec2', 'elasticloadbalancing'].map((service, index) =>
      [`[ServiceOverride "${index}"]`, `Service=${service}`, `Region=${REGION}`, `URL=${url}`, `SigningRegion=${REGION}`].join('\n'),
    );
    return [`[Global]\nZone=${REGION}a\nVPC=${this.vpcID}\nKubernetesClusterID=prod`, ...overrides].join('\n');
  }

  connectContext(clusterID: string): ConnectContext {
    return { clusterID, providerName: 'aws', readSecret: (_name, keys) => Promise.resolve(keys.map(() => 'test')) };
  }

  async deleteLoadBalancer(arn: string): Promise<void> {
    await this.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
  }

  async deleteTargetGroups(): Promise<void> {
    const { TargetGroups = [] } = await this.elb.send(new DescribeTargetGroupsCommand({}));
    for (const { TargetGroupArn } of TargetGroups) await this.elb.send(new DeleteTargetGroupCommand({ TargetGroupArn }));
  }

  async deleteListeners(LoadBalancerArn: string): Promise<void> {
    const { Listeners = [] } = await this.elb.send(new DescribeListenersCommand({ LoadBalancerArn }));
    for (const { ListenerArn } of Listeners) await this.elb.send(new DeleteListenerCommand({ ListenerArn }));
  }

  async setSubnets(LoadBalancerArn: string, Subnets: string[]): Promise<void> {
    await this.elb.send(new SetSubnetsCommand({ LoadBalancerArn, Subnets }));
  }

  async loadBalancers(): Promise<LoadBalancer[]> {
    return (await this.elb.send(new DescribeLoadBalancersCommand({}))).LoadBalancers ?? [];
  }

  /** Instance ids behind each listener, by its port. */
  async targetsOf(loadBalancerArn: string): Promise<Record<number, string[]>> {
    const { Listeners = [] } = await this.elb.send(new DescribeListenersCommand({ LoadBalancerArn: loadBalancerArn }));
    const found: Record<number, string[]> = {};
    for (const { Port = 0, DefaultActions } of Listeners) {
      const TargetGroupArn = DefaultActions?.[0]?.TargetGroupArn;
      const { TargetHealthDescriptions = [] } = await this.elb.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
      found[Port] = TargetHealthDescriptions.map(({ Target: target }) => target?.Id ?? '').sort();
    }
    return found;
  }

  /** How much of what load balancers are made of there is; groups of Nodes, and those that AWS makes by itself, don't count. */
  async content(): Promise<{ loadBalancers: number; targetGroups: number; securityGroups: number }> {
    const { TargetGroups = [] } = await this.elb.send(new DescribeTargetGroupsCommand({}));
    const { SecurityGroups = [] } = await this.ec2.send(new DescribeSecurityGroupsCommand({}));
    const made = SecurityGroups.filter(({ GroupName = '' }) => GroupName !== 'default' && !GroupName.startsWith(NODES));
    return { loadBalancers: (await this.loadBalancers()).length, targetGroups: TargetGroups.length, securityGroups: made.length };
  }

  /** A security group for Nodes of the cluster `prod`. */
  async nodeGroup(): Promise<string> {
    const Tags = [{ Key: 'kubernetes.io/cluster/prod', Value: 'owned' }];
    const input = { GroupName: `${NODES}${++this.groups}`, Description: 'Nodes', VpcId: this.vpcID };
    const TagSpecifications = [{ ResourceType: 'security-group' as const, Tags }];
    return (await this.ec2.send(new CreateSecurityGroupCommand({ ...input, TagSpecifications }))).GroupId ?? '';
  }

  /** @returns its id */
  async makeGroup(name: string, tags: Record<string, string> = {}): Promise<string> {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const input = { GroupName: name, Description: name, VpcId: this.vpcID };
    const TagSpecifications = Tags.length === 0 ? [] : [{ ResourceType: 'security-group' as const, Tags }];
    return (await this.ec2.send(new CreateSecurityGroupCommand({ ...input, TagSpecifications }))).GroupId ?? '';
  }

  async deleteGroup(GroupId: string): Promise<void> {
    await this.ec2.send(new DeleteSecurityGroupCommand({ GroupId }));
  }

  /** @returns the id of the only security group whose name begins so */
  async groupNamed(start: string): Promise<string> {
    const { SecurityGroups = [] } = await this.ec2.send(new DescribeSecurityGroupsCommand({}));
    const [found, ...others] = SecurityGroups.filter(({ GroupName = '' }) => GroupName.startsWith(start));
    if (found === undefined || others.length > 0) throw new Error(`${others.length} security groups but one begin with ${start}`);
    return found.GroupId ?? '';
  }

  /** Lets one security group in to another. @returns how that is taken back */
  async letIn(source: string, group: string): Promise<() => Promise<void>> {
    const UserIdGroupPairs = [{ GroupId: source }];
    const rule = { GroupId: group, IpPermissions: [{ IpProtocol: 'tcp', FromPort: 8080, ToPort: 8080, UserIdGroupPairs }] };
    await this.ec2.send(new AuthorizeSecurityGroupIngressCommand(rule));
    return async () => void (await this.ec2.send(new RevokeSecurityGroupIngressCommand(rule)));
  }

  /** As many rules of somebody else's. */
  async fill(group: string, count: number): Promise<void> {
    const IpPermissions = Array.from({ length: count }, (_, port) => ({
      IpProtocol: 'tcp',
      FromPort: port + 1,
      ToPort: port + 1,
      IpRanges: [{ CidrIp: '192.0.2.0/24' }],
    }));
    await this.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: group, IpPermissions }));
  }

  /** What one security group lets in from another, such as `tcp 80-80`. */
  async rulesFrom(source: string, group: string): Promise<string[]> {
    const Filters = [{ Name: 'group-id', Values: [group] }];
    const { SecurityGroupRules = [] } = await this.ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
    const found = SecurityGroupRules.filter(({ ReferencedGroupInfo }) => ReferencedGroupInfo?.GroupId === source);
    return found.map(({ IpProtocol, FromPort, ToPort }) => `${IpProtocol} ${FromPort}-${ToPort}`).sort();
  }

  /** How many rules of a security group let somebody in. */
  async rulesOf(group: string): Promise<number> {
    const Filters = [{ Name: 'group-id', Values: [group] }];
    const { SecurityGroupRules = [] } = await this.ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
    return SecurityGroupRules.filter(({ IsEgress }) => IsEgress !== true).length;
  }

  /** A machine in the VPC that each account has. */
  async makeInstanceElsewhere(): Promise<Target> {
    const image = { ImageId: 'ami-12c6146b', InstanceType: 't3.large' as const };
    const { Instances = [] } = await this.ec2.send(new RunInstancesCommand({ ...image, MinCount: 1, MaxCount: 1 }));
    return targetOf(Instances[0] ?? {});
  }

  /** Machines of one cluster, as Nodes. */
  async makeInstances(count: number, clusterName: string, ...groups: string[]): Promise<Target[]> {
    const tags = [{ Key: `kubernetes.io/cluster/${clusterName}`, Value: 'owned' }];
    const { Instances = [] } = await this.ec2.send(
      new RunInstancesCommand({
        ImageId: 'ami-12c6146b',
        InstanceType: 't3.large',
        MinCount: count,
        MaxCount: count,
        SubnetId: this.subnetIDs[0],
        ...(groups.length > 0 && { SecurityGroupIds: groups }),
        TagSpecifications: [{ ResourceType: 'instance', Tags: tags }],
      }),
    );
    return Instances.map(targetOf);
  }

  async terminate(target: Target): Promise<void> {
    await this.ec2.send(new TerminateInstancesCommand({ InstanceIds: [target.providerID.split('/').at(-1) ?? ''] }));
  }

  /** A route table of the VPC. @param clusterName it is tagged for that cluster */
  async makeRouteTable(clusterName?: string): Promise<string> {
    const { RouteTable } = await this.ec2.send(new CreateRouteTableCommand({ VpcId: this.vpcID }));
    const id = RouteTable?.RouteTableId ?? '';
    if (clusterName !== undefined) await this.tag(id, `kubernetes.io/cluster/${clusterName}`, 'shared');
    return id;
  }

  async deleteRouteTable(RouteTableId: string): Promise<void> {
    await this.ec2.send(new DeleteRouteTableCommand({ RouteTableId }));
  }

  /** The network interface that the route to a destination leads to. */
  async nextHop(routeTableID: string, destination: string): Promise<string | undefined> {
    const { RouteTables } = await this.ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [routeTableID] }));
    return RouteTables?.[0]?.Routes?.find(({ DestinationCidrBlock }) => DestinationCidrBlock === destination)?.NetworkInterfaceId;
  }

  /** Another network interface of an instance. @returns its id */
  async attachInterface(instanceID: string, address: string): Promise<string> {
    const input = { SubnetId: this.subnetIDs[0], PrivateIpAddress: address };
    const { NetworkInterface } = await this.ec2.send(new CreateNetworkInterfaceCommand(input));
    const { NetworkInterfaceId: interfaceID = '' } = NetworkInterface ?? {};
    await this.ec2.send(new AttachNetworkInterfaceCommand({ NetworkInterfaceId: interfaceID, InstanceId: instanceID, DeviceIndex: 1 }));
    return interfaceID;
  }

  async detachInterface(interfaceID: string): Promise<void> {
    const { NetworkInterfaces = [] } = await this.ec2.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [interfaceID] }));
    const AttachmentId = NetworkInterfaces[0]?.Attachment?.AttachmentId;
    await this.ec2.send(new DetachNetworkInterfaceCommand({ AttachmentId }));
  }

  async classicLoadBalancers(): Promise<LoadBalancerDescription[]> {
    const client = new ElasticLoadBalancing({
      region: REGION,
      endpoint: this.url,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const { LoadBalancerDescriptions = [] } = await client.describeLoadBalancers({});
    client.destroy();
    return LoadBalancerDescriptions;
  }

  /** @returns the ARN of a server certificate of that name */
  async uploadCertificate(name: string): Promise<string> {
    const query = { Action: 'UploadServerCertificate', Version: '2010-05-08', ServerCertificateName: name };
    const body = new URLSearchParams({ ...query, CertificateBody: 'certificate', PrivateKey: 'key' });
    const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0';
    const answer = await (await fetch(this.url, { method: 'POST', headers: { authorization }, body })).text();
    return /<Arn>([^<]+)</.exec(answer)?.[1] ?? '';
  }

  async unprotect(LoadBalancerArn: string): Promise<void> {
    const Attributes = [{ Key: 'deletion_protection.enabled', Value: 'false' }];
    await this.elb.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes }));
  }

  /** By hand. */
  async setCertificates(ListenerArn: string, { add, remove }: { add: string; remove: string }): Promise<void> {
    const pair = (CertificateArn: string) => ({ ListenerArn, Certificates: [{ CertificateArn }] });
    await this.elb.send(new RemoveListenerCertificatesCommand(pair(remove)));
    await this.elb.send(new AddListenerCertificatesCommand(pair(add)));
  }

  /** The default one first. */
  async certificatesOf(ListenerArn: string): Promise<(string | undefined)[]> {
    const { Certificates = [] } = await this.elb.send(new DescribeListenerCertificatesCommand({ ListenerArn }));
    return Certificates.map(({ CertificateArn }) => CertificateArn);
  }

  async tag(id: string, key: string, value: string): Promise<void> {
    await this.ec2.send(new CreateTagsCommand({ Resources: [id], Tags: [{ Key: key, Value: value }] }));
  }

  async untag(id: string, key: string): Promise<void> {
    await this.ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: [{ Key: key }] }));
  }

  close(): void {
    this.ec2.destroy();
    this.elb.destroy();
  }
}

function targetOf({ InstanceId = '', PrivateDnsName = '', Placement }: Instance): Target {
  return { nodeName: PrivateDnsName, providerID: `aws:///${Placement?.AvailabilityZone ?? ''}/${InstanceId}`, addresses: [] };
}
