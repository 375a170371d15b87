import type { OperatorError } from '../../../base/errors';
import { exponentialDelay } from '../../../kube/back-off';

const RETRY = { baseMs: 250, maxMs: 5_000 };

/** The tries of one write so far. */
export interface WriteTries {
  /** This one included. */
  failures: number;
  elapsedMs: number;
  /** For how long they may go on, in milliseconds. */
  holdMs: number;
}

/**
 * When a write of state that failed is tried again, while the engine waits for it. Pure.
 * @returns milliseconds; undefined = the update must stop: it has waited long enough, or the store wants to be left alone for longer than that
 */
export function retryOfWrite({ code, retryAfterMs }: OperatorError, { failures, elapsedMs, holdMs }: WriteTries): number | undefined {
  if (code !== 'Transient' && code !== 'Throttled') return undefined;
  const delayMs = Math.max(exponentialDelay(failures - 1, RETRY), retryAfterMs ?? 0);
  const leftMs = holdMs - elapsedMs;
  if (leftMs <= 0 || (retryAfterMs ?? 0) > leftMs) return undefined;
  // The last try is at the end.
  return Math.min(delayMs, leftMs);
}
