import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../operator/base/clock';

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  private at = 1_000_000;
  private sequence = 0;
  private timers: { due: number; order: number; run: () => void }[] = [];

  now(): number {
    return Date.UTC(2030, 0, 1) + this.at;
  }

  monotonic(): number {
    return this.at;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.at + Math.max(0, ms), order: this.sequence++, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((candidate) => candidate !== timer);
    };
  }

  /** Milliseconds until each timer is due, soonest first. */
  pending(): number[] {
    return this.timers.map(({ due }) => due - this.at).sort((a, b) => a - b);
  }

  /** Runs everything that falls due within `ms`, in order, letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.at + ms;
    await settle();
    for (;;) {
      const next = this.timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due || a.order - b.order)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.at = Math.max(this.at, next.due);
      next.run();
      await settle();
    }
    this.at = end;
    await settle();
  }
}

/** Lets all promises that can settle without I/O do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}
