import { hashJson } from '../../../operator/base/json';
import type { LeftOut, Target, TargetGroup } from '../../provider';
import { assertMayWrite } from '../../member-writes';
import type { Ec2 } from '../client/ec2';
import { backendGroupName } from '../nodes/backend-group';
import type { NodeGroups } from '../nodes/node-groups';
import { readRule, type NodeRule } from '../nodes/node-rule';
import { missingRules, openNodes, rulesFrom, rulesOfNodes, SHARED_RULES } from '../nodes/node-rules';
import { instanceIDOf } from '../nodes/provider-id';
import { TAG } from '../tags';
import { MembersAround, type InnerMembers } from './members-around';
import { memberAccess, type MemberAccess } from './member-access';

/** What is open for all load balancers alike. */
const FOR_ALL = 'all';

export interface NodesToOpen {
  ec2: Ec2;
  groups: NodeGroups;
  clusterID: string;
  /** Of the cluster. */
  vpcID?: string | undefined;
  maxRules: number;
  /** The cluster's backend group is let in to all. */
  shared: boolean;
}

/** One target group whose Nodes are to be opened. */
interface Opening {
  targets: Target[];
  access: MemberAccess | undefined;
  assertValid: () => void;
}

/**
 * Members that load balancers are let in to: a security group of Nodes is opened before the first of its Nodes becomes a target, and what somebody
 * has closed since is seen by `observe`.
 */
export class OpenedMembers extends MembersAround {
  /** What was opened, and the groups of Nodes that are open for it. */
  private readonly opened = new Map<string, Set<string>>();
  /** The same by sets of targets that were registered before this process: their Nodes' groups were opened then. */
  private readonly assumed = new Map<string, Set<readonly Target[]>>();
  /** What each target group asked for last. */
  private readonly asked = new Map<string, MemberAccess | undefined>();
  /** One look at a time: many target groups get a new Node at once. */
  private turn: Promise<void> = Promise.resolve();

  constructor(
    members: InnerMembers,
    private readonly nodes: NodesToOpen,
  ) {
    super(members);
  }

  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number> {
    const assertValid = (): void => assertMayWrite(signalValid, group);
    const access = this.askedFor(group);
    const opening = this.turn.then(() => this.open({ targets, access, assertValid }));
    this.turn = opening.catch(() => undefined);
    await opening;
    return this.members.sync(group, targets, signalValid, left);
  }

  override assume(group: TargetGroup, targets: Target[]): void {
    for (const what of this.needsOf(this.askedFor(group))) this.assumed.set(what, (this.assumed.get(what) ?? new Set()).add(targets));
    super.assume(group, targets);
  }

  /** Who is not let in to Nodes by all that it asked for has members to no use: its hash is no set's, so that it is brought in again, and opened. */
  override async observe(inTurn?: boolean): Promise<Map<string, string>> {
    // What is made from here on, the look may not have seen.
    const before = [...this.asked.keys()];
    const seen = await this.members.observe(inTurn);
    for (const id of before) if (!seen.has(id)) this.asked.delete(id);
    const shut = (await this.shut()).filter((id) => seen.has(id));
    if (shut.length > 0) {
      this.opened.clear();
      this.assumed.clear();
    }
    this.forgetUnasked();
    return new Map([...seen].map(([id, hash]) => [id, shut.includes(id) ? `${hash} shut` : hash]));
  }

  /** Load balancers come and go, and so do groups of Nodes. */
  private forgetUnasked(): void {
    const [asked, nodes] = [new Set([FOR_ALL, ...[...this.asked.values()].map(openedFor)]), new Set(this.nodes.groups.all)];
    for (const [what, groups] of this.opened) {
      for (const group of groups) if (!nodes.has(group)) groups.delete(group);
      if (!asked.has(what)) this.opened.delete(what);
    }
  }

  private askedFor({ id, access }: TargetGroup): MemberAccess | undefined {
    const parsed = access === undefined ? undefined : memberAccess.parse(access);
    this.asked.set(id, parsed);
    return parsed;
  }

  /** Ids of target groups. A group of Nodes without any rule, also for what goes out, is taken for gone. */
  private async shut(): Promise<string[]> {
    if (this.asked.size === 0) return [];
    const { ec2, groups, shared } = this.nodes;
    await groups.list();
    const rules = await rulesOfNodes(ec2, { groups: groups.all }, {});
    const backend = shared ? await this.backend() : undefined;
    const forAll = backend === undefined ? [] : rulesFrom(backend, SHARED_RULES);
    const there = [...new Set(rules.map(({ GroupId }) => GroupId))];
    const isShut = (wanted: readonly NodeRule[]): boolean => {
      return there.some(
        (group) =>
          missingRules(
            rules.filter(({ GroupId }) => GroupId === group),
            wanted,
          ).length > 0,
      );
    };
    const wantedBy = (access: MemberAccess | undefined): NodeRule[] => [
      ...(access?.loadBalancer === undefined ? forAll : []),
      ...(access?.rules ?? []).map(readRule),
    ];
    return [...this.asked].filter(([, access]) => isShut(wantedBy(access))).map(([id]) => id);
  }

  private async open({ targets, access, assertValid }: Opening): Promise<void> {
    await this.nodes.groups.learn(idsOf(targets));
    this.rememberAssumed();
    if (this.nodes.shared) await this.openShared(assertValid);
    if (access !== undefined && access.rules.length > 0) await this.openFor(access, assertValid);
  }

  private async openShared(assertValid: () => void): Promise<void> {
    const { ec2, clusterID, maxRules } = this.nodes;
    const closed = this.closedTo(FOR_ALL);
    if (closed.length === 0) return;
    const backend = await this.backend();
    // Without load balancers that have it there is none; the update that makes it opens what is known by then.
    if (backend === undefined) return;
    await openNodes(ec2, { groups: closed, clusterID, maxRules }, rulesFrom(backend, SHARED_RULES), { assertValid });
    this.remember(FOR_ALL, closed);
  }

  /** Id of the cluster's backend group; undefined = there is none. */
  private async backend(): Promise<string | undefined> {
    const { ec2, clusterID, vpcID } = this.nodes;
    const [found] = await ec2.securityGroups([
      { Name: 'group-name', Values: [backendGroupName(clusterID)] },
      { Name: `tag:${TAG.clusterID}`, Values: [clusterID] },
      ...(vpcID === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcID] }]),
    ]);
    return found?.GroupId;
  }

  /** Looked at when the target group is there, by which others know that the rules are needed (close-rules.ts). */
  private async openFor(access: MemberAccess, assertValid: () => void): Promise<void> {
    const { loadBalancer, rules } = access;
    const { ec2, clusterID, maxRules } = this.nodes;
    const what = openedFor(access);
    const closed = this.closedTo(what);
    if (closed.length === 0) return;
    const target = { groups: closed, clusterID, maxRules, ...(loadBalancer !== undefined && { loadBalancer }) };
    await openNodes(ec2, target, rules.map(readRule), { assertValid });
    this.remember(what, closed);
  }

  /** What is opened for a target group. */
  private needsOf(access: MemberAccess | undefined): string[] {
    const forAll = this.nodes.shared && access?.loadBalancer === undefined;
    return [...(forAll ? [FOR_ALL] : []), ...(access !== undefined && access.rules.length > 0 ? [openedFor(access)] : [])];
  }

  private rememberAssumed(): void {
    const known = new Map<readonly Target[], string[]>();
    const groupsOf = (targets: readonly Target[]): string[] => {
      const groups = known.get(targets) ?? this.nodes.groups.of(idsOf(targets));
      known.set(targets, groups);
      return groups;
    };
    for (const [what, sets] of this.assumed) for (const targets of sets) this.remember(what, groupsOf(targets));
    this.assumed.clear();
  }

  private closedTo(what: string): string[] {
    return this.nodes.groups.all.filter((group) => this.opened.get(what)?.has(group) !== true);
  }

  private remember(what: string, groups: readonly string[]): void {
    this.opened.set(what, new Set([...(this.opened.get(what) ?? []), ...groups]));
  }
}

function idsOf(targets: readonly Target[]): string[] {
  return targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined);
}

function openedFor(access: MemberAccess | undefined): string {
  return access === undefined ? FOR_ALL : hashJson([access.loadBalancer, access.rules]);
}
