import { sleep, systemClock } from '../../operator/base/clock';

export interface WaitOptions {
  timeoutMs: number;
  /** What is awaited, for the failure: `an external address of demo/web`. */
  what: string;
  /** Pause between the first looks, default 50. It grows with the time that has passed, up to six times as long. */
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
  const start = systemClock.monotonic();
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
      last = `the condition gave ${String(value)}`;
    } catch (thrown) {
      last = thrown instanceof Error ? thrown.message : String(thrown);
    }
    const elapsed = systemClock.monotonic() - start;
    if (elapsed >= timeoutMs) throw new Error(`waited ${timeoutMs} ms for ${what}: ${String(last)}`);
    await sleep(systemClock, Math.min(Math.max(pollMs, elapsed / 8), 6 * pollMs));
  }
}
