/** What one cloud account may be asked for (`CloudProvider.spec.limits`). */
export interface AccountLimits {
  /** Calls a second, all processes of the operator together. */
  callsPerSecond: number;
  /** Calls at once after a quiet time. */
  burst: number;
  /** Stack updates of the account at the same time. */
  concurrentUpdates: number;
  /** How long one stack update may take, in milliseconds; absent = as long as any. */
  updateDeadlineMs?: number;
}

/** Where the CloudProvider says nothing. */
export const DEFAULT_LIMITS: AccountLimits = { callsPerSecond: 100, burst: 200, concurrentUpdates: 10 };
