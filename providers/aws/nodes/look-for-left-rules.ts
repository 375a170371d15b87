import type { Filter, SecurityGroup, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { CloudLoadBalancerSpec } from '../../../crds';
import type { KnownOwners } from '../../provider';
import { chunks, FILTER_VALUES } from '../client/chunks';
import { named } from '../named';
import type { Api } from '../resources/description';
import { isGroupID } from '../resources/named-groups';
import { clusterFilters, TAG } from '../tags';
import { leftRulesOf, type LeftRulesFacts, type LeftRulesScope } from './left-rules';

export interface LeftRulesPlace extends LeftRulesScope {
  legacyClusterTag?: boolean | undefined;
}

interface Beside {
  /** What accounts for rules in the cluster, asked for once AWS has answered. */
  known?: (() => KnownOwners) | undefined;
  /** Rules that are gone, and are looked at as if they were there. */
  revoked?: readonly SecurityGroupRule[];
}

/**
 * Rules for the cluster's load balancers which nothing accounts for, by whom they were made for. They are looked for in the groups that are tagged for the cluster,
 * and wherever rules with our mark are. Four calls where each rule is one of the backend group's.
 */
export async function lookForLeftRules(
  api: Api,
  place: LeftRulesPlace,
  { known, revoked = [] }: Beside = {},
): Promise<Map<string, SecurityGroupRule[]>> {
  const { ec2, options } = api;
  const { clusterID, clusterName, legacyClusterTag } = place;
  const filters = clusterName === undefined ? [] : clusterFilters(clusterName, legacyClusterTag);
  const [ours, tagged] = await Promise.all([
    ec2.securityGroupRules([{ Name: `tag:${TAG.clusterID}`, Values: [clusterID] }], options),
    Promise.all(filters.map((filter) => ec2.securityGroups([filter], options))),
  ]);
  const within = [...ours, ...tagged.flat(), ...revoked].map(({ GroupId = '' }) => GroupId);
  const rules = [...(await byGroups(within, (filter) => ec2.securityGroupRules([filter], options))), ...revoked];
  const ends = rules.flatMap(({ GroupId = '', ReferencedGroupInfo: from }) =>
    from?.GroupId === undefined ? [GroupId] : [GroupId, from.GroupId],
  );
  const groups = await byGroups(ends, (filter) => ec2.securityGroups([filter], options));
  const facts = { clusterID, clusterName, rules, groups };
  const unused = { loadBalancers: [], groupsInUse: new Set<string>(), targetGroups: [] };
  // What would not be left without any load balancer is not left with some.
  if (leftRulesOf({ ...facts, ...unused }).size === 0) return new Map();
  const all = { ...facts, ...(await usersOf(api)), known: known?.() };
  const left = leftRulesOf(all);
  if (all.known === undefined || ![...left.keys()].some(isGroupID)) return left;
  // A load balancer that names a group has its rules before it is made, for as long as that is refused.
  const specs = await all.known.specs();
  if (specs === undefined) return new Map([...left].filter(([of]) => !isGroupID(of)));
  return leftRulesOf({ ...all, named: groupsNamedIn(specs) });
}

function groupsNamedIn(specs: readonly CloudLoadBalancerSpec[]): Set<string> {
  return new Set(specs.flatMap((spec) => named(spec).flatMap(({ list, value }) => (list === 'securityGroups' ? [value] : []))));
}

async function usersOf({ elb, classic, options }: Api): Promise<Pick<LeftRulesFacts, 'loadBalancers' | 'groupsInUse' | 'targetGroups'>> {
  const [network, others, targetGroups] = await Promise.all([
    elb.loadBalancers({}, options),
    classic.loadBalancers(undefined, options),
    elb.targetGroups({}, options),
  ]);
  const all = [...network, ...others];
  return {
    loadBalancers: all.map(({ LoadBalancerName = '' }) => LoadBalancerName),
    groupsInUse: new Set(all.flatMap(({ SecurityGroups = [] }) => SecurityGroups)),
    targetGroups,
  };
}

/** By ids of groups; what is gone of them is passed over. */
async function byGroups<T extends SecurityGroup | SecurityGroupRule>(
  ids: readonly string[],
  list: (filter: Filter) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (const Values of chunks([...new Set(ids)], FILTER_VALUES)) found.push(...(await list({ Name: 'group-id', Values })));
  return found;
}
