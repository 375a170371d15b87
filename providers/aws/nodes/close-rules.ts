import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import { classicGroupName } from '../load-balancers/names';
import type { Api } from '../resources/description';
import { TAG } from '../tags';
import { sourceOf, type NodeRule } from './node-rule';
import { descriptionOf, openNodes, readDescription, revokeAll } from './node-rules';
import { portsInUse, type Excepted } from './port-users';
import { isAsUpstreams, misdescribed, ofOtherChecks, unneeded, unneededMTU, type Keeper } from './stale-rules';

export interface Closing extends Keeper {
  /** Which target groups are the load balancer's own; absent = it has none any more. */
  own?: Excepted | undefined;
  /** Upstream's name of the cluster. */
  clusterName?: string | undefined;
  maxRules: number;
}

/**
 * Revokes what a load balancer does not need any more in the groups of Nodes, and nobody else does: ports are told by the target groups of the
 * cluster, groups by the load balancers that have them. Who comes while something is revoked would miss it, so all that was revoked is looked
 * at again afterwards, and given back: who came before that look is seen there, and who comes after it finds the rule missing and makes it.
 */
export async function closeRules(api: Api, closing: Closing): Promise<void> {
  const { ec2, options } = api;
  const rules = await rulesOf(api, closing);
  const own = unneeded(rules, { ...closing, isMade: await isGroupMade(api, closing, rules) });
  const common = closing.wanted.length > 0 || closing.group !== undefined ? [] : await orphanedChecks(api, closing, rules);
  const candidates = [...own, ...common];
  const kept = await keptOf(api, closing, candidates);
  const revoked = candidates.filter((rule) => !kept(rule));
  await revokeAll(ec2, revoked, options);
  const back = revoked.filter(await keptOf(api, closing, revoked));
  await giveBack(api, closing, back);
  if (closing.group !== undefined) return;
  for (const { rule, wanted } of misdescribed(rules, closing)) await describeAnew(api, rule, wanted, closing);
  const left = rules.filter((rule) => !revoked.includes(rule) || back.includes(rule));
  await closeMTU(
    api,
    closing,
    left.map((rule) => asDescribed(rule, rules, closing)),
  );
}

/** Those that bear our mark, wherever they are, and those of the groups of Nodes that are known, where upstream's are. */
async function rulesOf({ ec2, options }: Api, { clusterID, groups }: Closing): Promise<SecurityGroupRule[]> {
  const ours = await ec2.securityGroupRules([{ Name: `tag:${TAG.clusterID}`, Values: [clusterID] }], options);
  const ofNodes = groups.length === 0 ? [] : await ec2.securityGroupRules([{ Name: 'group-id', Values: [...groups] }], options);
  return [...new Map([...ours, ...ofNodes].map((rule) => [rule.SecurityGroupRuleId, rule])).values()];
}

/** Whether the group bears upstream's name for the load balancer's own one; asked where there are rules that it matters for. */
async function isGroupMade({ ec2, options }: Api, closing: Closing, rules: readonly SecurityGroupRule[]): Promise<boolean> {
  const { group, loadBalancer } = closing;
  if (group === undefined || !rules.some((rule) => isAsUpstreams(rule, closing))) return false;
  const [found] = await ec2.securityGroups([{ Name: 'group-id', Values: [group] }], options);
  return found?.GroupName === classicGroupName(loadBalancer);
}

/** Checks of ports that many have in common are described by the first who came: when that one is gone, the last takes the rule along. */
async function orphanedChecks({ elb, options }: Api, closing: Closing, rules: readonly SecurityGroupRule[]): Promise<SecurityGroupRule[]> {
  const others = ofOtherChecks(rules, closing);
  if (others.length === 0) return [];
  const there = new Set((await elb.loadBalancers({}, options)).map(({ LoadBalancerName }) => LoadBalancerName));
  return others.filter((rule) => !there.has(readDescription(rule)?.loadBalancer));
}

/** @returns whether somebody else needs a rule */
async function keptOf(
  api: Api,
  { clusterID, clusterName, own: except, group }: Closing,
  candidates: readonly SecurityGroupRule[],
): Promise<(rule: SecurityGroupRule) => boolean> {
  if (candidates.length === 0) return () => false;
  if (group !== undefined && !(await hasGroup(api, group))) return () => false;
  const used = await portsInUse(api.elb, new Set(candidates.map(portOf)), { clusterID, clusterName, except }, api.options);
  const isSingle = ({ FromPort, ToPort, IpProtocol }: SecurityGroupRule): boolean =>
    FromPort === ToPort && (IpProtocol === 'tcp' || IpProtocol === 'udp');
  // What is for all ports of a group's load balancers stays while there are any.
  return (rule) => (group !== undefined && !isSingle(rule)) || used.has(portOf(rule));
}

/** Whether a load balancer of either kind has the security group. */
async function hasGroup({ elb, classic, options }: Api, group: string): Promise<boolean> {
  const [network, others] = await Promise.all([elb.loadBalancers({}, options), classic.loadBalancers(undefined, options)]);
  return [...network, ...others].some(({ SecurityGroups = [] }) => SecurityGroups.includes(group));
}

function portOf({ IpProtocol = '', FromPort = 0 }: SecurityGroupRule): string {
  return `${IpProtocol}/${FromPort}`;
}

async function describeAnew({ ec2, options }: Api, rule: SecurityGroupRule, wanted: NodeRule, { loadBalancer }: Closing): Promise<void> {
  const { GroupId = '', SecurityGroupRuleId = '', IpProtocol, FromPort, ToPort, CidrIpv4, CidrIpv6, PrefixListId } = rule;
  const source = { ...(CidrIpv4 && { CidrIpv4 }), ...(CidrIpv6 && { CidrIpv6 }), ...(PrefixListId && { PrefixListId }) };
  const Description = descriptionOf(wanted.kind, loadBalancer);
  await ec2.modifySecurityGroupRule(GroupId, SecurityGroupRuleId, { IpProtocol, FromPort, ToPort, ...source, Description }, options);
}

function asDescribed(rule: SecurityGroupRule, rules: readonly SecurityGroupRule[], closing: Closing): SecurityGroupRule {
  const found = misdescribed(rules, closing).find((one) => one.rule === rule);
  return found === undefined ? rule : { ...rule, Description: descriptionOf(found.wanted.kind, closing.loadBalancer) };
}

/** ICMP rules for clients that no rule lets in any more; where one has come to do so meanwhile, they are given back. */
async function closeMTU(api: Api, closing: Closing, left: readonly SecurityGroupRule[]): Promise<void> {
  const gone = unneededMTU(left);
  if (gone.length === 0) return;
  await revokeAll(api.ec2, gone, api.options);
  const rules = await rulesOf(api, closing);
  const isNeeded = (one: SecurityGroupRule): boolean =>
    rules.some((rule) => rule.GroupId === one.GroupId && sourceOf(rule) === sourceOf(one) && readDescription(rule)?.kind === 'client');
  await giveBack(api, closing, gone.filter(isNeeded));
}

/** Makes rules again that were revoked, with our mark. @param loadBalancer of whom those tell whose descriptions name nobody */
export async function giveBack(
  api: Api,
  { clusterID, maxRules, loadBalancer }: Pick<Closing, 'clusterID' | 'maxRules' | 'loadBalancer'>,
  gone: readonly SecurityGroupRule[],
): Promise<void> {
  for (const rule of gone) {
    const read = readDescription(rule);
    const target = { groups: [rule.GroupId ?? ''], clusterID, maxRules, loadBalancer: read?.loadBalancer ?? loadBalancer };
    await openNodes(api.ec2, target, [ruleOf(rule, read?.kind ?? 'group')], api.options);
  }
}

function ruleOf(rule: SecurityGroupRule, kind: NodeRule['kind']): NodeRule {
  const { IpProtocol, FromPort: from = 0, ToPort: to = 0 } = rule;
  return { protocol: IpProtocol as NodeRule['protocol'], from, to, source: sourceOf(rule) ?? '', kind };
}
