import { AWS_LIMITS, type AWSLimits } from '../../../crds';
import type { LeftOut, Target, TargetGroup } from '../../provider';
import { instanceIDOf, zoneOf } from '../nodes/provider-id';
import { MembersAround, type InnerMembers } from './members-around';
import { memberAccess, type MemberAccess } from './member-access';

/** How many targets a target group of either kind can have, and what is said where they are more. */
export interface Bound {
  most: number;
  /** It is for each zone by itself; absent = for all targets together. */
  perZone?: true;
  /** @param count of the Nodes that are to be in it, of that zone where it is for one */
  tooMany: (count: number, zone: string) => string;
}

/**
 * AWS counts a target as often as it is registered, in each zone, or in all together where traffic goes across zones
 * (docs.aws.amazon.com, "Quotas for your Network Load Balancers"). Pure.
 */
export function boundsOf({ id, access }: TargetGroup, limits: AWSLimits): Bound[] {
  if (!id.startsWith('arn:')) {
    const { instancesPerClassicLoadBalancer: most } = limits;
    const tooMany = (count: number): string =>
      `${count} Nodes are to be behind load balancer ${id}, and it has at most ${most} instances. ${rest(most)} ${remedy('instancesPerClassicLoadBalancer')}.`;
    return [{ most, tooMany }];
  }
  const { targetGroups = 1, crossZone }: Partial<MemberAccess> = access === undefined ? {} : memberAccess.parse(access);
  return [inAll(id, targetGroups, limits), crossZone === true ? acrossZones(targetGroups, limits) : inZone(targetGroups, limits)];
}

function inAll(id: string, groups: number, { targetsPerTargetGroup, targetsPerLoadBalancer }: AWSLimits): Bound {
  if (targetsPerTargetGroup * groups <= targetsPerLoadBalancer) {
    const most = targetsPerTargetGroup;
    const tooMany = (count: number): string =>
      `${count} Nodes are to be in target group ${id}, and it has at most ${most} targets. ${rest(most)} ${remedy('targetsPerTargetGroup')}.`;
    return { most, tooMany };
  }
  const most = Math.floor(targetsPerLoadBalancer / groups);
  const tooMany = (count: number): string =>
    `${inEach(count, groups)}, and a load balancer has at most ${targetsPerLoadBalancer}. ${rest(most)} Have fewer ports, or: ${remedy('targetsPerLoadBalancer')}.`;
  return { most, tooMany };
}

function acrossZones(groups: number, { targetsPerZone }: AWSLimits): Bound {
  const most = Math.floor(targetsPerZone / groups);
  const tooMany = (count: number): string =>
    `${inEach(count, groups)}, and a load balancer that sends across zones has at most ${targetsPerZone}. ${rest(most)} Have fewer ports, or crossZone: false, or: ${remedy('targetsPerZone')}.`;
  return { most, tooMany };
}

function inZone(groups: number, { targetsPerZone }: AWSLimits): Bound {
  const most = Math.floor(targetsPerZone / groups);
  const tooMany = (count: number, zone: string): string =>
    `${inEach(count, groups)} in zone ${zone}, and a load balancer has at most ${targetsPerZone} in one zone. ${rest(most)} Have fewer ports, or: ${remedy('targetsPerZone')}.`;
  return { most, perZone: true, tooMany };
}

function inEach(count: number, groups: number): string {
  return groups === 1 ? `${count} Nodes are targets` : `${count} Nodes in each of ${groups} target groups are ${count * groups} targets`;
}

function rest(most: number): string {
  return `The first ${most} by name are, the others get no traffic.`;
}

function remedy(limit: keyof AWSLimits): string {
  return `Let fewer Nodes be targets (annotation target-node-labels, or the label node.kubernetes.io/exclude-from-external-load-balancers); where AWS has raised the quota, write spec.aws.limits.${limit} of the CloudProvider`;
}

interface Machine {
  id: string;
  /** Undefined where its providerID names none. */
  zone: string | undefined;
}

/** Machines of a list of targets, each once, and as many as are in the fullest zone. */
interface Census {
  machines: readonly Machine[];
  fullest: number;
}

function censusOf(targets: readonly Target[]): Census {
  const zones = new Map<string, string | undefined>();
  for (const { providerID } of targets) {
    const id = instanceIDOf(providerID);
    if (id !== undefined && !zones.has(id)) zones.set(id, zoneOf(providerID));
  }
  const machines = [...zones].map(([id, zone]) => ({ id, zone }));
  return { machines, fullest: Math.max(0, ...[...byZone(machines).values()].map(({ length }) => length)) };
}

function byZone(machines: readonly Machine[]): Map<string, Machine[]> {
  const zones = new Map<string, Machine[]>();
  for (const machine of machines) {
    if (machine.zone === undefined) continue;
    const there = zones.get(machine.zone);
    if (there === undefined) zones.set(machine.zone, [machine]);
    else there.push(machine);
  }
  return zones;
}

/** Members that are counted before AWS is asked: as many as there is room for are registered, always the same ones, and the others are told of. */
export class LimitedMembers extends MembersAround {
  /** By list of targets, which is never changed. */
  private readonly censuses = new WeakMap<readonly Target[], Census>();
  /** The same for lists of which not all fit: by how many do. */
  private readonly chosen = new WeakMap<readonly Target[], Map<string, Target[]>>();

  constructor(
    members: InnerMembers,
    private readonly quotas: AWSLimits = AWS_LIMITS,
  ) {
    super(members);
  }

  sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number> {
    return this.members.sync(group, this.fitting(group, targets), signalValid, left);
  }

  override hash(group: TargetGroup, targets: Target[]): string {
    return this.members.hash(group, this.fitting(group, targets));
  }

  override assume(group: TargetGroup, targets: Target[]): void {
    this.members.assume(group, this.fitting(group, targets));
  }

  override limits(group: TargetGroup, targets: Target[]): string[] {
    const bounds = boundsOf(group, this.quotas);
    const census = this.censusOf(targets);
    return isWithin(census, bounds) ? [] : beyondOf(census, bounds).tooMany;
  }

  private fitting(group: TargetGroup, targets: Target[]): Target[] {
    const bounds = boundsOf(group, this.quotas);
    const census = this.censusOf(targets);
    if (isWithin(census, bounds)) return targets;
    const room = JSON.stringify(bounds);
    const chosen = this.chosen.get(targets) ?? new Map<string, Target[]>();
    this.chosen.set(targets, chosen);
    const known = chosen.get(room);
    if (known !== undefined) return known;
    const { ids } = beyondOf(census, bounds);
    const fitting = targets.filter(({ providerID }) => !ids.has(instanceIDOf(providerID) ?? ''));
    chosen.set(room, fitting);
    return fitting;
  }

  private censusOf(targets: readonly Target[]): Census {
    const known = this.censuses.get(targets) ?? censusOf(targets);
    this.censuses.set(targets, known);
    return known;
  }
}

function isWithin({ machines, fullest }: Census, bounds: readonly Bound[]): boolean {
  return bounds.every(({ most, perZone }) => (perZone === true ? fullest : machines.length) <= most);
}

/** All but the first ones that are within each bound, and what is said of them. */
function beyondOf({ machines: all }: Census, bounds: readonly Bound[]): { ids: ReadonlySet<string>; tooMany: string[] } {
  const ids = new Set<string>();
  const tooMany: string[] = [];
  for (const { most, perZone, tooMany: tell } of bounds) {
    const fitting = all.filter(({ id }) => !ids.has(id));
    const sets: [string, readonly Machine[]][] = perZone === true ? [...byZone(fitting)] : [['', fitting]];
    for (const [zone, machines] of sets.filter(([, { length }]) => length > most)) {
      tooMany.push(tell(machines.length, zone));
      machines.slice(most).forEach(({ id }) => ids.add(id));
    }
  }
  return { ids, tooMany };
}
