import { OperatorError } from '../../../operator/base/errors';
import type { Members, Problem, Target, TargetGroup } from '../../provider';
import { backendGroupName } from '../nodes/backend-group';
import type { Ec2 } from '../client/ec2';
import type { NodeGroups } from '../nodes/node-groups';
import { openNodes, SHARED_RULES } from '../nodes/node-rules';
import { instanceIDOf } from '../nodes/provider-id';
import { TAG } from '../tags';

/**
 * Members that load balancers are let in to: a security group of Nodes that was not seen open by this process is opened before its Node becomes a
 * target.
 */
export class OpenedMembers implements Members {
  private readonly opened = new Set<string>();
  /** One look at a time: many target groups get a new Node at once. */
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly members: Required<Members>,
    private readonly nodes: { ec2: Ec2; groups: NodeGroups; clusterID: string },
  ) {}

  async sync(group: TargetGroup, targets: Target[], signalValid: () => boolean): Promise<number> {
    const assertValid = (): void => {
      if (!signalValid())
        throw new OperatorError('Canceled', `members of ${group.id} are not written: this operator may not write any more`);
    };
    const opening = this.turn.then(() => this.open(targets, assertValid));
    this.turn = opening.catch(() => undefined);
    await opening;
    return this.members.sync(group, targets, signalValid);
  }

  hash(group: TargetGroup, targets: Target[]): string {
    return this.members.hash(group, targets);
  }

  assume(group: TargetGroup, targets: Target[]): void {
    this.members.assume(group, targets);
  }

  observe(): Promise<Map<string, string>> {
    return this.members.observe();
  }

  skipped(targets: Target[]): Problem[] {
    return this.members.skipped(targets);
  }

  private async open(targets: Target[], assertValid: () => void): Promise<void> {
    const { ec2, groups, clusterID } = this.nodes;
    await groups.learn(targets.map(({ providerID }) => instanceIDOf(providerID)).filter((id) => id !== undefined));
    const closed = groups.all.filter((group) => !this.opened.has(group));
    if (closed.length === 0) return;
    const [backend] = await ec2.securityGroups([
      { Name: 'group-name', Values: [backendGroupName(clusterID)] },
      { Name: `tag:${TAG.clusterID}`, Values: [clusterID] },
    ]);
    // Without load balancers that have it there is none; the update that makes it opens what is known by then.
    if (backend?.GroupId === undefined) return;
    await openNodes(ec2, { backend: backend.GroupId, groups: closed, clusterID }, SHARED_RULES, { assertValid });
    for (const group of closed) this.opened.add(group);
  }
}
