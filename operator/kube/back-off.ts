export interface BackOffLimits {
  /** First and longest delay, in milliseconds. */
  baseMs: number;
  maxMs: number;
}

/** Doubles with each failure: `baseMs`, twice that, … up to `maxMs`. `failures` counts from 0. */
export function exponentialDelay(failures: number, limits: BackOffLimits): number {
  return Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(failures, 30));
}

/** exponentialDelay made longer by up to its own length, so that many clients don't come back at once; never above `maxMs`. */
export function jitteredDelay(failures: number, limits: BackOffLimits, random: () => number): number {
  return Math.min(limits.maxMs, exponentialDelay(failures, limits) * (1 + random()));
}
