import type { ErrorCode, OperatorError } from '../../base/errors';
import { exponentialDelay, type BackOffLimits } from '../../kube/back-off';

const SECOND = 1_000;
const MINUTE = 60_000;

/** First and longest pause after a failure of each class, which doubles with each failure in a row (docs/operate/limits.md). */
const BACK_OFF: Record<ErrorCode, BackOffLimits> = {
  Transient: { baseMs: SECOND, maxMs: MINUTE },
  Throttled: { baseMs: SECOND, maxMs: MINUTE },
  Credentials: { baseMs: MINUTE / 2, maxMs: 5 * MINUTE },
  // Only a person can help: what they change is tried at once.
  Quota: { baseMs: 5 * MINUTE, maxMs: 5 * MINUTE },
  Invalid: { baseMs: 5 * MINUTE, maxMs: 5 * MINUTE },
  // Whoever has it may give it up.
  Taken: { baseMs: SECOND, maxMs: MINUTE },
  Conflict: { baseMs: SECOND / 4, maxMs: MINUTE },
  NotFound: { baseMs: SECOND, maxMs: MINUTE },
  Canceled: { baseMs: SECOND, maxMs: 10 * SECOND },
  Unknown: { baseMs: 2 * SECOND, maxMs: 5 * MINUTE },
};
/** After the budget is used up. */
const EXHAUSTED_MS = 5 * MINUTE;
const JITTER = 0.1;

/** When failures that might pass by themselves are given up hope on: whichever comes first. */
export interface RetryBudget {
  failures: number;
  ms: number;
}

/** Failures in a row. */
export interface FailureStreak {
  /** This one included. */
  failures: number;
  /** Milliseconds since the first of them. */
  lastedMs: number;
}

/** What a failure leads to. */
export type RetryPlan = (error: OperatorError, streak: FailureStreak) => Retry;

export interface Retry {
  delayMs: number;
  /** Too many or for too long: a person should look at it. Retries go on slowly. */
  exhausted: boolean;
}

/**
 * When to try again after a failure, by its class. Pure.
 * @param random 0 ≤ x < 1: delays are made longer by up to a tenth, so that many don't come back at once
 */
export function retryAfterFailure(error: OperatorError, streak: FailureStreak, budget: RetryBudget, random: number): Retry {
  const passing = error.code === 'Transient' || error.code === 'Unknown';
  const exhausted = passing && (streak.failures >= budget.failures || streak.lastedMs >= budget.ms);
  return { delayMs: Math.max(exhausted ? EXHAUSTED_MS : delayOf(error, streak, random), error.retryAfterMs ?? 0), exhausted };
}

function delayOf({ code, reason, retryAfterMs }: OperatorError, { failures }: FailureStreak, random: number): number {
  // The cloud, or the circuit breaker, has said when.
  const told = (code === 'Throttled' || code === 'Credentials') && retryAfterMs !== undefined && retryAfterMs > 0;
  // The store of our own state is asked often, whatever it has answered: a token that ran out is renewed by itself.
  const limits = reason === 'StateStoreUnavailable' ? BACK_OFF.Transient : BACK_OFF[code];
  return told ? retryAfterMs : exponentialDelay(failures - 1, limits) * (1 + JITTER * random);
}
