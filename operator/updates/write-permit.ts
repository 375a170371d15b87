import { hostMonotonic } from './protocol';

/** A worker may write for this long after the operator last said so: less than what a lease lasts beyond its renew deadline. */
export const VALIDITY_MS = 3_000;

export interface WritePermit<Answer> {
  answer: Answer;
  /** Until when a worker may write, on the host's monotonic clock, where the answer lets it. */
  validUntil: number;
}

/**
 * Asks whether a worker may write. The time is taken before the question: an operator that is stopped right after the answer gives no more when it wakes than it had
 * to give when it asked (design: Fencing).
 */
export function askPermit<Answer>(ask: () => Answer, now: () => number = hostMonotonic): WritePermit<Answer> {
  const validUntil = now() + VALIDITY_MS;
  return { answer: ask(), validUntil };
}
