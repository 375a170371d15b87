import { sleep, systemClock } from '../../operator/base/clock';
import { ELECTION } from './election';
import type { Operator } from './operator';
import type { Exchange, Moment, Tap } from './proxy';
import type { FaultSystem } from './system';

const FLAGS = ['--node-monitor-period=1s', '--node-deletion-grace=1s'];
const RESTART_MS = 200;

/** The operators of a system: one alone, or two of which one leads. Who ends is started again, as a kubelet does it. */
export class Crew {
  private members: readonly Operator[] = [];
  private leading: Operator | undefined;
  private reviving: Promise<void> | undefined;

  private constructor(
    private readonly alone: readonly [Operator],
    private readonly pair: readonly [Operator, Operator],
  ) {}

  /** @param onLeader told of each one that takes over from another */
  static async prepare(system: FaultSystem, tap: Tap, onLeader: (operator: Operator) => void): Promise<Crew> {
    const alone = await system.addOperator('operator', FLAGS);
    const elected = [...FLAGS, ...ELECTION];
    const pair = [await system.addOperator('first', elected), await system.addOperator('second', elected)] as const;
    const crew = new Crew([alone], pair);
    system.onStop(() => crew.disband());
    for (const operator of [alone, ...pair]) {
      operator.tap = (exchange, moment) => {
        if (isRenewal(exchange, moment) && crew.lead(operator)) onLeader(operator);
        return tap(exchange, moment);
      };
    }
    return crew;
  }

  /** Whoever should run. */
  get all(): readonly Operator[] {
    return this.members;
  }

  /** Whom faults hit. */
  get leader(): Operator {
    return this.leading ?? this.members[0] ?? this.alone[0];
  }

  /** Has one operator at work, or two with leader election; what is there already stays. */
  async staff(elected: boolean): Promise<void> {
    const wanted = elected ? this.pair : this.alone;
    if (wanted === this.members) return;
    const before = this.members;
    this.members = wanted;
    this.leading = undefined;
    for (const operator of before) await operator.kill();
    await this.revive();
  }

  /** Starts every one that doesn't run. */
  revive(): Promise<void> {
    this.reviving ??= this.startAgain().finally(() => (this.reviving = undefined));
    return this.reviving;
  }

  /** From now on nobody is started. */
  private async disband(): Promise<void> {
    this.members = [];
    await this.reviving;
  }

  /** @returns true when it was another one before */
  private lead(operator: Operator): boolean {
    const before = this.leading;
    this.leading = operator;
    return before !== undefined && before !== operator;
  }

  private async startAgain(): Promise<void> {
    for (let next = this.missing(); next !== undefined; next = this.missing()) {
      const operator = next;
      try {
        await operator.start();
        // One that has lost its lease ends by itself.
        void operator.ended.then(() => this.revive());
      } catch {
        // What the start needs may be broken by another fault just now.
        await sleep(systemClock, RESTART_MS);
      }
    }
  }

  private missing(): Operator | undefined {
    return this.members.find(({ running }) => !running);
  }
}

function isRenewal({ side, method, path, answer }: Exchange, moment: Moment): boolean {
  return moment === 'answered' && side === 'api' && method !== 'GET' && path.includes('/leases') && (answer?.status ?? 500) < 300;
}
