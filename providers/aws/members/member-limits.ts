import { AWS_LIMITS, type AWSLimits } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import type { LeftOut, Members, Target, TargetGroup } from '../../provider';
import { instanceIDOf } from '../nodes/provider-id';
import { MembersAround } from './members-around';
import { memberAccess } from './member-access';

/** How many targets a target group of either kind can have, and what is said where they are more. */
export interface Room {
  most: number;
  /** @param count of the Nodes that are to be in it */
  tooMany: (count: number) => string;
}

/** Pure. */
export function roomOf({ id, access }: TargetGroup, limits: AWSLimits): Room {
  const remedy = (limit: keyof AWSLimits): string =>
    `Let fewer Nodes be targets (annotation target-node-labels, or the label node.kubernetes.io/exclude-from-external-load-balancers); where AWS has raised the quota, write spec.aws.limits.${limit} of the CloudProvider`;
  const rest = (most: number): string => `The first ${most} by name are, the others get no traffic.`;
  if (!id.startsWith('arn:')) {
    const { instancesPerClassicLoadBalancer: most } = limits;
    const tooMany = (count: number): string =>
      `${count} Nodes are to be behind load balancer ${id}, and it has at most ${most} instances. ${rest(most)} ${remedy('instancesPerClassicLoadBalancer')}.`;
    return { most, tooMany };
  }
  const { targetsPerTargetGroup, targetsPerLoadBalancer } = limits;
  const groups = access === undefined ? 1 : (memberAccess.parse(access).targetGroups ?? 1);
  if (targetsPerTargetGroup * groups <= targetsPerLoadBalancer) {
    const most = targetsPerTargetGroup;
    const tooMany = (count: number): string =>
      `${count} Nodes are to be in target group ${id}, and it has at most ${most} targets. ${rest(most)} ${remedy('targetsPerTargetGroup')}.`;
    return { most, tooMany };
  }
  const most = Math.floor(targetsPerLoadBalancer / groups);
  const tooMany = (count: number): string =>
    `${count} Nodes in each of ${groups} target groups are ${count * groups} targets, and a load balancer has at most ${targetsPerLoadBalancer}. ${rest(most)} Have fewer ports, or: ${remedy('targetsPerLoadBalancer')}.`;
  return { most, tooMany };
}

/** Members that are counted before AWS is asked: as many as there is room for are registered, always the same ones, and the others are told of. */
export class LimitedMembers extends MembersAround {
  constructor(
    members: Required<Members>,
    private readonly limits: AWSLimits = AWS_LIMITS,
  ) {
    super(members);
  }

  /** @throws OperatorError Quota with the figures, once those that there is room for are registered */
  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number> {
    const { most, tooMany } = roomOf(group, this.limits);
    const ids = new Set(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined));
    if (ids.size <= most) return this.members.sync(group, targets, signalValid, left);
    const first = new Set([...ids].slice(0, most));
    const fitting = targets.filter(({ providerID }) => first.has(instanceIDOf(providerID) ?? ''));
    await this.members.sync(group, fitting, signalValid, left);
    throw new OperatorError('Quota', tooMany(ids.size), { resource: group.id });
  }
}
