import type { LeftOut, Members, Problem, Target, TargetGroup } from '../../provider';
import type { InnerMembers } from './members-around';

/** Members of both kinds of load balancers: a target group is known by its ARN, the instances of a Classic load balancer by its name. */
export class AllMembers implements Members {
  constructor(
    private readonly network: InnerMembers,
    private readonly classic: Members,
  ) {}

  sync(group: TargetGroup, targets: Target[], signalValid: () => boolean, left?: LeftOut): Promise<number> {
    return this.of(group).sync(group, targets, signalValid, left);
  }

  hash(group: TargetGroup, targets: Target[]): string {
    return this.of(group).hash(group, targets);
  }

  async observe(inTurn?: boolean): Promise<Map<string, string>> {
    const [network, classic] = await Promise.all([this.network.observe(inTurn), this.classic.observe()]);
    return new Map([...network, ...classic]);
  }

  /** A Classic load balancer is looked at before it is written to, so that nothing need be assumed of it. */
  assume(group: TargetGroup, targets: Target[]): void {
    if (this.of(group) === this.network) this.network.assume(group, targets);
  }

  skipped(targets: Target[]): Problem[] {
    return this.network.skipped(targets);
  }

  private of({ id }: TargetGroup): Members {
    return id.startsWith('arn:') ? this.network : this.classic;
  }
}
