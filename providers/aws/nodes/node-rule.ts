import type { SecurityGroupRule } from '@aws-sdk/client-ec2';

/** Ports of Nodes that are let in, as a security group says it; the protocol -1 is all traffic. */
export interface Ports {
  protocol: 'tcp' | 'udp' | 'icmp' | 'icmpv6' | '-1';
  from: number;
  to: number;
}

/** One rule of a group of Nodes. */
export interface NodeRule extends Ports {
  /** A range of addresses, or the id of a security group or prefix list. */
  source: string;
  /** What it is for: clients, health checks and path MTU discovery as upstream has them, or a group of load balancers. */
  kind: 'client' | 'health' | 'mtu' | 'group';
}

/** All traffic, which has no ports. */
export const ALL_TRAFFIC: Ports = { protocol: '-1', from: -1, to: -1 };

/** A rule as one text, such as `tcp 30080:30080 192.0.2.0/24 client`: the form in which it stands in states. Pure. */
export function writeRule({ protocol, from, to, source, kind }: NodeRule): string {
  return `${protocol} ${from}:${to} ${source} ${kind}`;
}

/** Pure. */
export function readRule(text: string): NodeRule {
  const [protocol = '', ports = '', source = '', kind = ''] = text.split(' ');
  const [from, to] = ports.split(':').map(Number);
  return {
    protocol: protocol as NodeRule['protocol'],
    from: from ?? 0,
    to: to ?? 0,
    source,
    kind: kind as NodeRule['kind'],
  };
}

/** What two rules of a group can't have both is protocol, ports and source: words and tags don't count. Pure. */
export function hasPlace(rule: SecurityGroupRule, { protocol, from, to, source }: Omit<NodeRule, 'kind'>): boolean {
  if (rule.IsEgress === true || rule.IpProtocol !== protocol || sourceOf(rule) !== source) return false;
  return protocol === '-1' || (rule.FromPort === from && rule.ToPort === to);
}

/** Pure. */
export function sourceOf({ CidrIpv4, CidrIpv6, PrefixListId, ReferencedGroupInfo }: SecurityGroupRule): string | undefined {
  return CidrIpv4 ?? CidrIpv6 ?? PrefixListId ?? ReferencedGroupInfo?.GroupId;
}

type Family = 'IPv4' | 'IPv6';

/** AWS counts for each family; a rule with a group or a prefix list counts for both. */
function counts(source: string | undefined, family: Family): boolean {
  if (source?.startsWith('sg-') === true || source?.startsWith('pl-') === true) return true;
  return (source?.includes(':') === true) === (family === 'IPv6');
}

/**
 * The figures of the family of which a group would have too many inbound rules; undefined = all fits. Pure.
 * @param has all rules of the group
 */
export function overLimit(
  has: readonly SecurityGroupRule[],
  missing: readonly NodeRule[],
  limit: number,
): { has: number; more: number; limit: number } | undefined {
  const inbound = has.filter(({ IsEgress }) => IsEgress !== true);
  for (const family of ['IPv4', 'IPv6'] as const) {
    const there = inbound.filter((rule) => counts(sourceOf(rule), family)).length;
    const more = missing.filter(({ source }) => counts(source, family)).length;
    if (more > 0 && there + more > limit) return { has: there, more, limit };
  }
  return undefined;
}
