import type { EC2, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { ElasticLoadBalancingV2, LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { refusal, type ModelAnswer, type ModelCall } from '../call';
import type { MotoState, Rule } from '../rule';

/** AWS's usual quota, for IPv4 and for IPv6 each. */
const USUAL_QUOTA = 60;

/** One rule that a call asks for: what AWS tells rules by. */
interface AskedRule {
  ports: string;
  source: string;
}

/**
 * A group has at most so many inbound rules of each family, and each once: protocol, ports and source tell them apart, whatever the descriptions
 * say. A call that breaks this makes none of its rules. moto tells rules apart by their descriptions too.
 */
export function rulesOfGroups(quota = USUAL_QUOTA): Rule {
  return {
    async before(call, { ec2 }) {
      if (call.service !== 'ec2' || call.action !== 'AuthorizeSecurityGroupIngress') return undefined;
      const [group, asked] = [call.parameters.get('GroupId') ?? '', askedBy(call)];
      const there = await rulesOf(ec2, group);
      const places = new Set(there.map(placeOf));
      const twice = asked.find(
        (rule, at) => places.has(placeOfAsked(rule)) || asked.findIndex((other) => placeOfAsked(other) === placeOfAsked(rule)) !== at,
      );
      if (twice !== undefined) {
        return refusal('InvalidPermission.Duplicate', `the specified rule "peer: ${twice.source}, ${twice.ports}, ALLOW" already exists`);
      }
      const sources = [...there.map(sourceOf), ...asked.map(({ source }) => source)];
      const most = Math.max(...(['IPv4', 'IPv6'] as const).map((family) => sources.filter((source) => counts(source, family)).length));
      return most > quota
        ? refusal('RulesPerSecurityGroupLimitExceeded', 'The maximum number of rules per security group has been reached.')
        : undefined;
    },
  };
}

/** A group of one VPC is nothing to another VPC: neither for its rules nor for its load balancers. */
export function groupOfAnotherVpc(): Rule {
  return {
    before(call, moto) {
      if (call.service === 'ec2' && call.action === 'AuthorizeSecurityGroupIngress') return refuseRule(call, moto);
      const setsGroups = call.service === 'elbv2' && ['CreateLoadBalancer', 'SetSecurityGroups'].includes(call.action);
      return setsGroups ? refuseGroups(call, moto) : undefined;
    },
  };
}

async function refuseRule(call: ModelCall, { ec2 }: MotoState): Promise<ModelAnswer | undefined> {
  const groups = [call.parameters.get('GroupId') ?? '', ...valuesOf(call, /\.Groups\.\d+\.GroupId$/)];
  const isFar = (await vpcsOf(ec2, groups)).size > 1;
  return isFar ? refusal('InvalidGroup.NotFound', 'You have specified two resources that belong to different networks.') : undefined;
}

/** What a Network Load Balancer is made without, it never gets. */
async function refuseGroups(call: ModelCall, { ec2, elb }: MotoState): Promise<ModelAnswer | undefined> {
  const groups = valuesOf(call, /^SecurityGroups\.member\.\d+$/);
  if (groups.length === 0) return undefined;
  const balancer = await balancerOf(elb, valuesOf(call, /^LoadBalancerArn$/));
  if (balancer?.Type === 'network' && (balancer.SecurityGroups ?? []).length === 0) return withoutGroups(balancer);
  const subnets = valuesOf(call, /^(Subnets\.member\.\d+|SubnetMappings\.member\.\d+\.SubnetId)$/);
  const own = balancer?.VpcId ?? (await vpcOfSubnet(ec2, subnets[0]));
  // Of a subnet that is not there moto says so.
  const isForeign = own !== undefined && [...(await vpcsOf(ec2, groups))].some((vpc) => vpc !== own);
  return isForeign ? refusal('InvalidSecurityGroup', 'One or more security groups are invalid: they belong to another VPC') : undefined;
}

function withoutGroups({ LoadBalancerArn }: LoadBalancer): ModelAnswer {
  return refusal('InvalidConfigurationRequest', `Security groups can't be set on '${LoadBalancerArn}', which was created without any`);
}

async function balancerOf(elb: ElasticLoadBalancingV2, LoadBalancerArns: string[]): Promise<LoadBalancer | undefined> {
  if (LoadBalancerArns.length === 0) return undefined;
  return (await elb.describeLoadBalancers({ LoadBalancerArns })).LoadBalancers?.[0];
}

function valuesOf({ parameters }: ModelCall, form: RegExp): string[] {
  return [...parameters].filter(([key]) => form.test(key)).map(([, value]) => value);
}

function askedBy({ parameters }: ModelCall): AskedRule[] {
  const asked: AskedRule[] = [];
  for (const [key, source] of parameters) {
    const form =
      /^IpPermissions\.(\d+)\.(?:IpRanges\.\d+\.CidrIp|Ipv6Ranges\.\d+\.CidrIpv6|Groups\.\d+\.GroupId|PrefixListIds\.\d+\.PrefixListId)$/;
    const at = form.exec(key)?.[1];
    if (at === undefined) continue;
    const field = (name: string): string => parameters.get(`IpPermissions.${at}.${name}`) ?? '-1';
    asked.push({ ports: portsText(field('IpProtocol'), field('FromPort'), field('ToPort')), source });
  }
  return asked;
}

async function rulesOf(ec2: EC2, group: string): Promise<SecurityGroupRule[]> {
  const { SecurityGroupRules = [] } = await ec2.describeSecurityGroupRules({ Filters: [{ Name: 'group-id', Values: [group] }] });
  return SecurityGroupRules.filter(({ IsEgress }) => IsEgress !== true);
}

/** Of those that are there. */
async function vpcsOf(ec2: EC2, groups: string[]): Promise<Set<string>> {
  const { SecurityGroups = [] } = await ec2.describeSecurityGroups({ Filters: [{ Name: 'group-id', Values: groups }] });
  return new Set(SecurityGroups.map(({ VpcId = '' }) => VpcId));
}

async function vpcOfSubnet(ec2: EC2, subnet = ''): Promise<string | undefined> {
  const { Subnets = [] } = await ec2.describeSubnets({ Filters: [{ Name: 'subnet-id', Values: [subnet] }] });
  return Subnets[0]?.VpcId;
}

function sourceOf({ CidrIpv4, CidrIpv6, PrefixListId, ReferencedGroupInfo }: SecurityGroupRule): string {
  return CidrIpv4 ?? CidrIpv6 ?? PrefixListId ?? ReferencedGroupInfo?.GroupId ?? '';
}

function placeOf(rule: SecurityGroupRule): string {
  return `${portsText(rule.IpProtocol ?? '', String(rule.FromPort ?? -1), String(rule.ToPort ?? -1))} ${sourceOf(rule)}`;
}

function placeOfAsked({ ports, source }: AskedRule): string {
  return `${ports} ${source}`;
}

function portsText(protocol: string, from: string, to: string): string {
  return protocol === '-1' ? '-1' : `${protocol} ${from}-${to}`;
}

function counts(source: string, family: 'IPv4' | 'IPv6'): boolean {
  return /^(sg|pl)-/.test(source) || source.includes(':') === (family === 'IPv6');
}
