import type { Clock } from '../../base/clock';

/** Stacks that may be brought to a newer program in a minute, those of all providers together. */
export const UPGRADES_PER_MINUTE = 60;

/**
 * Spreads what an upgrade of the operator asks for: the stacks get their turns one after another at an even pace, each at a random moment within its
 * own, so that a mistake in a program is seen at a few stacks before it reaches all, and what people change meanwhile is not held up.
 */
export class UpgradeRollout {
  private readonly turns = new Map<string, number>();
  private nextTurn = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly perMinute = UPGRADES_PER_MINUTE,
  ) {}

  /** Milliseconds until it is the stack's turn, 0 = now. It is not taken from it again: what waits for approval, or has failed, is looked at more than once. */
  waitOf(stack: string): number {
    const now = this.clock.monotonic();
    const turn = this.turns.get(stack) ?? this.take(now);
    this.turns.set(stack, turn);
    return Math.max(Math.ceil(turn - now), 0);
  }

  /** The stack needs its turn no longer. */
  forget(stack: string): void {
    this.turns.delete(stack);
  }

  private take(now: number): number {
    const paceMs = 60_000 / this.perMinute;
    const start = Math.max(this.nextTurn, now);
    this.nextTurn = start + paceMs;
    return start + paceMs * this.random();
  }
}
