import type { LeftOut, Members, Problem, Target, TargetGroup } from '../../provider';

/** Members that others go around. */
export type InnerMembers = Members & Required<Pick<Members, 'assume' | 'skipped'>>;

/** Members with something done before they are written; all else is as of those within. */
export abstract class MembersAround implements Members {
  constructor(protected readonly members: InnerMembers) {}

  abstract sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number>;

  hash(group: TargetGroup, targets: Target[]): string {
    return this.members.hash(group, targets);
  }

  assume(group: TargetGroup, targets: Target[]): void {
    this.members.assume(group, targets);
  }

  observe(inTurn?: boolean): Promise<Map<string, string>> {
    return this.members.observe(inTurn);
  }

  skipped(targets: Target[]): Problem[] {
    return this.members.skipped(targets);
  }

  limits(group: TargetGroup, targets: Target[]): string[] {
    return this.members.limits?.(group, targets) ?? [];
  }
}
