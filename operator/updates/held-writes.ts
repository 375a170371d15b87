import type { Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';

/** An update waits because its state can't be stored. */
export interface StateHold {
  /** The store's last answer, or that it gave none. */
  error: OperatorError;
  /** When the update gives up, in milliseconds since 1970. */
  until: number;
}

export interface HeldWritesOptions {
  /** The store in words. */
  store: string;
  /** For how long one write is tried. */
  holdMs: number;
  clock: Clock;
  /** Called with what holds the update up, again with each other answer, and with undefined once that is over. */
  tell: (hold: StateHold | undefined) => void;
}

/** Shorter troubles, such as the restart of an API server, are over before anybody could read of them. */
const TELL_AFTER_MS = 3_000;

/** The writes of one update, one after another: tells when one of them has not succeeded for some seconds. */
export class HeldWrites {
  /** On the monotonic clock: when the write was first tried that has not succeeded yet. */
  private since: number | undefined;
  private error: OperatorError | undefined;
  private told: string | undefined;
  private cancelTimer: () => void = () => undefined;

  constructor(private readonly options: HeldWritesOptions) {}

  /** One try of a write. @throws what the write throws */
  async watch<T>(write: () => Promise<T>): Promise<T> {
    this.begin();
    try {
      const result = await write();
      this.through();
      return result;
    } catch (thrown) {
      this.failed(toOperatorError(thrown));
      throw thrown;
    }
  }

  /** The update has ended, and says itself how. */
  end(): void {
    this.cancelTimer();
    this.since = this.told = undefined;
  }

  private begin(): void {
    if (this.since !== undefined) return;
    this.since = this.options.clock.monotonic();
    this.error = undefined;
    this.cancelTimer = this.options.clock.after(TELL_AFTER_MS, () => this.say(this.error ?? this.silence()));
  }

  private through(): void {
    const said = this.told !== undefined;
    this.end();
    if (said) this.options.tell(undefined);
  }

  /** What is tried again holds the update up; anything else ends it. */
  private failed(error: OperatorError): void {
    if (error.code !== 'Transient' && error.code !== 'Throttled') return this.end();
    this.error = error;
    if (this.told !== undefined && this.told !== error.message) this.say(error);
  }

  private say(error: OperatorError): void {
    const { clock, holdMs, tell } = this.options;
    this.told = error.message;
    const elapsed = clock.monotonic() - (this.since ?? clock.monotonic());
    tell({ error, until: clock.now() + Math.max(0, holdMs - elapsed) });
  }

  private silence(): OperatorError {
    const message = `state store (${this.options.store}): no answer to a write for ${TELL_AFTER_MS / 1000} s`;
    return new OperatorError('Transient', message, { reason: 'StateStoreUnavailable' });
  }
}
