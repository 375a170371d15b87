import { sleep, systemClock } from '../../operator/base/clock';

export interface WaitOptions {
  timeoutMs: number;
  /** What is awaited, for the failure: `an external address of demo/web`. */
  what: string;
  /** Default 50. */
  pollMs?: number;
}

/**
 * Asks again and again until `condition` gives something else than undefined or false, and gives that back.
 * A throw counts as "not yet"; the failure shows the last one, or the last value.
 */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs, what, pollMs = 50 }: WaitOptions,
): Promise<T> {
  const deadline = systemClock.monotonic() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
      last = `the condition gave ${String(value)}`;
    } catch (thrown) {
      last = thrown instanceof Error ? thrown.message : String(thrown);
    }
    if (systemClock.monotonic() >= deadline) throw new Error(`waited ${timeoutMs} ms for ${what}: ${String(last)}`);
    await sleep(systemClock, pollMs);
  }
}
