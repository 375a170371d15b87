import { ElasticLoadBalancing } from '@aws-sdk/client-elastic-load-balancing';
import { EC2, type SecurityGroupRule } from '@aws-sdk/client-ec2';
import {
  ElasticLoadBalancingV2,
  type CreateListenerCommandInput,
  type LoadBalancer,
  type TargetGroup,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { type MotoAccount, REGION } from './moto-account';

/** A Service as the controllers before us have seen it. */
export interface UpstreamService {
  uid: string;
  namespace: string;
  name: string;
  ports: { port: number; nodePort: number }[];
}

/** What the AWS Load Balancer Controller asks for where a Service names no policy. */
export const CONTROLLERS_POLICY = 'ELBSecurityPolicy-2016-08';

type Tag = { Key: string; Value: string };
type Check = Pick<TargetGroup, 'HealthCheckProtocol' | 'HealthCheckPort' | 'HealthCheckPath'>;

/** Everything of one load balancer, as somebody reads it who knows nothing of us. */
export interface Standing {
  balancer: LoadBalancer;
  listeners: { port: number; group: string }[];
  groups: (Pick<TargetGroup, 'TargetGroupName' | 'TargetGroupArn' | 'Port'> & { targets: string[] })[];
  /** By ARN. */
  tags: Record<string, Record<string, string>>;
}

/** Makes what cloud-provider-aws and the AWS Load Balancer Controller make for a Service, under their names and tags, and reads it (providers 2.1, contract 11). */
export class Upstream {
  readonly elb: ElasticLoadBalancingV2;
  readonly classic: ElasticLoadBalancing;
  readonly ec2: EC2;

  constructor(
    url: string,
    private readonly account: MotoAccount,
    private readonly clusterName = 'prod',
  ) {
    const config = { region: REGION, endpoint: url, credentials: { accessKeyId: 'test', secretAccessKey: 'test' }, maxAttempts: 1 };
    [this.elb, this.classic, this.ec2] = [new ElasticLoadBalancingV2(config), new ElasticLoadBalancing(config), new EC2(config)];
  }

  /** As cloud-provider-aws makes it by default: no security group. @param checks by `Shared` at one port of every Node @returns its ARN */
  async network(service: UpstreamService, instances: string[], checks: 'Shared' | 'ServiceNodePort' = 'ServiceNodePort'): Promise<string> {
    const check =
      checks === 'Shared' ? { HealthCheckProtocol: 'HTTP' as const, HealthCheckPort: '10256', HealthCheckPath: '/healthz' } : {};
    return this.make(service, { name: nameOf(service), tags: this.tags(service), groups: [], prefix: 'k8s', check }, instances);
  }

  /** As a person makes it, or Terraform: a name and a tag of theirs, and no sign of Kubernetes. @param allocations of its subnets @returns its ARN */
  async byHand(service: UpstreamService, instances: string[], allocations: string[] = []): Promise<string> {
    const as = { name: `edge-${service.name}`, tags: [{ Key: 'team', Value: 'edge' }], groups: [], prefix: 'tf', allocations };
    return this.make(service, as, instances);
  }

  /**
   * As the AWS Load Balancer Controller makes it: a group of its own, one for all in front of the Nodes, and tags of its own.
   * @param certificates of the listener on port 443, the default one first; none = it speaks no TLS
   */
  async controllerNetwork(
    service: UpstreamService,
    instances: string[],
    certificates: string[] = [],
  ): Promise<{ arn: string; frontend: string; backend: string }> {
    const tags = this.controllerTags(service);
    const frontend = await this.group(`k8s-${service.namespace}-${service.name}-aaaaaaaaaa`, [
      ...tags,
      { Key: 'service.k8s.aws/resource', Value: 'ManagedLBSecurityGroup' },
    ]);
    for (const { port } of service.ports) await this.rule(frontend, 'tcp', [port, port]);
    await this.rule(frontend, 'icmp', [3, 4]);
    const backend = await this.group('k8s-traffic-prod-bbbbbbbbbb', [
      { Key: 'elbv2.k8s.aws/cluster', Value: this.clusterName },
      { Key: 'elbv2.k8s.aws/resource', Value: 'backend-sg' },
    ]);
    const name = `k8s-${service.namespace}-${service.name}-cccccccccc`;
    const arn = await this.make(service, { name, tags, groups: [frontend, backend], prefix: 'k8s', certificates }, instances);
    return { arn, frontend, backend };
  }

  /** A Classic load balancer of cloud-provider-aws with its group. @returns the group's id */
  async classicLoadBalancer(service: UpstreamService, instances: string[]): Promise<string> {
    const LoadBalancerName = nameOf(service);
    const Tags = this.tags(service);
    const group = await this.group(`k8s-elb-${LoadBalancerName}`, [{ Key: `kubernetes.io/cluster/${this.clusterName}`, Value: 'owned' }]);
    for (const { port } of service.ports) await this.rule(group, 'tcp', [port, port]);
    await this.rule(group, 'icmp', [3, 4]);
    const Listeners = service.ports.map(({ port, nodePort }) => ({
      ...{ Protocol: 'TCP', LoadBalancerPort: port, InstanceProtocol: 'TCP', InstancePort: nodePort },
    }));
    await this.classic.createLoadBalancer({ LoadBalancerName, Listeners, Subnets: this.account.subnetIDs, SecurityGroups: [group], Tags });
    const Target = `TCP:${service.ports[0]?.nodePort ?? 0}`;
    const HealthCheck = { Target, Interval: 10, Timeout: 5, HealthyThreshold: 2, UnhealthyThreshold: 6 };
    await this.classic.configureHealthCheck({ LoadBalancerName, HealthCheck });
    const Instances = instances.map((InstanceId) => ({ InstanceId }));
    await this.classic.registerInstancesWithLoadBalancer({ LoadBalancerName, Instances });
    return group;
  }

  /** Its listener of that port speaks TLS from now on. */
  async encrypt(LoadBalancerArn: string, port: number, CertificateArn: string, SslPolicy: string): Promise<void> {
    const { Listeners = [] } = await this.elb.describeListeners({ LoadBalancerArn });
    const ListenerArn = Listeners.find(({ Port }) => Port === port)?.ListenerArn;
    await this.elb.modifyListener({ ListenerArn, Protocol: 'TLS', Certificates: [{ CertificateArn }], SslPolicy });
  }

  /** What there is of a load balancer by now. */
  async standing(arn: string): Promise<Standing> {
    const { LoadBalancers: [balancer] = [] } = await this.elb.describeLoadBalancers({ LoadBalancerArns: [arn] });
    const { Listeners = [] } = await this.elb.describeListeners({ LoadBalancerArn: arn });
    const { TargetGroups = [] } = await this.elb.describeTargetGroups({ LoadBalancerArn: arn });
    const ResourceArns = [arn, ...TargetGroups.map(({ TargetGroupArn = '' }) => TargetGroupArn)];
    const { TagDescriptions = [] } = await this.elb.describeTags({ ResourceArns });
    const groups = await Promise.all(
      TargetGroups.map(async ({ TargetGroupName, TargetGroupArn, Port }) => {
        const { TargetHealthDescriptions = [] } = await this.elb.describeTargetHealth({ TargetGroupArn });
        return { TargetGroupName, TargetGroupArn, Port, targets: TargetHealthDescriptions.map(({ Target }) => Target?.Id ?? '').sort() };
      }),
    );
    return {
      balancer: { ...balancer, State: undefined },
      listeners: Listeners.map(({ Port = 0, DefaultActions }) => ({ port: Port, group: DefaultActions?.[0]?.TargetGroupArn ?? '' })),
      groups,
      tags: Object.fromEntries(
        TagDescriptions.map(({ ResourceArn = '', Tags = [] }) => [
          ResourceArn,
          Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value])),
        ]),
      ),
    };
  }

  async rules(group: string): Promise<SecurityGroupRule[]> {
    const { SecurityGroupRules = [] } = await this.ec2.describeSecurityGroupRules({ Filters: [{ Name: 'group-id', Values: [group] }] });
    return SecurityGroupRules.filter(({ IsEgress }) => IsEgress !== true);
  }

  close(): void {
    [this.elb, this.classic, this.ec2].forEach((client) => client.destroy());
  }

  private async make(
    service: UpstreamService,
    as: { name: string; tags: Tag[]; groups: string[]; prefix: string; certificates?: string[]; allocations?: string[]; check?: Check },
    instances: string[],
  ): Promise<string> {
    const { LoadBalancers: [made] = [] } = await this.elb.createLoadBalancer({
      ...{ Name: as.name, Type: 'network', Scheme: 'internet-facing', Tags: as.tags },
      SubnetMappings: this.account.subnetIDs.map((SubnetId, index) => ({ SubnetId, AllocationId: as.allocations?.[index] })),
      ...(as.groups.length > 0 && { SecurityGroups: as.groups }),
    });
    const LoadBalancerArn = made?.LoadBalancerArn ?? '';
    for (const { port, nodePort } of service.ports) {
      const { TargetGroups: [group] = [] } = await this.elb.createTargetGroup({
        ...{ Name: `${as.prefix}-${service.namespace}-${service.name}-${port}`, Port: nodePort, Protocol: 'TCP', TargetType: 'instance' },
        ...{ VpcId: this.account.vpcID, HealthCheckProtocol: 'TCP', HealthCheckPort: 'traffic-port', HealthCheckIntervalSeconds: 30 },
        ...{ HealthCheckTimeoutSeconds: 10, HealthyThresholdCount: 3, UnhealthyThresholdCount: 3, Tags: as.tags },
        ...as.check,
      });
      const TargetGroupArn = group?.TargetGroupArn ?? '';
      const DefaultActions = [{ Type: 'forward' as const, TargetGroupArn }];
      const certificates = port === 443 ? (as.certificates ?? []) : [];
      await this.listener({ LoadBalancerArn, Port: port, Protocol: 'TCP', DefaultActions, Tags: as.tags }, certificates);
      const Targets = instances.map((Id) => ({ Id, Port: nodePort }));
      if (Targets.length > 0) await this.elb.registerTargets({ TargetGroupArn, Targets });
    }
    return LoadBalancerArn;
  }

  private async listener(input: CreateListenerCommandInput, [first, ...others]: string[]): Promise<void> {
    const tls = { Protocol: 'TLS' as const, SslPolicy: CONTROLLERS_POLICY, Certificates: [{ CertificateArn: first }] };
    const { Listeners: [made] = [] } = await this.elb.createListener({ ...input, ...(first !== undefined && tls) });
    const ListenerArn = made?.ListenerArn;
    for (const CertificateArn of others) await this.elb.addListenerCertificates({ ListenerArn, Certificates: [{ CertificateArn }] });
  }

  private async group(GroupName: string, Tags: Tag[]): Promise<string> {
    const input = { GroupName, Description: 'of another controller', VpcId: this.account.vpcID };
    const TagSpecifications = [{ ResourceType: 'security-group' as const, Tags }];
    return (await this.ec2.createSecurityGroup({ ...input, TagSpecifications })).GroupId ?? '';
  }

  private async rule(GroupId: string, IpProtocol: string, [FromPort, ToPort]: [number, number]): Promise<void> {
    const IpPermissions = [{ IpProtocol, FromPort, ToPort, IpRanges: [{ CidrIp: '0.0.0.0/0' }] }];
    await this.ec2.authorizeSecurityGroupIngress({ GroupId, IpPermissions });
  }

  private tags({ namespace, name }: UpstreamService): Tag[] {
    return [
      { Key: `kubernetes.io/cluster/${this.clusterName}`, Value: 'owned' },
      { Key: 'kubernetes.io/service-name', Value: `${namespace}/${name}` },
    ];
  }

  private controllerTags({ namespace, name }: UpstreamService): Tag[] {
    return [
      { Key: 'elbv2.k8s.aws/cluster', Value: this.clusterName },
      { Key: 'service.k8s.aws/stack', Value: `${namespace}/${name}` },
    ];
  }
}

/** Upstream's name of a Service's load balancer (contract 1.3). */
function nameOf({ uid }: UpstreamService): string {
  return `a${uid.replaceAll('-', '')}`.slice(0, 32);
}
