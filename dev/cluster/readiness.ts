import { sleep, systemClock } from '../../operator/base/clock';
import type { GuardedProcess } from './process-guard';
import { startFailure } from './start-failure';

export interface ReadinessOptions<T> {
  /** Gives something once the process is ready. */
  probe: () => T | undefined | Promise<T | undefined>;
  timeoutMs: number;
  pollMs: number;
}

/**
 * Waits until a process that was just started is ready; one that isn't in time is ended.
 * @returns what the probe gave
 * @throws OperatorError how it ended or that it isn't ready, with the end of its log
 */
export async function whenReady<T>(process: GuardedProcess, { probe, timeoutMs, pollMs }: ReadinessOptions<T>): Promise<T> {
  const deadline = systemClock.monotonic() + timeoutMs;
  for (;;) {
    const ready = await probe();
    if (ready !== undefined) return ready;
    if (process.exit !== undefined || systemClock.monotonic() > deadline) {
      const failure = await startFailure(process, timeoutMs);
      await process.stop();
      throw failure;
    }
    await sleep(systemClock, pollMs);
  }
}
