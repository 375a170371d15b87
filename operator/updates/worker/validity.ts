import { OperatorError } from '../../base/errors';
import { hostMonotonic } from '../protocol';

/** Until when this worker may write to the cloud. The operator extends it while it holds its lease. */
export class Validity {
  #until = 0;

  extend(until: number): void {
    this.#until = until;
  }

  /** The last statement before each cloud write (design: Fencing). */
  assertValid(): void {
    if (hostMonotonic() < this.#until) return;
    throw new OperatorError('Canceled', 'the operator no longer holds its lease: no more writes to the cloud');
  }
}
