import { sleep, systemClock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';

const POLL_MS = 250;

export interface Patience {
  timeoutMs: number;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** Looks again and again until it holds. @throws what `failure` makes once the time is over; the reason of the signal */
export async function until(holds: () => Promise<boolean>, { timeoutMs, signal }: Patience, failure: () => OperatorError): Promise<void> {
  const deadline = systemClock.monotonic() + timeoutMs;
  while (!(await holds())) {
    if (systemClock.monotonic() > deadline) throw failure();
    await sleep(systemClock, POLL_MS, signal);
  }
}
