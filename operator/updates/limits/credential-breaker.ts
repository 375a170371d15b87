import type { Clock } from '../../base/clock';
import type { CallOutcome } from '../../../providers/call-gate';

/** The first pause before refused credentials are tried again, and the longest: each refusal doubles it. */
export const FIRST_PROBE_MS = 30_000;
export const LAST_PROBE_MS = 300_000;
/** A probe that tells nothing within this time is given up, so that the next one can be made. */
const PROBE_TIMEOUT_MS = 60_000;

/** What is to become of a call. */
export type Admission =
  | { kind: 'Pass'; pass: Pass }
  /** A probe is on its way: its outcome decides. */
  | { kind: 'Wait'; until: Promise<void> }
  | { kind: 'Refused'; refusal: Refusal };

/** Tells to which state of the credentials a call's outcome belongs. */
export interface Pass {
  generation: number;
  probe: boolean;
}

/** The cloud refuses the credentials. */
export interface Refusal {
  /** What the cloud said. */
  message: string;
  /** When it is tried next: on the monotonic clock, and for people on the wall clock (milliseconds). */
  nextProbeAt: number;
  nextProbeTime: number;
}

interface Open extends Refusal {
  intervalMs: number;
  probe?: { done: Promise<void>; end: () => void };
}

/**
 * The circuit breaker of one account's credentials. Refused ones are not used again, except for one probe per growing interval; the first
 * probe that the cloud accepts, or a repair, closes it.
 */
export class CredentialBreaker {
  private open: Open | undefined;
  /** Raised at each closing: outcomes of calls from before it are history. */
  private generation = 0;

  constructor(
    private readonly clock: Clock,
    /** Told when it opens, closes, or its message or the time of the next probe changes. */
    private readonly onChange: () => void,
  ) {}

  /** undefined while the credentials are in use. */
  get refusal(): Refusal | undefined {
    return this.open;
  }

  /** True while a call would be refused: nobody probes, and it isn't time to. */
  get refuses(): boolean {
    const { open } = this;
    return open !== undefined && open.probe === undefined && this.clock.monotonic() < open.nextProbeAt;
  }

  /** Asked as the last thing before a call; one that passes must be settled. */
  admit(): Admission {
    const { open, generation } = this;
    if (open === undefined) return { kind: 'Pass', pass: { generation, probe: false } };
    if (open.probe !== undefined) return { kind: 'Wait', until: open.probe.done };
    if (this.clock.monotonic() < open.nextProbeAt) return { kind: 'Refused', refusal: open };
    this.beginProbe(open);
    return { kind: 'Pass', pass: { generation, probe: true } };
  }

  /** How an admitted call ended. */
  settled({ generation, probe }: Pass, outcome: CallOutcome): void {
    if (generation !== this.generation) return;
    if (outcome.kind === 'Refused') this.refused(outcome.message, probe);
    else if (probe && outcome.kind === 'Answered') this.close();
    else if (probe) this.endProbe(this.open?.intervalMs ?? FIRST_PROBE_MS);
  }

  /** What else is known of why they are refused. */
  explained(message: string): void {
    if (this.open === undefined || this.open.message === message) return;
    this.open.message = message;
    this.onChange();
  }

  /** The credentials are others now, or the account is: what was refused before says nothing any more. */
  repaired(): void {
    if (this.open === undefined) this.generation++;
    else this.close();
  }

  /** The account is gone: nothing waits for a probe any more. */
  end(): void {
    this.open?.probe?.end();
  }

  private refused(message: string, probe: boolean): void {
    if (this.open === undefined) {
      this.open = { message, intervalMs: FIRST_PROBE_MS, ...this.nextProbe(FIRST_PROBE_MS) };
      this.onChange();
    } else if (probe) {
      this.open.message = message;
      this.endProbe(Math.min(this.open.intervalMs * 2, LAST_PROBE_MS));
    }
  }

  private beginProbe(open: Open): void {
    let release: () => void = () => undefined;
    const done = new Promise<void>((resolve) => (release = resolve));
    const cancel = this.clock.after(PROBE_TIMEOUT_MS, () => this.endProbe(open.intervalMs));
    open.probe = {
      done,
      end: () => {
        cancel();
        release();
      },
    };
  }

  private endProbe(intervalMs: number): void {
    if (this.open === undefined) return;
    const { probe } = this.open;
    this.open = { message: this.open.message, intervalMs, ...this.nextProbe(intervalMs) };
    probe?.end();
    this.onChange();
  }

  private nextProbe(intervalMs: number): Pick<Refusal, 'nextProbeAt' | 'nextProbeTime'> {
    return { nextProbeAt: this.clock.monotonic() + intervalMs, nextProbeTime: this.clock.now() + intervalMs };
  }

  private close(): void {
    const probe = this.open?.probe;
    this.open = undefined;
    this.generation++;
    probe?.end();
    this.onChange();
  }
}
