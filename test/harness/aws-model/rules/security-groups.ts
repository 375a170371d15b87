import type { ElasticLoadBalancingV2 } from '@aws-sdk/client-elastic-load-balancing-v2';
import { refusal, type ModelAnswer } from '../call';
import type { MotoState, Rule } from '../rule';
import type { Clock } from '../../../../operator/base/clock';

/** How long the interfaces of a deleted load balancer keep its groups in use. */
export interface Lingering {
  clock: Clock;
  lingerMs: number;
}

/**
 * A security group can't be deleted while a load balancer or an instance has it, or another group's rule names it; after a load balancer goes its network
 * interfaces stay for a while, minutes in AWS. moto deletes it.
 */
export function groupInUse(lingering?: Lingering): Rule {
  const freeAt = new Map<string, number>();
  const now = (): number => lingering?.clock.monotonic() ?? 0;
  const letGo = async (arn: string, { elb }: MotoState): Promise<undefined> => {
    for (const id of await groupsOf(elb, arn)) freeAt.set(id, now() + (lingering?.lingerMs ?? 0));
  };
  const refuse = async (id: string, moto: MotoState): Promise<ModelAnswer | undefined> => {
    const used = (freeAt.get(id) ?? 0) > now() || (await isUsed(id, moto));
    return used ? refusal('DependencyViolation', `resource ${id} has a dependent object`) : undefined;
  };
  return {
    before({ service, action, parameters }, moto) {
      if (service === 'elbv2' && action === 'DeleteLoadBalancer') return letGo(parameters.get('LoadBalancerArn') ?? '', moto);
      return service === 'ec2' && action === 'DeleteSecurityGroup' ? refuse(parameters.get('GroupId') ?? '', moto) : undefined;
    },
  };
}

async function groupsOf(elb: ElasticLoadBalancingV2, arn: string): Promise<string[]> {
  const { LoadBalancers = [] } = await elb.describeLoadBalancers({ LoadBalancerArns: [arn] }).catch(() => ({ LoadBalancers: [] }));
  return LoadBalancers[0]?.SecurityGroups ?? [];
}

async function isUsed(id: string, { ec2, elb, classic }: MotoState): Promise<boolean> {
  const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
  if (LoadBalancers.some(({ SecurityGroups = [] }) => SecurityGroups.includes(id))) return true;
  const { LoadBalancerDescriptions = [] } = await classic.describeLoadBalancers({});
  if (LoadBalancerDescriptions.some(({ SecurityGroups = [] }) => SecurityGroups.includes(id))) return true;
  const { Reservations = [] } = await ec2.describeInstances({ Filters: [{ Name: 'instance.group-id', Values: [id] }] });
  const instances = Reservations.flatMap(({ Instances = [] }) => Instances).filter(({ State }) => State?.Name !== 'terminated');
  if (instances.some(({ SecurityGroups: groups = [] }) => groups.some(({ GroupId }) => GroupId === id))) return true;
  const { SecurityGroups = [] } = await ec2.describeSecurityGroups({});
  return SecurityGroups.some(
    ({ GroupId, IpPermissions = [] }) =>
      GroupId !== id && IpPermissions.some(({ UserIdGroupPairs = [] }) => UserIdGroupPairs.some((pair) => pair.GroupId === id)),
  );
}
