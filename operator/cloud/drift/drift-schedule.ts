import { parseDuration } from '../../base/duration';
import type { Clock } from '../../base/clock';
import { jittered } from '../providers/provider-timer';

/**
 * When stacks are compared with the cloud: those with one interval are due together, so that one bulk read is for all of them. Each interval runs from
 * when it was first seen, jittered anew every time.
 */
export class DriftSchedule {
  /** By interval, both in milliseconds. */
  private readonly dueAt = new Map<number, number>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly random: () => number,
  ) {}

  /** Milliseconds until the first of the intervals has passed, at least 1; 0 = there is none. Others than these are forgotten. */
  waitMs(intervals: Iterable<number>): number {
    const wanted = new Set([...intervals].filter((ms) => ms > 0));
    for (const ms of this.dueAt.keys()) if (!wanted.has(ms)) this.dueAt.delete(ms);
    for (const ms of wanted) if (!this.dueAt.has(ms)) this.begin(ms);
    return wanted.size === 0 ? 0 : Math.max(1, Math.min(...this.dueAt.values()) - this.clock.monotonic());
  }

  /** The intervals that have passed; they begin anew. */
  due(): Set<number> {
    const now = this.clock.monotonic();
    const passed = [...this.dueAt].filter(([, at]) => at <= now).map(([ms]) => ms);
    passed.forEach((ms) => this.begin(ms));
    return new Set(passed);
  }

  private begin(ms: number): void {
    this.dueAt.set(ms, this.clock.monotonic() + jittered(ms, this.random));
  }
}

/**
 * How often a stack is compared: as its most impatient member asks. Pure.
 * @param own `spec.driftInterval` of each of its members; undefined = as the CloudProvider says
 * @param ofProvider milliseconds
 * @returns milliseconds; 0 = only when asked
 */
export function intervalOfStack(own: readonly (string | undefined)[], ofProvider: number): number {
  const asked = own.map((text) => (text === undefined ? ofProvider : parseDuration(text))).filter((ms) => ms > 0);
  if (own.length === 0) return ofProvider;
  return asked.length === 0 ? 0 : Math.min(...asked);
}
