import { systemClock, type Clock } from '../operator/base/clock';

const BEAT_MS = 15_000;

/**
 * Reports every 15 s that something long still goes on.
 * @param describe gets the time so far in words, gives the line
 * @returns stops it
 */
export function startHeartbeat(
  report: (line: string) => void,
  describe: (elapsed: string) => string,
  clock: Clock = systemClock,
): () => void {
  const began = clock.monotonic();
  let cancel: () => void;
  const beat = (): void => {
    report(describe(inWords(clock.monotonic() - began)));
    cancel = clock.after(BEAT_MS, beat);
  };
  cancel = clock.after(BEAT_MS, beat);
  return () => cancel();
}

/** `45 s`, `3 min 05 s`. */
export function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
