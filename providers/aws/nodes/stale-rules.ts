import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import { fromAwsTags, TAG } from '../tags';
import { hasPlace, sourceOf, type NodeRule } from './node-rule';
import { readDescription } from './node-rules';

/** Whose rules are looked through, and what is to be there of them. */
export interface Keeper {
  clusterID: string;
  /** Name of the load balancer, of any generation. */
  loadBalancer: string;
  /** The security group that is let in; absent = clients are. */
  group?: string | undefined;
  /** That group was made for the load balancer: what upstream lets it in by goes too. Absent = somebody's that it names, whose other rules are theirs. */
  isMade?: boolean | undefined;
  /** Groups of Nodes that are known. */
  groups: readonly string[];
  /** What the load balancer needs; none = it goes. */
  wanted: readonly NodeRule[];
}

/** Long enough to tell a Service by its UID; the end of a name is that of its generation. */
const OWNER_LENGTH = 26;

/** Two names are those of generations of one load balancer. Pure. */
export function isSameOwner(one: string, other: string): boolean {
  return one === other || (one.length >= OWNER_LENGTH && one.slice(0, OWNER_LENGTH) === other.slice(0, OWNER_LENGTH));
}

/**
 * Rules of a load balancer that it does not need, itself: whether another one does is for the caller to find out. Its own are known by their
 * descriptions, as upstream has it, so that those which upstream made go too; of a group's, those that we made, and upstream's where the group was
 * made for the load balancer. Pure.
 */
export function unneeded(rules: readonly SecurityGroupRule[], keeper: Keeper): SecurityGroupRule[] {
  const inbound = rules.filter(({ IsEgress }) => IsEgress !== true);
  return inbound.filter((rule) => isItsOwn(rule, keeper) && !keeper.wanted.some((wanted) => hasPlace(rule, wanted)));
}

function isItsOwn(rule: SecurityGroupRule, keeper: Keeper): boolean {
  const { clusterID, loadBalancer, group, isMade = false } = keeper;
  if (group !== undefined) {
    return rule.ReferencedGroupInfo?.GroupId === group && (isOurs(rule, clusterID) || (isMade && isAsUpstreams(rule, keeper)));
  }
  const read = readDescription(rule);
  return read !== undefined && read.kind !== 'mtu' && isSameOwner(read.loadBalancer, loadBalancer);
}

/** As upstream lets the group of a Classic load balancer in to the Nodes, without our mark. What a group lets itself in by is nobody's for a load balancer. Pure. */
export function isAsUpstreams(rule: SecurityGroupRule, { clusterID, group, groups }: Keeper): boolean {
  const { GroupId = '', IpProtocol, ReferencedGroupInfo: from } = rule;
  const isLetIn = from?.GroupId === group && GroupId !== group && groups.includes(GroupId);
  return isLetIn && IpProtocol === '-1' && !isOurs(rule, clusterID);
}

/** Rules for health checks on ports that many have in common, which bear the name of whoever came first. Pure. */
export function ofOtherChecks(rules: readonly SecurityGroupRule[], { clusterID, loadBalancer }: Keeper): SecurityGroupRule[] {
  return rules.filter((rule) => {
    const read = readDescription(rule);
    return read?.kind === 'health' && isOurs(rule, clusterID) && !isSameOwner(read.loadBalancer, loadBalancer);
  });
}

/** ICMP rules for clients that no rule lets in any more, in the same group. Pure. */
export function unneededMTU(rules: readonly SecurityGroupRule[]): SecurityGroupRule[] {
  const place = (rule: SecurityGroupRule): string => `${rule.GroupId ?? ''} ${sourceOf(rule) ?? ''}`;
  const clients = new Set(rules.filter((rule) => readDescription(rule)?.kind === 'client').map(place));
  return rules.filter((rule) => readDescription(rule)?.kind === 'mtu' && !clients.has(place(rule)));
}

/** Rules of the load balancer that are needed for something else than their descriptions say, each with what it is for now. Pure. */
export function misdescribed(rules: readonly SecurityGroupRule[], keeper: Keeper): { rule: SecurityGroupRule; wanted: NodeRule }[] {
  if (keeper.group !== undefined) return [];
  const own = rules.filter((rule) => rule.IsEgress !== true && isItsOwn(rule, keeper));
  return own.flatMap((rule) => {
    const wanted = keeper.wanted.find((one) => hasPlace(rule, one));
    const read = readDescription(rule);
    const isRight = wanted === undefined || (read?.kind === wanted.kind && read.loadBalancer === keeper.loadBalancer);
    return isRight ? [] : [{ rule, wanted }];
  });
}

function isOurs({ Tags }: SecurityGroupRule, clusterID: string): boolean {
  return fromAwsTags(Tags)[TAG.clusterID] === clusterID;
}
