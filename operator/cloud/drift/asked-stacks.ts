import type { Clock } from '../../base/clock';
import { exponentialDelay } from '../../kube/back-off';

/** What is to be compared; `All` = every stack, and what no stack holds. */
export type Asked = ReadonlySet<string> | 'All';

/** When what somebody asked for, and told nothing, is tried again, in milliseconds. */
export const ASKED_AGAIN = { baseMs: 10_000, maxMs: 600_000 };

/** Stacks of one provider that are to be compared with the cloud out of turn: somebody asks for it, or the last try told nothing of them. */
export class AskedStacks {
  private asked: Asked = new Set();
  private failures = 0;
  /** On the monotonic clock, in milliseconds. */
  private dueAt = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Somebody asks: at once, together with what was put off, whose row ends: whoever asks now waits no longer for what failed before. */
  add(stacks: Asked): void {
    this.asked = both(this.asked, stacks);
    this.dueAt = 0;
    this.failures = 0;
  }

  /** These could not be compared; they are due later each time in a row. @param stacks may be empty: then the row has ended */
  putOff(stacks: Asked): void {
    const delayMs = exponentialDelay(this.failures, ASKED_AGAIN);
    this.failures = isEmpty(stacks) ? 0 : this.failures + 1;
    if (isEmpty(stacks)) return;
    if (isEmpty(this.asked)) this.dueAt = this.clock.monotonic() + delayMs;
    this.asked = both(this.asked, stacks);
  }

  /** What is due: it is asked for no longer. */
  take(): Asked {
    if (this.clock.monotonic() < this.dueAt) return new Set();
    const taken = this.asked;
    this.asked = new Set();
    return taken;
  }

  /** Milliseconds until something is due, at least 1; 0 = nothing is asked for. */
  waitMs(): number {
    return isEmpty(this.asked) ? 0 : Math.max(1, this.dueAt - this.clock.monotonic());
  }
}

function both(one: Asked, other: Asked): Asked {
  return one === 'All' || other === 'All' ? 'All' : new Set([...one, ...other]);
}

function isEmpty(stacks: Asked): boolean {
  return stacks !== 'All' && stacks.size === 0;
}
