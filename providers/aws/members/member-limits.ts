import { AWS_LIMITS, type AWSLimits } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import type { Members, Target, TargetGroup } from '../../provider';
import { instanceIDOf } from '../nodes/provider-id';
import { MembersAround } from './members-around';
import { memberAccess } from './member-access';

/** What a target group of either kind would have too much of, with the figures; undefined = all fits. Pure. */
export function tooManyTargets({ id, access }: TargetGroup, count: number, limits: AWSLimits): string | undefined {
  const remedy = (limit: keyof AWSLimits): string =>
    `Let fewer Nodes be targets (annotation target-node-labels, or the label node.kubernetes.io/exclude-from-external-load-balancers); where AWS has raised the quota, write spec.aws.limits.${limit} of the CloudProvider`;
  if (!id.startsWith('arn:')) {
    const { instancesPerClassicLoadBalancer: most } = limits;
    if (count <= most) return undefined;
    return `${count} Nodes are to be behind load balancer ${id}, and it has at most ${most} instances. ${remedy('instancesPerClassicLoadBalancer')}.`;
  }
  const { targetsPerTargetGroup, targetsPerLoadBalancer } = limits;
  if (count > targetsPerTargetGroup) {
    return `${count} Nodes are to be in target group ${id}, and it has at most ${targetsPerTargetGroup} targets. ${remedy('targetsPerTargetGroup')}.`;
  }
  const groups = access === undefined ? 1 : (memberAccess.parse(access).targetGroups ?? 1);
  const all = count * groups;
  if (all <= targetsPerLoadBalancer) return undefined;
  return `${count} Nodes in each of ${groups} target groups are ${all} targets, and a load balancer has at most ${targetsPerLoadBalancer}. Or have fewer ports. ${remedy('targetsPerLoadBalancer')}.`;
}

/** Members that are counted before AWS is asked. */
export class LimitedMembers extends MembersAround {
  constructor(
    members: Required<Members>,
    private readonly limits: AWSLimits = AWS_LIMITS,
  ) {
    super(members);
  }

  /** @throws OperatorError Quota with the figures; nothing is written then */
  sync(group: TargetGroup, targets: Target[], signalValid: () => boolean): Promise<number> {
    const count = new Set(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined)).size;
    const problem = tooManyTargets(group, count, this.limits);
    if (problem !== undefined) return Promise.reject(new OperatorError('Quota', problem, { resource: group.id }));
    return this.members.sync(group, targets, signalValid);
  }
}
