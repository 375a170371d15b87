import type { CallSort } from '../../../providers/call-gate';
import { sleep, type Clock } from '../../base/clock';

/** With so many calls left nobody needs to hurry less. */
const PLENTY = 100;
/** What is left is spread over this time, in which clouds give new calls; what was said longer ago says nothing any more. */
const SPREAD_MS = 60_000;

interface Pace {
  /** Calls left, and when the cloud said so. */
  left: number;
  saidAt: number;
  /** When the next call may go. */
  nextAt: number;
}

/**
 * Slows calls of one sort down before the cloud refuses them, by what it says of how many are left (Azure does with every answer). Many left: no
 * wait. Few: those that are left are spread over a minute, so the account is never used up, and others who share it are not locked out.
 */
export class CallPace {
  private readonly paces = new Map<CallSort, Pace>();

  constructor(private readonly clock: Clock) {}

  /** The cloud says how many calls of a sort it still takes. */
  told(sort: CallSort, left: number): void {
    const nextAt = this.paces.get(sort)?.nextAt ?? -Infinity;
    this.paces.set(sort, { left, saidAt: this.clock.monotonic(), nextAt });
  }

  /** Resolves when a call of this sort may go, at once in most cases. Rejects with the signal's reason. */
  async turn(sort: CallSort, signal?: AbortSignal): Promise<void> {
    const pace = this.paces.get(sort);
    const now = this.clock.monotonic();
    if (pace === undefined || now - pace.saidAt > SPREAD_MS) return;
    const at = Math.max(now, pace.nextAt);
    pace.nextAt = at + gapMs(pace.left);
    if (at > now) await sleep(this.clock, at - now, signal);
  }
}

/** Time from one call to the next, in milliseconds. Pure. */
export function gapMs(left: number): number {
  return left >= PLENTY ? 0 : SPREAD_MS / Math.max(1, left);
}
