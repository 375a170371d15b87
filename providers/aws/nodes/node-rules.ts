import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../client/aws-client';
import { AwsError } from '../client/aws-error';
import type { Ec2 } from '../client/ec2';
import { TAG, toAwsTags } from '../tags';

/** Ports of Nodes that are let in, as a security group says it. */
export interface NodeRule {
  protocol: 'tcp' | 'udp' | 'icmp';
  from: number;
  to: number;
}

/** The API server's usual range (--service-node-port-range). */
const NODE_PORTS = { from: 30_000, to: 32_767 };
/** How often a lost race with another writer of the same rules is run again. */
const TRIES = 3;

/** One set of rules for all load balancers of a cluster: it does not grow with Services. */
export const SHARED_RULES: readonly NodeRule[] = [
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
export function rulesForPorts(ports: readonly string[]): NodeRule[] {
  return ports.map((text) => {
    const [protocol, port] = text.split('/');
    return { protocol: protocol === 'udp' ? 'udp' : 'tcp', from: Number(port), to: Number(port) };
  });
}

/** What of `wanted` no rule of a group says for traffic from `backend`. Pure. */
export function missingRules(has: readonly SecurityGroupRule[], backend: string, wanted: readonly NodeRule[]): NodeRule[] {
  const ours = has.filter(({ IsEgress, ReferencedGroupInfo }) => IsEgress !== true && ReferencedGroupInfo?.GroupId === backend);
  return wanted.filter(
    ({ protocol, from, to }) =>
      !ours.some(({ IpProtocol, FromPort, ToPort }) => IpProtocol === protocol && FromPort === from && ToPort === to),
  );
}

/** Where rules are written, and for whom. */
export interface RuleTarget {
  /** The group of the load balancers. */
  backend: string;
  /** Groups of Nodes. */
  groups: readonly string[];
  clusterID: string;
}

/**
 * Lets the backend group in to groups of Nodes: what is missing is added, everything else of theirs is left as it is. One read when nothing is.
 * @throws OperatorError Quota with the group's figures when it takes no more rules
 */
export async function openNodes(ec2: Ec2, target: RuleTarget, wanted: readonly NodeRule[], options: CallOptions): Promise<void> {
  if (target.groups.length === 0) return;
  for (let tries = 1; ; tries++) {
    const rules = await ec2.securityGroupRules([{ Name: 'group-id', Values: [...target.groups] }], options);
    try {
      for (const group of target.groups)
        await openGroup(ec2, { ...target, group, has: rules.filter(({ GroupId }) => GroupId === group) }, wanted, options);
      return;
    } catch (thrown) {
      if (!isDuplicate(thrown) || tries === TRIES) throw thrown;
    }
  }
}

async function openGroup(
  ec2: Ec2,
  { backend, clusterID, group, has }: RuleTarget & { group: string; has: SecurityGroupRule[] },
  wanted: readonly NodeRule[],
  options: CallOptions,
): Promise<void> {
  const missing = missingRules(has, backend, wanted);
  if (missing.length === 0) return;
  const TagSpecifications = [{ ResourceType: 'security-group-rule' as const, Tags: toAwsTags({ [TAG.clusterID]: clusterID }) }];
  const input = { GroupId: group, IpPermissions: missing.map((rule) => permissionOf(rule, backend)), TagSpecifications };
  try {
    await ec2.authorize('Ingress', input, options);
  } catch (thrown) {
    throw withFigures(thrown, group, { has: has.filter(({ IsEgress }) => IsEgress !== true).length, missing: missing.length });
  }
}

/** Removes every rule that lets the backend group in somewhere. */
export async function closeNodes(ec2: Ec2, backend: string, options: CallOptions): Promise<void> {
  const referring = await ec2.securityGroups([{ Name: 'ip-permission.group-id', Values: [backend] }], options);
  const ids = referring.map(({ GroupId = '' }) => GroupId);
  if (ids.length === 0) return;
  const rules = await ec2.securityGroupRules([{ Name: 'group-id', Values: ids }], options);
  for (const { GroupId = '', SecurityGroupRuleId = '', IsEgress, ReferencedGroupInfo } of rules) {
    if (IsEgress !== true && ReferencedGroupInfo?.GroupId === backend) await ec2.revoke('Ingress', GroupId, SecurityGroupRuleId, options);
  }
}

function permissionOf({ protocol, from, to }: NodeRule, backend: string): IpPermission {
  const pair = { GroupId: backend, Description: 'load balancers of cloud-operator' };
  return { IpProtocol: protocol, FromPort: from, ToPort: to, UserIdGroupPairs: [pair] };
}

function isDuplicate(thrown: unknown): boolean {
  return thrown instanceof AwsError && thrown.awsCode === 'InvalidPermission.Duplicate';
}

function withFigures(thrown: unknown, group: string, { has, missing }: { has: number; missing: number }): OperatorError {
  const error = toOperatorError(thrown);
  if (error.code !== 'Quota') return error;
  const remedy = 'Remove rules that nobody needs from it, or ask for a higher quota of inbound rules per security group.';
  return new OperatorError(
    'Quota',
    `the Nodes' security group ${group} has ${has} rules, and ${missing} more don't fit (${error.message}). ${remedy}`,
    {
      remedy,
      resource: group,
      cause: error,
    },
  );
}
