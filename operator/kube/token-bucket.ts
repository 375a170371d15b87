import { sleep, type Clock } from '../base/clock';

/** Limits the rate of something: `burst` at once, then `qps` a second; those who wait are served in order. */
export class TokenBucket {
  private tokens: number;
  private refilledAt: number;

  /** @param qps tokens a second; 0 = no limit */
  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private readonly clock: Clock,
  ) {
    this.tokens = burst;
    this.refilledAt = clock.monotonic();
  }

  /** Takes a token, waiting for it where none is left. Rejects with the signal's reason; the token is then lost, which errs on the slow side. */
  async take(signal?: AbortSignal): Promise<void> {
    if (this.qps <= 0) return;
    this.refill();
    // Below zero is a debt: each waiter's own place in the line.
    this.tokens -= 1;
    if (this.tokens < 0) await sleep(this.clock, (-this.tokens / this.qps) * 1000, signal);
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.refill();
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** Nothing taken from it counts any more: it is as good as a new one. */
  isFull(): boolean {
    this.refill();
    return this.tokens >= this.burst;
  }

  private refill(): void {
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.refilledAt) / 1000) * this.qps);
    this.refilledAt = now;
  }
}
