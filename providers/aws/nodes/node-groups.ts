import type { Instance } from '@aws-sdk/client-ec2';
import { chunks, FILTER_VALUES } from '../client/chunks';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { instancesOf, type InstanceScope } from './instances';
import { fromAwsTags, isOfCluster, type Tags } from '../tags';

/** How long a look at all instances holds: their groups change, are tagged, and go with the Nodes that had them. */
const LOOK_HOLDS_MS = 10 * 60_000;

/**
 * The security group of a Node that load balancers are let in to: the one that is tagged for the cluster, of several the first by id; where none is
 * tagged, the only one (upstream's choice, but that upstream gives up where several are tagged). Pure.
 * @returns undefined = nobody can tell
 */
export function nodeGroupOf(
  groups: readonly string[],
  tagsOf: (group: string) => Tags,
  { clusterName }: Pick<InstanceScope, 'clusterName'>,
): string | undefined {
  const tagged = groups.filter((group) => clusterName !== undefined && isOfCluster(tagsOf(group), clusterName)).sort();
  return tagged[0] ?? (groups.length === 1 ? groups[0] : undefined);
}

/** The security groups of each instance; of one that is gone, none. */
type GroupsByInstance = ReadonlyMap<string, readonly string[]>;

/** What is known of the Nodes' security groups. */
interface Known {
  /** The group of each instance; undefined = nobody can tell. */
  byInstance: Map<string, string | undefined>;
  /** By group. */
  tags: Map<string, Tags>;
}

/** The security groups of a cluster's Nodes: as they were at the last listing of all instances, and what was learned since. */
export class NodeGroups {
  private known: Known = { byInstance: new Map(), tags: new Map() };
  private look: { since: number; done: Promise<void> } | undefined;
  /** The newest listing that somebody else made. */
  private seen: { at: number; groups: GroupsByInstance } | undefined;

  constructor(
    private readonly ec2: Ec2,
    private readonly scope: InstanceScope,
  ) {}

  /** Those of the instances that are known. */
  get all(): string[] {
    return this.of([...this.known.byInstance.keys()]);
  }

  /** Those of instances, of which the unknown have none. */
  of(instanceIDs: readonly string[]): string[] {
    const groups = instanceIDs.map((id) => this.known.byInstance.get(id)).filter((group) => group !== undefined);
    return [...new Set(groups)].sort();
  }

  /** Takes a listing of all the cluster's instances that somebody else made, in place of one of its own. */
  saw(instances: readonly Instance[]): void {
    this.seen = { at: this.now, groups: groupsByInstance(instances) };
  }

  /** Looks at all the cluster's instances, where the last look was some minutes ago; those that come later are seen by `learn`. */
  list(): Promise<void> {
    if (this.look === undefined || this.isOld(this.look.since)) {
      const { recent } = this;
      const done = this.lookAtAll(recent?.groups);
      this.look = { since: recent?.at ?? this.now, done };
      done.catch(() => (this.look = undefined));
    }
    return this.look.done;
  }

  /** Looks at instances that were not seen before; no call where all were, by whomever. */
  async learn(instanceIDs: readonly string[], options: CallOptions = {}): Promise<void> {
    await this.list();
    const { known, recent } = this;
    const unknown = instanceIDs.filter((id) => !known.byInstance.has(id));
    const listed = new Map<string, readonly string[]>();
    for (const id of unknown) {
      const groups = recent?.groups.get(id);
      if (groups !== undefined) listed.set(id, groups);
    }
    await this.remember(known, listed, options);
    for (const batch of chunks(
      unknown.filter((id) => !listed.has(id)),
      FILTER_VALUES,
    )) {
      // The listing is of before these, and does not do for a look at all.
      this.seen = undefined;
      const found = await this.ec2.instances([{ Name: 'instance-id', Values: batch }], options);
      await this.remember(known, groupsByInstance(found), options);
    }
  }

  private get recent(): NodeGroups['seen'] {
    return this.seen !== undefined && !this.isOld(this.seen.at) ? this.seen : undefined;
  }

  private get now(): number {
    return this.ec2.retryPolicy.clock.monotonic();
  }

  private isOld(since: number): boolean {
    return this.now - since >= LOOK_HOLDS_MS;
  }

  /** What it does not see is forgotten. */
  private async lookAtAll(seen: GroupsByInstance | undefined): Promise<void> {
    const fresh: Known = { byInstance: new Map(), tags: new Map() };
    await this.remember(fresh, seen ?? groupsByInstance(await instancesOf(this.ec2, this.scope)), {});
    this.known = fresh;
  }

  /** Tags are asked for where they decide: of instances with several groups. */
  private async remember(known: Known, found: GroupsByInstance, options: CallOptions): Promise<void> {
    const choices = [...found.values()].filter(({ length }) => length > 1).flat();
    const unknown = [...new Set(choices)].filter((group) => !known.tags.has(group));
    for (const batch of chunks(unknown, FILTER_VALUES)) {
      const groups = await this.ec2.securityGroups([{ Name: 'group-id', Values: batch }], options);
      for (const { GroupId = '', Tags } of groups) known.tags.set(GroupId, fromAwsTags(Tags));
    }
    for (const [id, groups] of found) {
      known.byInstance.set(
        id,
        nodeGroupOf(groups, (group) => known.tags.get(group) ?? {}, this.scope),
      );
    }
  }
}

function groupsByInstance(instances: readonly Instance[]): GroupsByInstance {
  return new Map(
    instances.map(({ InstanceId = '', SecurityGroups = [], State }) => [
      InstanceId,
      State?.Name === 'terminated' ? [] : SecurityGroups.map(({ GroupId = '' }) => GroupId),
    ]),
  );
}
