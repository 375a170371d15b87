import type { Clock } from '../../base/clock';

/** How many milliseconds are left until a time (RFC 3339), 0 = it has come. */
export type TimeLeft = (until: string) => number;

/** No time that has passed so long ago is in any state any more. */
const FORGOTTEN_MS = 3_600_000;

/**
 * When the old generations of replacements go. Those times outlive the process and so are of the wall clock, which may be set meanwhile, or was wrong when
 * they were written: from when this process has met one, the monotonic clock counts, and no wait is longer than `retireAfter`.
 */
export class Retirements {
  /** On the monotonic clock, by time. */
  private readonly deadlines = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'now' | 'monotonic'>) {}

  /** @param retireAfterMs of the CloudProvider that has the new generation */
  within(retireAfterMs: number): TimeLeft {
    return (until) => Math.max(0, this.deadlineOf(until, retireAfterMs) - this.clock.monotonic());
  }

  /** The time at which goes what is begun to be retired now (RFC 3339). */
  begin(retireAfterMs: number): string {
    const until = new Date(this.clock.now() + retireAfterMs).toISOString();
    this.deadlines.set(until, this.clock.monotonic() + retireAfterMs);
    return until;
  }

  private deadlineOf(until: string, retireAfterMs: number): number {
    const known = this.deadlines.get(until);
    if (known !== undefined) return known;
    const now = this.clock.monotonic();
    this.deadlines.forEach((deadline, time) => deadline < now - FORGOTTEN_MS && this.deadlines.delete(time));
    const deadline = now + Math.min(Math.max(0, Date.parse(until) - this.clock.now()), retireAfterMs);
    this.deadlines.set(until, deadline);
    return deadline;
  }
}
