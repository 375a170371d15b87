import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../../client-options';
import { retry } from '../../retry';
import { AwsError, namesUnknownGroup } from '../client/aws-error';
import type { Ec2 } from '../client/ec2';
import { TAG, toAwsTags } from '../tags';
import { hasPlace, overLimit, type NodeRule, type Ports } from './node-rule';

/** The API server's usual range (--service-node-port-range). */
const NODE_PORTS = { from: 30_000, to: 32_767 };
/** How often a lost race with another writer of the same rules is run again. */
const TRIES = 3;

/** One set of rules for all load balancers of a cluster: it does not grow with Services. */
export const SHARED_RULES: readonly Ports[] = [
  { protocol: 'tcp', ...NODE_PORTS },
  { protocol: 'udp', ...NODE_PORTS },
  // Destination unreachable, fragmentation needed: type 3, code 4.
  { protocol: 'icmp', from: 3, to: 4 },
];

/** True where the shared rules let a port of a Node in. Pure. */
export function isShared(port: number): boolean {
  return port >= NODE_PORTS.from && port <= NODE_PORTS.to;
}

/** The rules for ports that are named one by one, such as tcp/10256 for kube-proxy's health check. Pure. */
export function rulesForPorts(ports: readonly string[]): Ports[] {
  return ports.map((text) => {
    const [protocol, port] = text.split('/');
    return { protocol: protocol === 'udp' ? 'udp' : 'tcp', from: Number(port), to: Number(port) };
  });
}

/** What lets a security group in by these ports. Pure. */
export function rulesFrom(group: string, ports: readonly Ports[]): NodeRule[] {
  return ports.map((at) => ({ ...at, source: group, kind: 'group' }));
}

/** What of `wanted` no rule of a group says, whoever made it. Pure. */
export function missingRules(has: readonly SecurityGroupRule[], wanted: readonly NodeRule[]): NodeRule[] {
  return wanted.filter((rule) => !has.some((there) => hasPlace(there, rule)));
}

/** Where rules are written, and for whom. */
export interface RuleTarget {
  /** Groups of Nodes. */
  groups: readonly string[];
  clusterID: string;
  /** Of whom the rules' descriptions tell; absent = of the cluster's load balancers. */
  loadBalancer?: string;
  /** The account's quota of inbound rules of one group. */
  maxRules: number;
  /** The groups' rules as they were read a moment ago; absent = they are read. */
  has?: readonly SecurityGroupRule[];
}

/** All rules of groups of Nodes. */
export function rulesOfNodes(ec2: Ec2, { groups }: Pick<RuleTarget, 'groups'>, options: CallOptions): Promise<SecurityGroupRule[]> {
  return groups.length === 0 ? Promise.resolve([]) : ec2.securityGroupRules([{ Name: 'group-id', Values: [...groups] }], options);
}

/**
 * Lets `wanted` in to groups of Nodes: what is missing is added, everything else of theirs is left as it is. One read when nothing is. A group that
 * is gone, as after a node pool, is passed over.
 * @throws OperatorError Quota with the group's figures when it takes no more rules; AWS is not asked then
 */
export async function openNodes(ec2: Ec2, target: RuleTarget, wanted: readonly NodeRule[], options: CallOptions): Promise<void> {
  let { groups, has } = target;
  for (let tries = 1; groups.length > 0 && wanted.length > 0; tries++) {
    const rules = has ?? (await rulesOfNodes(ec2, { groups }, options));
    has = undefined;
    try {
      for (const group of groups)
        await openGroup(ec2, { ...target, group, has: rules.filter(({ GroupId }) => GroupId === group) }, wanted, options);
      return;
    } catch (thrown) {
      const there = toOperatorError(thrown).code === 'NotFound' ? await thoseThere(ec2, groups, options) : groups;
      const isLostRace = isDuplicate(thrown) && tries < TRIES;
      if (there.length === groups.length && !isLostRace) throw thrown;
      groups = there;
    }
  }
}

/** The same for a group that was made a moment ago: a call that names it is refused until all of AWS has heard of it, and is tried again within the budget of a call. */
export function openNodesToNew(ec2: Ec2, target: RuleTarget, wanted: readonly NodeRule[], options: CallOptions): Promise<void> {
  const { has, ...unread } = target;
  let first: Pick<RuleTarget, 'has'> = has === undefined ? {} : { has };
  const attempt = async (): Promise<void> => {
    const read = first;
    // A try that was refused may have written to some groups.
    first = {};
    await openNodes(ec2, { ...unread, ...read }, wanted, options);
  };
  return retry(ec2.retryPolicy, attempt, namesUnknownGroup, options.signal);
}

/** By a filter, which passes over what is gone. */
async function thoseThere(ec2: Ec2, groups: readonly string[], options: CallOptions): Promise<string[]> {
  const found = await ec2.securityGroups([{ Name: 'group-id', Values: [...groups] }], options);
  return groups.filter((group) => found.some(({ GroupId }) => GroupId === group));
}

async function openGroup(
  ec2: Ec2,
  { clusterID, loadBalancer, maxRules, group, has }: RuleTarget & { group: string; has: SecurityGroupRule[] },
  wanted: readonly NodeRule[],
  options: CallOptions,
): Promise<void> {
  const missing = missingRules(has, wanted);
  if (missing.length === 0) return;
  const full = overLimit(has, missing, maxRules);
  if (full !== undefined) throw tooMany(group, full);
  const TagSpecifications = [{ ResourceType: 'security-group-rule' as const, Tags: toAwsTags({ [TAG.clusterID]: clusterID }) }];
  const input = { GroupId: group, IpPermissions: missing.map((rule) => permissionOf(rule, loadBalancer)), TagSpecifications };
  try {
    await ec2.authorize('Ingress', input, options);
  } catch (thrown) {
    throw withFigures(thrown, group, { has: has.filter(({ IsEgress }) => IsEgress !== true).length, missing: missing.length });
  }
}

/** Removes every rule of ours that lets a group in somewhere; what people wrote themselves stays. @returns how many there were */
export async function closeNodes(ec2: Ec2, source: string, clusterID: string, options: CallOptions): Promise<number> {
  const rules = await ec2.securityGroupRules([{ Name: `tag:${TAG.clusterID}`, Values: [clusterID] }], options);
  const ours = rules.filter(({ IsEgress, ReferencedGroupInfo }) => IsEgress !== true && ReferencedGroupInfo?.GroupId === source);
  await revokeAll(ec2, ours, options);
  return ours.length;
}

/** Revokes rules, in one call for each group. Those that are gone are no failure. */
export async function revokeAll(ec2: Ec2, rules: readonly SecurityGroupRule[], options: CallOptions): Promise<void> {
  for (const group of new Set(rules.map(({ GroupId = '' }) => GroupId))) {
    const ids = rules.filter(({ GroupId }) => GroupId === group).map(({ SecurityGroupRuleId = '' }) => SecurityGroupRuleId);
    try {
      await ec2.revoke('Ingress', group, ids, options);
    } catch (thrown) {
      if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
      await revokeWhatIsLeft(ec2, group, ids, options);
    }
  }
}

/** AWS refuses a whole call for one rule, or the group, that is gone. */
async function revokeWhatIsLeft(ec2: Ec2, group: string, ids: readonly string[], options: CallOptions): Promise<void> {
  const there = await ec2.securityGroupRules([{ Name: 'group-id', Values: [group] }], options);
  const left = there.map(({ SecurityGroupRuleId = '' }) => SecurityGroupRuleId).filter((id) => ids.includes(id));
  if (left.length > 0) await ec2.revoke('Ingress', group, left, options);
}

function permissionOf({ protocol, from, to, source, kind }: NodeRule, loadBalancer: string | undefined): IpPermission {
  const words = { Description: descriptionOf(kind, loadBalancer) };
  return {
    IpProtocol: protocol,
    ...(protocol !== '-1' && { FromPort: from, ToPort: to }),
    ...sourceOf(source, words),
  };
}

function sourceOf(source: string, words: { Description: string }): Partial<IpPermission> {
  if (source.startsWith('sg-')) return { UserIdGroupPairs: [{ GroupId: source, ...words }] };
  if (source.startsWith('pl-')) return { PrefixListIds: [{ PrefixListId: source, ...words }] };
  return source.includes(':') ? { Ipv6Ranges: [{ CidrIpv6: source, ...words }] } : { IpRanges: [{ CidrIp: source, ...words }] };
}

/** Upstream's descriptions, by which it knows its own rules. */
const UPSTREAM = 'kubernetes.io/rule/nlb/';

/** What the description of a rule says. Pure. */
export function descriptionOf(kind: NodeRule['kind'], loadBalancer = ''): string {
  if (kind === 'group') return 'load balancers of cloud-operator';
  return kind === 'mtu' ? `${UPSTREAM}mtu` : `${UPSTREAM}${kind}=${loadBalancer}`;
}

/** What a rule with upstream's description is for, and the load balancer's name; undefined = it has none. Pure. */
export function readDescription({ Description = '' }: SecurityGroupRule): { kind: NodeRule['kind']; loadBalancer: string } | undefined {
  const [, kind, loadBalancer = ''] = /^kubernetes\.io\/rule\/nlb\/(client|health|mtu)(?:=(.*))?$/.exec(Description) ?? [];
  return kind === undefined ? undefined : { kind: kind as NodeRule['kind'], loadBalancer };
}

function isDuplicate(thrown: unknown): boolean {
  return thrown instanceof AwsError && thrown.awsCode === 'InvalidPermission.Duplicate';
}

const REMEDY =
  'Remove rules that nobody needs from it, or ask AWS for a higher quota of inbound rules per security group and write that to spec.aws.limits.rulesPerSecurityGroup of the CloudProvider. With nodeRules: Shared the number does not grow with Services.';

function tooMany(group: string, { has, more, limit }: { has: number; more: number; limit: number }): OperatorError {
  const figures = `has ${has} inbound rules, and ${more} more don't fit: the limit is ${limit}`;
  return new OperatorError('Quota', `the Nodes' security group ${group} ${figures}. ${REMEDY}`, { remedy: REMEDY, resource: group });
}

function withFigures(thrown: unknown, group: string, { has, missing }: { has: number; missing: number }): OperatorError {
  const error = toOperatorError(thrown);
  if (error.code !== 'Quota') return error;
  const message = `the Nodes' security group ${group} has ${has} rules, and ${missing} more don't fit (${error.message}). ${REMEDY}`;
  return new OperatorError('Quota', message, { remedy: REMEDY, resource: group, cause: error });
}
