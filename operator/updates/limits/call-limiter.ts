import type { Clock } from '../../base/clock';
import { OperatorError } from '../../base/errors';
import { CALL_PRIORITIES, type CallPriority } from './call-priority';

/** A cloud that says "too many" without saying for how long gets this much rest. */
const PAUSE_MS = 1_000;
/** A Retry-After beyond this is taken for a mistake: clouds count calls by the hour at most. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Who would wait longer for the end of a pause is told to come again: an update holds up others meanwhile, and is canceled at its deadline. */
const LONGEST_WAIT_MS = 600_000;
/** Answers of calls that were on their way together are one and the same "too many". */
const ONE_EVENT_MS = 1_000;
/** From nothing to the full rate again. */
const RECOVERY_MS = 60_000;
const SLOWEST = 0.02;
/** Every so many calls the one that has waited longest goes first, whatever its priority: nothing waits for ever. */
const TURN_OF_THE_OLDEST = 10;

/** How long nobody calls after "too many calls". @param retryAfterMs what the cloud says. Pure. */
export function pauseMs(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS);
}

interface Waiter {
  since: number;
  priority: CallPriority;
  go: () => void;
  cancel: (reason: Error) => void;
}

/**
 * The rate limiter of one account: a token bucket with priorities. "Too many calls" from the cloud pauses everybody for its Retry-After and
 * halves the rate, which then recovers within a minute: so the account's true limit is found even where the configured one is higher.
 */
export class CallLimiter {
  private tokens: number;
  private refilledAt: number;
  private pausedUntil = 0;
  /** Share of the configured rate, and when it was last cut. */
  private share = 1;
  private cutAt = -Infinity;
  private granted = 0;
  private cancelTimer: (() => void) | undefined;
  /** In order of arrival. */
  private readonly waiting = Object.fromEntries(CALL_PRIORITIES.map((priority) => [priority, new Set<Waiter>()])) as Record<
    CallPriority,
    Set<Waiter>
  >;

  constructor(
    private limits: { callsPerSecond: number; burst: number },
    private readonly clock: Clock,
  ) {
    this.tokens = limits.burst;
    this.refilledAt = clock.monotonic();
  }

  configure(limits: { callsPerSecond: number; burst: number }): void {
    this.refill();
    this.limits = limits;
    this.tokens = Math.min(this.tokens, limits.burst);
    this.serve();
  }

  /** Calls that wait for their turn. */
  get depth(): number {
    return CALL_PRIORITIES.reduce((sum, priority) => sum + this.waiting[priority].size, 0);
  }

  /** Calls a second now, after what the cloud said. */
  get rate(): number {
    return this.limits.callsPerSecond * this.shareNow();
  }

  /** Nobody calls before the end of a Retry-After. */
  get isPaused(): boolean {
    return this.clock.monotonic() < this.pausedUntil;
  }

  /**
   * Resolves when the caller may make one call. Rejects with the signal's reason, and with OperatorError Throttled where a pause lasts longer than anybody
   * should wait.
   */
  take(priority: CallPriority, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const refusal = this.refusal();
      if (refusal !== undefined) return reject(refusal);
      const cancel = (reason: Error): void => {
        this.waiting[priority].delete(waiter);
        signal?.removeEventListener('abort', onAbort);
        reject(reason);
      };
      const onAbort = (): void => cancel(signal?.reason as Error);
      const go = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiter: Waiter = { since: this.clock.monotonic(), priority, go, cancel };
      this.waiting[priority].add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.serve();
      return undefined;
    });
  }

  /** The cloud answered "too many calls". @param retryAfterMs nobody calls before that */
  throttled(retryAfterMs: number | undefined): void {
    const now = this.clock.monotonic();
    this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs(retryAfterMs));
    // One call when the pause ends, not a burst that would be too many again.
    this.tokens = 1;
    this.refilledAt = this.pausedUntil;
    if (now - this.cutAt >= ONE_EVENT_MS) {
      this.share = Math.max(SLOWEST, this.shareNow() / 2);
      this.cutAt = now;
    }
    const refusal = this.refusal();
    if (refusal !== undefined) this.refuse(refusal);
    this.serve();
  }

  /** Refuses who waits. */
  close(reason: Error): void {
    this.cancelTimer?.();
    this.refuse(reason);
  }

  private refuse(reason: Error): void {
    for (const priority of CALL_PRIORITIES) [...this.waiting[priority]].forEach((waiter) => waiter.cancel(reason));
  }

  private refusal(): OperatorError | undefined {
    const retryAfterMs = this.pausedUntil - this.clock.monotonic();
    if (retryAfterMs <= LONGEST_WAIT_MS) return undefined;
    const minutes = Math.ceil(retryAfterMs / 60_000);
    return new OperatorError('Throttled', `the cloud takes no calls for another ${minutes} minutes: there were too many`, { retryAfterMs });
  }

  private shareNow(): number {
    return Math.min(1, this.share + (this.clock.monotonic() - this.cutAt) / RECOVERY_MS);
  }

  private serve(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    const now = this.clock.monotonic();
    this.refill();
    while (this.tokens >= 1 && now >= this.pausedUntil) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting[next.priority].delete(next);
      this.tokens -= 1;
      this.granted += 1;
      next.go();
    }
    if (this.depth === 0) return;
    const wait = Math.max(this.pausedUntil - now, ((1 - this.tokens) / this.rate) * 1000, 1);
    this.cancelTimer = this.clock.after(wait, () => this.serve());
  }

  private next(): Waiter | undefined {
    const firsts = CALL_PRIORITIES.flatMap((priority) => this.waiting[priority].values().next().value ?? []);
    if (this.granted % TURN_OF_THE_OLDEST !== TURN_OF_THE_OLDEST - 1) return firsts[0];
    return firsts.reduce<Waiter | undefined>((oldest, one) => (oldest === undefined || one.since < oldest.since ? one : oldest), undefined);
  }

  private refill(): void {
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.limits.burst, this.tokens + (Math.max(0, now - this.refilledAt) / 1000) * this.rate);
    this.refilledAt = Math.max(this.refilledAt, now);
  }
}
