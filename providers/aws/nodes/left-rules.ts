import type { SecurityGroup, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { hashJson } from '../../../operator/base/json';
import type { KnownOwners } from '../../provider';
import { cloudName } from '../load-balancers/names';
import { fromAwsTags, isOfClusterAlone, TAG, type Tags } from '../tags';
import { backendGroupName } from './backend-group';
import { sourceOf } from './node-rule';
import { readDescription } from './node-rules';
import { portsOf } from './port-users';
import { isSameOwner } from './stale-rules';

/** Whose rules are looked for. */
export interface LeftRulesScope {
  clusterID: string;
  /** Upstream's name of the cluster. */
  clusterName?: string | undefined;
}

/** Rules of groups of Nodes, and what may need them. */
export interface LeftRulesFacts extends LeftRulesScope {
  /** All that the groups have. */
  rules: readonly SecurityGroupRule[];
  /** Those with such rules, and those that a rule lets in. */
  groups: readonly SecurityGroup[];
  /** Names of load balancers of either kind, whoever's. */
  loadBalancers: readonly string[];
  /** Security groups that one of them has. */
  groupsInUse: ReadonlySet<string>;
  targetGroups: readonly TargetGroup[];
  /** What accounts for rules in the cluster; absent = only what is in AWS is looked at. */
  known?: Pick<KnownOwners, 'stacks' | 'owners'> | undefined;
  /** Security groups that load balancers of the cluster name, by ids or by the tag Name, made or not. */
  named?: ReadonlySet<string>;
}

const PREFIX = 'aws-rules-';
/** Names of load balancers as upstream makes them, and as rules of ours name them. */
const UPSTREAM_NAME = /^a[0-9a-f]{31}$/;
const OUR_NAME = /^a[0-9a-z-]{1,31}$/;

/** The stack that rules without anybody are told as: another set of rules is another stack, so that what is deleted is what was shown. Pure. */
export function leftRulesStack(of: string, rules: readonly SecurityGroupRule[]): string {
  const ids = rules.map(({ SecurityGroupRuleId = '' }) => SecurityGroupRuleId).sort();
  return `${PREFIX}${of}-${hashJson(ids).slice(0, 8)}`;
}

/** Pure. */
export function isLeftRulesStack(stack: string): boolean {
  return stack.startsWith(PREFIX);
}

/**
 * Rules that were made for the cluster's load balancers: ours bear the cluster's mark and no stack's, upstream's their descriptions alone, which count
 * in a group that is tagged for this cluster and for no other. Pure.
 * @param groups those that rules are in
 */
export function madeForCluster(
  rules: readonly SecurityGroupRule[],
  groups: readonly SecurityGroup[],
  { clusterID, clusterName }: LeftRulesScope,
): SecurityGroupRule[] {
  const alone = new Set(groups.filter(({ Tags }) => isOfClusterAlone(fromAwsTags(Tags), clusterName)).map(({ GroupId }) => GroupId));
  return rules.filter((rule) => {
    if (rule.IsEgress === true) return false;
    const { [TAG.clusterID]: cluster, [TAG.resource]: resource } = fromAwsTags(rule.Tags);
    if (cluster !== undefined) return cluster === clusterID && resource === undefined;
    const read = readDescription(rule);
    return alone.has(rule.GroupId) && read !== undefined && (read.kind === 'mtu' || UPSTREAM_NAME.test(read.loadBalancer));
  });
}

/**
 * Of those, the ones that nothing accounts for, by whom they were made for: the name of a load balancer that is gone, or the security group that they let in.
 * What a target group still sends to counts as needed, whoever's it is, and so does what a group of an existing load balancer needs. Pure.
 */
export function leftRulesOf(facts: LeftRulesFacts): Map<string, SecurityGroupRule[]> {
  const made = madeForCluster(facts.rules, facts.groups, facts);
  const left = new Map<string, SecurityGroupRule[]>();
  const add = (of: string | undefined, rule: SecurityGroupRule): void => {
    if (of !== undefined) left.set(of, [...(left.get(of) ?? []), rule]);
  };
  for (const rule of made) add(leftOf(rule, facts), rule);
  for (const rule of made.filter(isMTU)) add(leftMTUOf(rule, made, facts), rule);
  return left;
}

function isMTU(rule: SecurityGroupRule): boolean {
  return readDescription(rule)?.kind === 'mtu';
}

/** Whose rule it was; undefined = something accounts for it, or its description says too little. */
function leftOf(rule: SecurityGroupRule, facts: LeftRulesFacts): string | undefined {
  const group = rule.ReferencedGroupInfo?.GroupId;
  if (group !== undefined) return isGroupNeeded(group, facts) || (isSingle(rule) && isUsed(rule, facts)) ? undefined : group;
  const name = balancerOf(rule);
  return name === undefined || isBalancerKnown(name, facts) || isUsed(rule, facts) ? undefined : name;
}

/** Name of the load balancer whose clients or checks it lets in. */
function balancerOf(rule: SecurityGroupRule): string | undefined {
  const read = readDescription(rule);
  return read !== undefined && read.kind !== 'mtu' && OUR_NAME.test(read.loadBalancer) ? read.loadBalancer : undefined;
}

/** Path MTU discovery goes with the clients of the same source: of one load balancer alone, with its rules. */
function leftMTUOf(rule: SecurityGroupRule, made: readonly SecurityGroupRule[], facts: LeftRulesFacts): string | undefined {
  const beside = facts.rules.filter((one) => one.GroupId === rule.GroupId && sourceOf(one) === sourceOf(rule) && isIngressOfPorts(one));
  const owners = new Set<string>();
  for (const one of beside) {
    const of = made.includes(one) ? leftOf(one, facts) : undefined;
    if (of !== undefined) owners.add(of);
    else if (readDescription(one)?.kind === 'client' || isUsed(one, facts)) return undefined;
  }
  const [first = `mtu-${rule.GroupId ?? ''}`, ...others] = owners;
  return others.length === 0 ? first : undefined;
}

function isBalancerKnown(name: string, { loadBalancers, known }: LeftRulesFacts): boolean {
  if (loadBalancers.some((one) => isSameOwner(one, name))) return true;
  return [...(known?.owners ?? [])].some((uid) => isSameOwner(cloudName(uid), name));
}

/** The cluster's backend group is told by itself where nobody has it any more, and its rules go with it. */
function isGroupNeeded(group: string, { clusterID, groups, groupsInUse, known, named }: LeftRulesFacts): boolean {
  if (groupsInUse.has(group)) return true;
  const found = groups.find(({ GroupId }) => GroupId === group);
  const tags: Tags = fromAwsTags(found?.Tags);
  if (found?.GroupName === backendGroupName(clusterID) && tags[TAG.clusterID] === clusterID) return true;
  return isOfKnown(tags, known) || [group, tags.Name].some((name) => name !== undefined && named?.has(name) === true);
}

/** By its marks. */
function isOfKnown(tags: Tags, known: LeftRulesFacts['known']): boolean {
  const { [TAG.stack]: stack = '', [TAG.ownerUID]: owner = '', [TAG.released]: released } = tags;
  return released === undefined && (known?.stacks.has(stack) === true || known?.owners.has(owner) === true);
}

function isIngressOfPorts({ IsEgress, IpProtocol }: SecurityGroupRule): boolean {
  return IsEgress !== true && (IpProtocol === 'tcp' || IpProtocol === 'udp');
}

function isSingle(rule: SecurityGroupRule): boolean {
  return isIngressOfPorts(rule) && rule.FromPort === rule.ToPort;
}

/** Whether a target group in the same VPC sends to the rule's ports. */
function isUsed({ GroupId, IpProtocol, FromPort = 0, ToPort = 0 }: SecurityGroupRule, { groups, targetGroups }: LeftRulesFacts): boolean {
  const vpcID = groups.find((group) => group.GroupId === GroupId)?.VpcId;
  return targetGroups.some(
    (target) =>
      target.VpcId === vpcID &&
      portsOf(target).some((text) => {
        const [transport, port] = text.split('/');
        return transport === IpProtocol && Number(port) >= FromPort && Number(port) <= ToPort;
      }),
  );
}
