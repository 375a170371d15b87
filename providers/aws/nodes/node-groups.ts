import type { Instance } from '@aws-sdk/client-ec2';
import { chunks } from '../client/chunks';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { filtersOf, type InstanceScope } from './instances';
import { fromAwsTags, type Tags } from '../tags';

/** The most values of one filter. */
const FILTER_VALUES = 200;

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

/** The security groups of a cluster's Nodes, as far as they were seen. */
export class NodeGroups {
  /** The group of each instance; undefined = nobody can tell. */
  private readonly byInstance = new Map<string, string | undefined>();
  private readonly tags = new Map<string, Tags>();
  private listed: Promise<void> | undefined;

  constructor(
    private readonly ec2: Ec2,
    private readonly scope: InstanceScope,
  ) {}

  /** All that were seen. */
  get all(): string[] {
    return [...new Set(this.byInstance.values())].filter((group) => group !== undefined).sort();
  }

  /** Looks once at all the cluster's instances; those that come later are seen by `learn`. */
  list(): Promise<void> {
    this.listed ??= this.ec2.instances(filtersOf(this.scope)).then((found) => this.remember(found, {}));
    this.listed.catch(() => (this.listed = undefined));
    return this.listed;
  }

  /** Looks at instances that were not seen before; no call where all were. */
  async learn(instanceIDs: readonly string[], options: CallOptions = {}): Promise<void> {
    await this.list();
    const unseen = instanceIDs.filter((id) => !this.byInstance.has(id));
    for (const batch of chunks(unseen, FILTER_VALUES)) {
      await this.remember(await this.ec2.instances([{ Name: 'instance-id', Values: batch }], options), options);
    }
  }

  private async remember(found: readonly Instance[], options: CallOptions): Promise<void> {
    const groupsOf = ({ SecurityGroups = [] }: Instance): string[] => SecurityGroups.map(({ GroupId = '' }) => GroupId);
    const unknown = [...new Set(found.flatMap(groupsOf))].filter((group) => !this.tags.has(group));
    for (const batch of chunks(unknown, FILTER_VALUES)) {
      const groups = await this.ec2.securityGroups([{ Name: 'group-id', Values: batch }], options);
      for (const { GroupId = '', Tags } of groups) this.tags.set(GroupId, fromAwsTags(Tags));
    }
    for (const instance of found) {
      this.byInstance.set(
        instance.InstanceId ?? '',
        nodeGroupOf(groupsOf(instance), (group) => this.tags.get(group) ?? {}, this.scope),
      );
    }
  }
}
