/** Times of a leader's lease, in milliseconds: short enough for a test, long enough for a machine that is busy. */
export const LEASE = { durationMs: 8_000, renewDeadlineMs: 4_000, retryPeriodMs: 500 };

/** Flags of operators of which one leads. */
export const ELECTION = [
  '--leader-elect=true',
  `--leader-elect-lease-duration=${LEASE.durationMs}ms`,
  `--leader-elect-renew-deadline=${LEASE.renewDeadlineMs}ms`,
  `--leader-elect-retry-period=${LEASE.retryPeriodMs}ms`,
];
