/** Time as the parts see it; tests inject their own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970: only for what people read. */
  now(): number;
  /** Monotonic milliseconds: for every decision. */
  monotonic(): number;
  /** Calls `run` once after `ms`, never before them by `monotonic`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Almost 25 days. Node makes 1 ms of a longer one; and its timers may come up to 2 ms early. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const due = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const left = due - performance.now();
      if (left > 0) timer = setTimeout(wait, Math.min(left, LONGEST_TIMER_MS));
      else run();
    };
    // Even what is due now comes later than whoever asks for it.
    timer = setTimeout(wait, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Waits `ms` on `clock`; rejects with the signal's reason when it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    return undefined;
  });
}
