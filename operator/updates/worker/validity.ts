import { OperatorError } from '../../base/errors';
import { hostMonotonic } from '../protocol';

const OVER = 'the operator no longer holds its lease: no more writes to the cloud';
/** How often it is looked whether the time has run out. */
const LOOK_MS = 250;

/** Until when this worker may write to the cloud. The operator extends it while it holds its lease. */
export class Validity {
  #until = 0;

  extend(until: number): void {
    this.#until = until;
  }

  /** The last statement before each cloud write (design: Fencing). */
  assertValid(): void {
    if (!this.#isOver()) return;
    throw new OperatorError('Canceled', OVER);
  }

  /** For writes that others make, who can't be asked before each. @param over called once when the time has run out @returns ends the watch */
  watch(over: (why: string) => void): () => void {
    let watching = true;
    const end = (): void => {
      watching = false;
      clearInterval(timer);
    };
    const look = (): void => {
      if (!watching || !this.#isOver()) return;
      end();
      over(OVER);
    };
    // On a busy machine, what the operator has sent meanwhile is read before.
    const timer = setInterval(() => setImmediate(look), LOOK_MS);
    return end;
  }

  #isOver(): boolean {
    return hostMonotonic() >= this.#until;
  }
}
