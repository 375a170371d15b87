import type { Clock } from '../../base/clock';
import { CallLimiter, pauseMs } from './call-limiter';
import type { CallPriority } from './call-priority';

/** With so many calls left nobody needs to hurry less. */
const PLENTY = 100;
/** What is left is spread over this time, in which clouds give new calls; what was said longer ago says nothing any more. */
const SPREAD_MS = 60_000;
/** However few are left, a cloud gives new ones no slower than that: Azure's oldest limit was 1,200 writes an hour. */
const LONGEST_GAP_MS = 3_000;
/** As good as no limit. */
const OPEN = { callsPerSecond: 1e9, burst: 1e9 };

interface Pace {
  limiter: CallLimiter;
  /** Calls left, as the cloud said. */
  left: number;
  /** When that says nothing any more. */
  until: number;
}

/**
 * Slows calls of one sort, or of one part of the cloud, down before the cloud refuses them, by what it says of how many are left (Azure does with every answer). Many left: no
 * wait. Few: those that are left are spread over a minute, so the account is never used up, and others who share it are not locked out; the last ones are
 * as far from each other as the cloud takes to give new ones. Each answer counts for those who wait already too.
 */
export class CallPace {
  private readonly paces = new Map<string, Pace>();

  constructor(private readonly clock: Clock) {}

  /** The cloud says how many calls of a sort it still takes. */
  told(sort: string, left: number): void {
    this.set(sort, left, SPREAD_MS);
  }

  /** The cloud answered "too many calls" of a sort. @param retryAfterMs none of it is made before that */
  throttled(sort: string, retryAfterMs: number | undefined): void {
    this.set(sort, 0, pauseMs(retryAfterMs) + SPREAD_MS).throttled(retryAfterMs);
  }

  /** Resolves when a call of this sort may go, at once in most cases, else by priority. Rejects with the signal's reason. */
  async turn(sort: string, priority: CallPriority, signal?: AbortSignal): Promise<void> {
    const pace = this.paces.get(sort);
    if (pace === undefined || this.isOpen(pace)) return;
    await pace.limiter.take(priority, signal);
  }

  /** What was left at another answer ends no Retry-After: that call may have been on its way before. */
  private isOpen({ limiter, left, until }: Pace): boolean {
    return !limiter.isPaused && (left >= PLENTY || this.clock.monotonic() > until);
  }

  /** Refuses who waits. */
  close(reason: Error): void {
    this.paces.forEach(({ limiter }) => limiter.close(reason));
  }

  private set(sort: string, left: number, forMs: number): CallLimiter {
    const limits = limitsFor(left);
    const known = this.paces.get(sort)?.limiter;
    known?.configure(limits);
    const limiter = known ?? new CallLimiter(limits, this.clock);
    this.paces.set(sort, { limiter, left, until: this.clock.monotonic() + forMs });
    return limiter;
  }
}

function limitsFor(left: number): ConstructorParameters<typeof CallLimiter>[0] {
  const gap = gapMs(left);
  return gap === 0 ? OPEN : { callsPerSecond: 1_000 / gap, burst: 1 };
}

/** Time from one call to the next, in milliseconds. Pure. */
export function gapMs(left: number): number {
  return left >= PLENTY ? 0 : Math.min(LONGEST_GAP_MS, SPREAD_MS / Math.max(1, left));
}
