import { systemClock, type Clock } from '../../operator/base/clock';
import type { GuardedProcess } from './process-guard';

const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 30_000;
/** Who ran this long is not in a crash loop. */
const HEALTHY_AFTER_MS = 60_000;

export interface RespawnOptions {
  start: () => Promise<GuardedProcess>;
  /** Told of each new process, of each end, and of a start that failed. */
  onChange: (event: string) => void;
  clock?: Clock;
}

/** Starts a process again when it ends by itself, as a Deployment would: after 1 s, 2 s, … 30 s. */
export class Respawn {
  private current: GuardedProcess;
  private failures = 0;
  private startedAt: number;
  private cancel: () => void = () => undefined;
  private stopping = false;
  private readonly clock: Clock;

  /** @param first runs already */
  constructor(
    first: GuardedProcess,
    private readonly options: RespawnOptions,
  ) {
    this.clock = options.clock ?? systemClock;
    this.current = first;
    this.startedAt = this.clock.monotonic();
    this.follow(first);
  }

  get process(): GuardedProcess {
    return this.current;
  }

  /** Ends the process and starts no other. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.cancel();
    await this.current.stop();
  }

  private follow(process: GuardedProcess): void {
    void process.ended.then(({ code, signal }) => {
      if (this.stopping) return;
      const lived = this.clock.monotonic() - this.startedAt;
      this.failures = lived > HEALTHY_AFTER_MS ? 0 : this.failures + 1;
      const delay = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, this.failures - 1));
      this.options.onChange(`${process.name} ended with ${signal ?? `exit code ${code}`}; it is started again in ${delay / 1000} s`);
      this.cancel = this.clock.after(delay, () => void this.startAgain());
    });
  }

  private async startAgain(): Promise<void> {
    try {
      const next = await this.options.start();
      this.current = next;
      this.startedAt = this.clock.monotonic();
      if (this.stopping) await next.stop();
      else this.options.onChange(`${next.name} runs again`);
      this.follow(next);
    } catch (thrown) {
      if (this.stopping) return;
      this.options.onChange(`${this.current.name} can't be started: ${(thrown as Error).message}`);
      this.cancel = this.clock.after(LAST_DELAY_MS, () => void this.startAgain());
    }
  }
}
