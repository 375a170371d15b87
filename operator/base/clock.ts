/** Time as the parts see it; tests inject their own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970: only for what people read. */
  now(): number;
  /** Monotonic milliseconds: for every decision. */
  monotonic(): number;
  /** Calls `run` once after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Almost 25 days. Node makes 1 ms of a longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      timer = left > LONGEST_TIMER_MS ? setTimeout(() => wait(left - LONGEST_TIMER_MS), LONGEST_TIMER_MS) : setTimeout(run, left);
    };
    wait(ms);
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
