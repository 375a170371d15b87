import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { CallOptions } from '../../client-options';
import { chunks } from '../client/chunks';
import type { ElbV2 } from '../client/elbv2';
import { isOfUpstreamCluster, TAG, type Tags } from '../tags';

/** The most target groups of one call for tags. */
const BATCH = 20;

/** Ports of Nodes that a target group sends traffic and health checks to, such as tcp/30080. Pure. */
export function portsOf({ Port, Protocol = 'TCP', HealthCheckPort = 'traffic-port' }: TargetGroup): string[] {
  const transports = Protocol === 'TCP_UDP' ? ['tcp', 'udp'] : [Protocol === 'UDP' ? 'udp' : 'tcp'];
  const checked = HealthCheckPort === 'traffic-port' ? Port : Number(HealthCheckPort);
  return [...new Set([...transports.map((transport) => `${transport}/${Port}`), `tcp/${checked}`])];
}

/** Whose target groups count. */
export interface Users {
  clusterID: string;
  /** Upstream's name of the cluster: what other controllers have made for it counts too, since it may not be taken over yet. */
  clusterName?: string | undefined;
  except?: Excepted | undefined;
}

/** Whose target groups don't count, because it is known what they need. */
export interface Excepted {
  /** UID of an owner. */
  ownerUID?: string | undefined;
  /** A load balancer that several owners share: those that are behind it alone. */
  loadBalancerArn?: string | undefined;
}

/** Whether a target group counts. Pure. */
export function counts(tags: Tags, loadBalancers: readonly string[], { clusterID, clusterName, except = {} }: Users): boolean {
  const { [TAG.clusterID]: cluster, [TAG.ownerUID]: owner } = tags;
  if (cluster === undefined) return isOfUpstreamCluster(tags, clusterName);
  const { ownerUID, loadBalancerArn } = except;
  const isOwn = ownerUID !== undefined && owner === ownerUID;
  const isBehind = loadBalancerArn !== undefined && loadBalancers.length > 0 && loadBalancers.every((arn) => arn === loadBalancerArn);
  return cluster === clusterID && !isOwn && !isBehind;
}

/**
 * Which of the ports a target group of the cluster needs, those that were released to nobody, or are another controller's, too. Two calls in most cases: the groups are asked for
 * whose they are only until each port has a user.
 */
export async function portsInUse(elb: ElbV2, ports: ReadonlySet<string>, users: Users, options: CallOptions): Promise<Set<string>> {
  if (ports.size === 0) return new Set();
  const used = new Set<string>();
  const all = (await elb.targetGroups({}, options)).map((group) => ({
    id: group.TargetGroupArn ?? '',
    ports: portsOf(group),
    loadBalancers: group.LoadBalancerArns ?? [],
  }));
  const matching = all.filter((group) => group.ports.some((port) => ports.has(port)));
  for (const batch of chunks(matching, BATCH)) {
    if ([...ports].every((port) => used.has(port))) break;
    const tags = await elb.presentTags(
      batch.map(({ id }) => id),
      options,
    );
    const others = batch.filter(({ id, loadBalancers }) => counts(tags.get(id) ?? {}, loadBalancers, users));
    others.flatMap((group) => group.ports.filter((port) => ports.has(port))).forEach((port) => used.add(port));
  }
  return used;
}
