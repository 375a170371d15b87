import { sortOfCall, type CallGate, type CallOutcome, type Settle } from '../../../providers/call-gate';
import type { Clock } from '../../base/clock';
import { startSpan } from '../../base/tracing';
import { OperatorError } from '../../base/errors';
import { unlessAborted } from '../../base/unless-aborted';
import type { AccountLimits } from './account-limits';
import { CallLimiter } from './call-limiter';
import { type CallPriority, currentPriority, priorityOfCall } from './call-priority';
import { CredentialBreaker, type Pass, type Refusal } from './credential-breaker';
import { SharedLimits } from './shared-limits';

/** The cloud refuses an account's credentials: nothing is asked of it until the next try. */
export class CredentialsRefused extends OperatorError {
  constructor(
    message: string,
    retryAfterMs: number,
    /** Wall clock, milliseconds. */
    readonly nextTryAt: number,
  ) {
    super('Credentials', message, { retryAfterMs, remedy: 'Repair the credentials of the CloudProvider: they are then used at once.' });
  }
}

/** An outage begins when this many calls one after another got no answer, over at least this time. */
const OUTAGE_CALLS = 3;
const OUTAGE_MS = 5_000;

/** Told of what happens to an account. */
export interface AccountListener {
  /** Its credentials were refused, or accepted again; its cloud no longer answers, or does again. */
  changed(): void;
  /** A call ended, after so many milliseconds. */
  called(verb: string, outcome: CallOutcome, tookMs: number): void;
}

/** The limits and credentials of one CloudProvider, as the operator and all workers share them. */
export class Account implements CallGate {
  readonly limiter: CallLimiter;
  /** Its own, unless others are the same account to the cloud. */
  private shared: SharedLimits;
  private removed: OperatorError | undefined;
  /** Aborted once the operator ends. */
  private readonly ending = new AbortController();
  private readonly breaker: CredentialBreaker;
  /** Calls without an answer since the last one that had one; `since` is monotonic. */
  private unanswered = { calls: 0, since: 0 };
  private away = false;

  constructor(
    /** Of the CloudProvider. */
    readonly name: string,
    private own: AccountLimits,
    private readonly clock: Clock,
    private readonly told: AccountListener,
  ) {
    this.limiter = new CallLimiter(own, clock);
    this.shared = new SharedLimits(clock);
    this.shared.join(this.limiter);
    this.breaker = new CredentialBreaker(clock, () => told.changed());
  }

  get limits(): AccountLimits {
    return this.own;
  }

  configure(limits: AccountLimits): void {
    this.own = limits;
    this.limiter.configure(limits);
  }

  /** What the cloud says of limits is shared with whoever else has joined, from now on. */
  join(shared: SharedLimits): void {
    if (shared === this.shared) return;
    shared.join(this.limiter);
    this.shared.leave(this.limiter, new OperatorError('Canceled', `CloudProvider ${this.name} is another account of its cloud now`));
    this.shared = shared;
  }

  /** Why the account can't be used now; undefined while it can. Its `retryAfterMs` says when it is tried next. */
  get refusal(): CredentialsRefused | undefined {
    const { refusal } = this.breaker;
    return refusal === undefined ? undefined : this.errorOf(refusal);
  }

  /** Its cloud has not answered for a while, whatever was asked; undefined while it does. */
  get outage(): OperatorError | undefined {
    if (!this.away) return undefined;
    const remedy = 'Check that the cloud can be reached from the operator.';
    return new OperatorError('Transient', `the cloud has not answered the last ${this.unanswered.calls} calls`, { remedy });
  }

  /** Why the credentials are refused was found out beside the cloud. */
  explained(message: string): void {
    this.breaker.explained(message);
  }

  /** Other credentials, or another spec: they are tried at once. */
  repaired(): void {
    this.breaker.repaired();
  }

  /** The account is gone: who waits is refused. */
  close(): void {
    const removed = new OperatorError('Canceled', `CloudProvider ${this.name} was removed`);
    this.removed = removed;
    this.limiter.close(removed);
    this.shared.leave(this.limiter, removed);
    this.breaker.end();
  }

  /** The operator ends: its own calls are refused, those that wait too. Workers go on, to end their steps in flight. */
  end(why: OperatorError): void {
    this.ending.abort(why);
  }

  /** A call of the operator's own process. @see CallGate.acquire; the priority is that of the work in whose course it is made */
  acquire(verb: string, signal?: AbortSignal, part?: string): Promise<Settle> {
    const { signal: ending } = this.ending;
    const either = signal === undefined ? ending : AbortSignal.any([signal, ending]);
    return this.acquireAt(verb, priorityOfCall(verb, currentPriority()), either, part);
  }

  /** A call of a worker's, which tells by the signal when it is not wanted any more. */
  async acquireAt(verb: string, priority: CallPriority, signal?: AbortSignal, part?: string): Promise<Settle> {
    // Before the wait for a token and after it: nobody waits for what is refused anyway, and it may become so meanwhile.
    const { refusal, refuses } = this.breaker;
    if (refuses && refusal !== undefined) throw this.errorOf(refusal);
    const sort = sortOfCall(verb);
    const ofPart = part === undefined ? undefined : `${sort} of ${part}`;
    for (const one of [sort, ...(ofPart === undefined ? [] : [ofPart])]) await this.shared.pace.turn(one, priority, signal);
    if (this.removed !== undefined) throw this.removed;
    await this.limiter.take(priority, signal);
    const pass = await this.admitted(signal);
    const span = startSpan(`cloud ${verb}`, { 'cloud.verb': verb, 'cloud_operator.provider': this.name });
    const startedAt = this.clock.monotonic();
    let open = true;
    return (outcome) => {
      if (!open) return;
      open = false;
      const { kind, requestID } = outcome;
      span.set({ 'cloud.outcome': kind, ...(requestID === undefined ? {} : { 'cloud.request_id': requestID }) });
      span.end();
      this.told.called(verb, outcome, this.clock.monotonic() - startedAt);
      this.paced(outcome, sort, ofPart);
      this.breaker.settled(pass, outcome);
      this.answered(outcome.kind !== 'Unanswered');
    };
  }

  /** What the cloud says of its limits. */
  private paced(outcome: CallOutcome, sort: string, ofPart: string | undefined): void {
    const { pace } = this.shared;
    if (outcome.kind === 'Throttled') {
      if (outcome.ofPart === true && ofPart !== undefined) pace.throttled(ofPart, outcome.retryAfterMs);
      else this.shared.throttled(outcome.retryAfterMs);
    }
    if (outcome.kind !== 'Answered') return;
    if (outcome.left !== undefined) pace.told(sort, outcome.left);
    if (outcome.leftOfPart !== undefined && ofPart !== undefined) pace.told(ofPart, outcome.leftOfPart);
  }

  private answered(answered: boolean): void {
    const now = this.clock.monotonic();
    const { calls, since } = this.unanswered;
    this.unanswered = answered ? { calls: 0, since: 0 } : { calls: calls + 1, since: calls === 0 ? now : since };
    const away = this.unanswered.calls >= OUTAGE_CALLS && now - this.unanswered.since >= OUTAGE_MS;
    if (away === this.away) return;
    this.away = away;
    this.told.changed();
  }

  private errorOf({ message, nextProbeAt, nextProbeTime }: Refusal): CredentialsRefused {
    const text = `the cloud refuses the credentials of CloudProvider ${this.name}: ${message}`;
    return new CredentialsRefused(text, Math.max(0, nextProbeAt - this.clock.monotonic()), nextProbeTime);
  }

  private async admitted(signal: AbortSignal | undefined): Promise<Pass> {
    for (;;) {
      const admission = this.breaker.admit();
      if (admission.kind === 'Pass') return admission.pass;
      if (admission.kind === 'Refused') throw this.errorOf(admission.refusal);
      await unlessAborted(admission.until, signal);
    }
  }
}
