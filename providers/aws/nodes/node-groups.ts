import type { Instance } from '@aws-sdk/client-ec2';
import { chunks, FILTER_VALUES } from '../client/chunks';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { filtersOf, type InstanceScope } from './instances';
import { fromAwsTags, type Tags } from '../tags';

/** How long a look at all instances holds: their groups change, are tagged, and go with the Nodes that had them. */
const LOOK_HOLDS_MS = 10 * 60_000;

/**
 * The security group of a Node that load balancers are let in to: the one that is tagged for the cluster, of several the first by id; where none is
 * tagged, the only one (upstream's choice, but that upstream gives up where several are tagged). Pure.
 * @returns undefined = nobody can tell
 */
export function nodeGroupOf(groups: readonly string[], tagsOf: (group: string) => Tags, scope: InstanceScope): string | undefined {
  const tagged = groups.filter((group) => isTagged(tagsOf(group), scope)).sort();
  return tagged[0] ?? (groups.length === 1 ? groups[0] : undefined);
}

function isTagged(tags: Tags, { clusterName, legacyClusterTag = false }: InstanceScope): boolean {
  if (clusterName === undefined) return false;
  return legacyClusterTag ? tags.KubernetesCluster === clusterName : tags[`kubernetes.io/cluster/${clusterName}`] !== undefined;
}

/** What is known of the Nodes' security groups. */
interface Known {
  /** The group of each instance; undefined = nobody can tell. */
  byInstance: Map<string, string | undefined>;
  /** By group. */
  tags: Map<string, Tags>;
}

/** The security groups of a cluster's Nodes: as they were at the last look at all instances, and what was learned since. */
export class NodeGroups {
  private known: Known = { byInstance: new Map(), tags: new Map() };
  private look: { since: number; done: Promise<void> } | undefined;

  constructor(
    private readonly ec2: Ec2,
    private readonly scope: InstanceScope,
  ) {}

  /** Those of the instances that are known. */
  get all(): string[] {
    return [...new Set(this.known.byInstance.values())].filter((group) => group !== undefined).sort();
  }

  /** Looks at all the cluster's instances, where the last look was some minutes ago; those that come later are seen by `learn`. */
  list(): Promise<void> {
    const now = this.ec2.retryPolicy.clock.monotonic();
    if (this.look === undefined || now - this.look.since >= LOOK_HOLDS_MS) {
      const done = this.lookAtAll();
      this.look = { since: now, done };
      done.catch(() => (this.look = undefined));
    }
    return this.look.done;
  }

  /** Looks at instances that were not seen before; no call where all were. */
  async learn(instanceIDs: readonly string[], options: CallOptions = {}): Promise<void> {
    await this.list();
    const { known } = this;
    const unseen = instanceIDs.filter((id) => !known.byInstance.has(id));
    for (const batch of chunks(unseen, FILTER_VALUES)) {
      await this.remember(known, await this.ec2.instances([{ Name: 'instance-id', Values: batch }], options), options);
    }
  }

  /** What it does not see is forgotten. */
  private async lookAtAll(): Promise<void> {
    const fresh: Known = { byInstance: new Map(), tags: new Map() };
    await this.remember(fresh, await this.ec2.instances(filtersOf(this.scope)), {});
    this.known = fresh;
  }

  private async remember(known: Known, found: readonly Instance[], options: CallOptions): Promise<void> {
    const groupsOf = ({ SecurityGroups = [], State }: Instance): string[] =>
      State?.Name === 'terminated' ? [] : SecurityGroups.map(({ GroupId = '' }) => GroupId);
    const unknown = [...new Set(found.flatMap(groupsOf))].filter((group) => !known.tags.has(group));
    for (const batch of chunks(unknown, FILTER_VALUES)) {
      const groups = await this.ec2.securityGroups([{ Name: 'group-id', Values: batch }], options);
      for (const { GroupId = '', Tags } of groups) known.tags.set(GroupId, fromAwsTags(Tags));
    }
    for (const instance of found) {
      known.byInstance.set(
        instance.InstanceId ?? '',
        nodeGroupOf(groupsOf(instance), (group) => known.tags.get(group) ?? {}, this.scope),
      );
    }
  }
}
