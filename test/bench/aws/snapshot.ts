import {
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
  type SecurityGroup,
  type SecurityGroupRule,
} from '@aws-sdk/client-ec2';
import { ElasticLoadBalancingV2, type Listener, type LoadBalancer, type TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { AwsTag } from '../../../providers/aws/tags';
import { REGION } from '../../integration/aws/moto-account';

/** What stands in an account, as `path value` lines without ids: equal objects give equal lines. */
export type Snapshot = ReadonlySet<string>;

/** Attributes of AWS that moto knows; what it adds by itself is the same for both. */
type Fields = Record<string, string | number | boolean | undefined>;

/** Everything that load balancers are made of, in one account, in terms that don't depend on who made it. */
export async function snapshotOf(url: string): Promise<Snapshot> {
  const config = { region: REGION, endpoint: url, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const reader = new Reader(new ElasticLoadBalancingV2(config), new EC2Client(config));
  try {
    return await reader.read();
  } finally {
    reader.close();
  }
}

class Reader {
  private readonly lines = new Set<string>();
  private groups: SecurityGroup[] = [];

  constructor(
    private readonly elb: ElasticLoadBalancingV2,
    private readonly ec2: EC2Client,
  ) {}

  async read(): Promise<Snapshot> {
    this.groups = (await this.ec2.send(new DescribeSecurityGroupsCommand({}))).SecurityGroups ?? [];
    const { LoadBalancers = [] } = await this.elb.describeLoadBalancers({});
    for (const balancer of LoadBalancers) await this.loadBalancer(balancer);
    const { SecurityGroupRules = [] } = await this.ec2.send(new DescribeSecurityGroupRulesCommand({}));
    for (const group of this.groups.filter(({ GroupName }) => GroupName !== 'default')) this.securityGroup(group, SecurityGroupRules);
    return this.lines;
  }

  close(): void {
    this.elb.destroy();
    this.ec2.destroy();
  }

  private async loadBalancer(balancer: LoadBalancer): Promise<void> {
    const {
      LoadBalancerArn = '',
      LoadBalancerName = '',
      Type,
      Scheme,
      IpAddressType,
      AvailabilityZones = [],
      SecurityGroups = [],
    } = balancer;
    const zones = AvailabilityZones.map(({ ZoneName = '' }) => ZoneName).sort();
    const groups = SecurityGroups.map((id) => this.roleOf(id)).sort();
    const fields = {
      name: formOf(LoadBalancerName),
      Type,
      Scheme,
      IpAddressType,
      zones: zones.join(','),
      securityGroups: groups.join(', '),
    };
    this.note('loadBalancer', fields);
    const { Attributes = [] } = await this.elb.describeLoadBalancerAttributes({ LoadBalancerArn });
    this.note('loadBalancer.attributes', fieldsOf(Attributes));
    await this.tags('loadBalancer', LoadBalancerArn);
    const { Listeners = [] } = await this.elb.describeListeners({ LoadBalancerArn });
    for (const listener of Listeners) await this.listener(listener);
  }

  private async listener({ ListenerArn = '', Port, Protocol, SslPolicy, DefaultActions = [] }: Listener): Promise<void> {
    this.note('listener', { Port, Protocol, SslPolicy, action: DefaultActions[0]?.Type });
    await this.tags('listener', ListenerArn);
    const TargetGroupArns = DefaultActions.flatMap(({ TargetGroupArn, ForwardConfig }) =>
      TargetGroupArn === undefined ? (ForwardConfig?.TargetGroups ?? []).flatMap((to) => to.TargetGroupArn ?? []) : [TargetGroupArn],
    );
    const { TargetGroups = [] } = await this.elb.describeTargetGroups({ TargetGroupArns });
    for (const group of TargetGroups) await this.targetGroup(group);
  }

  private async targetGroup(group: TargetGroup): Promise<void> {
    const { TargetGroupArn = '', TargetGroupName = '', Protocol, TargetType, IpAddressType, Port, Matcher } = group;
    this.note('targetGroup', { name: formOf(TargetGroupName), Protocol, TargetType, IpAddressType, Port });
    const { HealthCheckProtocol, HealthCheckPort, HealthCheckPath, HealthCheckEnabled, HealthCheckIntervalSeconds } = group;
    const { HealthCheckTimeoutSeconds, HealthyThresholdCount, UnhealthyThresholdCount } = group;
    this.note('targetGroup', { HealthCheckProtocol, HealthCheckPort, HealthCheckPath, HealthCheckEnabled, HealthCheckIntervalSeconds });
    this.note('targetGroup', { HealthCheckTimeoutSeconds, HealthyThresholdCount, UnhealthyThresholdCount, Matcher: Matcher?.HttpCode });
    const { Attributes = [] } = await this.elb.describeTargetGroupAttributes({ TargetGroupArn });
    this.note('targetGroup.attributes', fieldsOf(Attributes));
    await this.tags('targetGroup', TargetGroupArn);
    const { TargetHealthDescriptions = [] } = await this.elb.describeTargetHealth({ TargetGroupArn });
    const onPort = TargetHealthDescriptions.filter(({ Target }) => Target?.Port === Port).length;
    this.note('targetGroup', { targets: `${TargetHealthDescriptions.length}, ${onPort} of them on its port` });
  }

  private securityGroup(group: SecurityGroup, rules: SecurityGroupRule[]): void {
    const path = `securityGroup ${this.roleOf(group.GroupId ?? '')}`;
    this.note(path, { name: formOf(group.GroupName ?? '') });
    for (const [key, value] of Object.entries(tagFields(group.Tags ?? []))) this.note(`${path}.tags`, { [key]: value });
    const incoming = rules.filter(({ GroupId, IsEgress }) => GroupId === group.GroupId && IsEgress !== true);
    for (const rule of incoming) {
      const source = rule.ReferencedGroupInfo?.GroupId;
      const from = source === undefined ? (rule.CidrIpv4 ?? rule.CidrIpv6 ?? rule.PrefixListId) : `security group ${this.roleOf(source)}`;
      const said = formOf(rule.Description ?? '');
      this.note(`${path}.rule`, { [`${rule.IpProtocol} ${rangeOf(rule)} from ${from}`]: said === '' ? 'no description' : said });
    }
  }

  private roleOf(id: string): string {
    const name = this.groups.find(({ GroupId }) => GroupId === id)?.GroupName ?? '';
    if (name.startsWith('nodes-')) return 'of the Nodes';
    if (name === 'default') return 'default';
    return name.startsWith('cloud-operator-backend-') ? 'backend' : 'frontend';
  }

  private async tags(path: string, arn: string): Promise<void> {
    const { TagDescriptions = [] } = await this.elb.describeTags({ ResourceArns: [arn] });
    this.note(`${path}.tags`, tagFields(TagDescriptions[0]?.Tags ?? []));
  }

  private note(path: string, fields: Fields): void {
    for (const [key, value] of Object.entries(fields)) if (value !== undefined) this.lines.add(`${path}.${key}\t${value}`);
  }
}

function tagFields(tags: readonly AwsTag[]): Fields {
  return Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, formOf(Value)]));
}

function fieldsOf(attributes: readonly { Key?: string | undefined; Value?: string | undefined }[]): Fields {
  return Object.fromEntries(attributes.map(({ Key = '', Value = '' }) => [Key, Value]));
}

/** Ports of Services and Nodes by what they are: each Service has others. */
function rangeOf({ FromPort = -1, ToPort = -1, IpProtocol }: SecurityGroupRule): string {
  const isNodePort = FromPort === ToPort && FromPort >= 30_000 && FromPort < 32_768;
  return isNodePort && IpProtocol !== 'icmp' ? 'a node port' : `${FromPort}-${ToPort}`;
}

/** A name or text by its form: UIDs, hashes and what the Services are called are no difference. Pure. */
export function formOf(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\ba[0-9a-f]{31}\b/g, 'a<uid>')
    .replace(/^k8s-[a-z0-9]+-[a-z0-9]+-[0-9a-f]{10}$/, 'k8s-<namespace>-<name>-<hash>')
    .replace(/bench-[0-9]+/g, 'bench-<n>')
    .replace(/-[0-9a-f]{10}\b/g, '-<hash>');
}
