import { sleep, systemClock, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import { canonicalJson } from '../base/json';
import type { Logger } from '../base/log';
import type { EventRecorder } from './api';
import type { RawApi, RawRequest } from './client';
import { LEASES, type KubeObject } from './object';
import { collectionPath, objectPath } from './resource-url';
import { isAlreadyExists, isObjectNotFound } from './status';

/** A coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export interface LeaseElectorOptions {
  api: RawApi;
  /** `kube-system/cloud-controller-manager`. */
  lease: string;
  /** Who we are; must be unique: `<hostname>_<uuid>` (contract 7.4). */
  identity: string;
  logger: Logger;
  /** Milliseconds: a lease is up for grabs after 15 s, the leader gives up after 10 s without renewal, and tries every 2 s. */
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  /** Told `<identity> became leader` and `<identity> stopped leading`. */
  events?: EventRecorder;
  /** Told when the lease could not be renewed in one request, as nobody had changed it, and was read. */
  onSlowPath?: () => void;
  clock?: Clock;
  random?: () => number;
}

export interface LeadershipCallbacks {
  /** Does the leader's work until the signal is aborted. The lease is kept until it has ended. */
  onStarted(signal: AbortSignal): Promise<void>;
  /** The lease could not be renewed in time: nothing may be written any more. */
  onLost(error: OperatorError): void;
}

const RETRY_JITTER = 1.2;

/** `Taken`: somebody else holds a lease that we held. */
type Attempt = 'Held' | 'Failed' | 'Taken';

/** client-go's leader election over one Lease. Other holders' leases are judged by our own clock since we saw them change, never by their timestamps. */
export class LeaseElector {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly leaseDurationMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryPeriodMs: number;
  private observed: { record: string; at: number } | undefined;
  private renewedAt: number | undefined;
  /** As we wrote it last; undefined = we have not. */
  private written: Lease | undefined;

  /** @throws OperatorError Invalid when the durations don't fit each other */
  constructor(private readonly options: LeaseElectorOptions) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.retryPeriodMs = options.retryPeriodMs ?? 2_000;
    checkDurations(this.leaseDurationMs, this.renewDeadlineMs, this.retryPeriodMs);
  }

  get leading(): boolean {
    return this.renewedAt !== undefined;
  }

  /** Until when, on the monotonic clock, cloud writes are allowed: last renewal and the renew deadline. 0 = we don't lead. */
  validUntil(): number {
    return this.renewedAt === undefined ? 0 : this.renewedAt + this.renewDeadlineMs;
  }

  /** For health checks (contract 7.6): what is wrong with a process that still thinks it leads; a standby is healthy. */
  problem(toleranceMs: number = 20_000): string | undefined {
    if (this.renewedAt === undefined) return undefined;
    const age = this.clock.monotonic() - this.renewedAt;
    return age > this.leaseDurationMs + toleranceMs ? `the lease was last renewed ${Math.round(age / 1000)} s ago` : undefined;
  }

  /**
   * Waits for the lease, leads, and gives the lease back. Resolves when the signal was aborted and the work has ended, or after onLost.
   * Rejects with what the work rejects with.
   */
  async run(callbacks: LeadershipCallbacks, signal: AbortSignal): Promise<void> {
    if (!(await this.acquire(signal))) return;
    this.tell('became leader');
    const leading = new AbortController();
    const ended = new AbortController();
    const work = callbacks.onStarted(AbortSignal.any([leading.signal, signal])).finally(() => ended.abort());
    // A rejection is thrown by `await work` below; until then it must not count as unhandled.
    work.catch(() => undefined);
    const lost = await this.renewUntil(ended.signal);
    if (lost !== undefined) {
      this.renewedAt = undefined;
      leading.abort(lost);
      // No Event: nothing is written any more by who has lost the lease.
      this.log('stopped leading');
      callbacks.onLost(lost);
      return;
    }
    // Nothing may be written once a successor can have it, which is before the answer is here.
    this.renewedAt = undefined;
    await this.release();
    this.tell('stopped leading');
    await work;
  }

  /** False = aborted first. */
  private async acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if ((await this.attempt(signal)) === 'Held') return true;
      await this.pause(this.retryPeriodMs * (1 + this.random() * RETRY_JITTER), signal);
    }
    return false;
  }

  /** Renews until the work has ended (undefined), the deadline has passed without success, or somebody else has the lease. */
  private async renewUntil(ended: AbortSignal): Promise<OperatorError | undefined> {
    let attempt: Attempt = 'Held';
    for (;;) {
      const left = Math.max(0, this.validUntil() - this.clock.monotonic());
      await this.pause(attempt === 'Held' ? this.retryPeriodMs : Math.min(this.retryPeriodMs, left), ended);
      if (ended.aborted) return undefined;
      if (attempt === 'Failed' && this.clock.monotonic() >= this.validUntil()) {
        return new OperatorError(
          'Canceled',
          `leaderelection lost: ${this.options.lease} was not renewed for ${this.renewDeadlineMs / 1000} s`,
        );
      }
      attempt = await this.renew();
      if (attempt === 'Taken') return new OperatorError('Canceled', `leaderelection lost: somebody else holds ${this.options.lease}`);
    }
  }

  /** One attempt that ends at the deadline at the latest, however long the API server takes. */
  private async renew(): Promise<Attempt> {
    const deadline = new AbortController();
    const expire = (): void => deadline.abort(new OperatorError('Transient', 'no answer before the renew deadline'));
    // A process that was stopped may come here after the deadline: the version in the lease still tells whether it is ours.
    const left = this.validUntil() - this.clock.monotonic();
    const cancel = this.clock.after(left > 0 ? left : this.retryPeriodMs, expire);
    try {
      return await this.attempt(deadline.signal);
    } finally {
      cancel();
    }
  }

  private async attempt(signal: AbortSignal): Promise<Attempt> {
    // Before the request: validity must not be counted from the answer.
    const startedAt = this.clock.monotonic();
    try {
      const attempt = await this.acquireOrRenew(signal);
      if (attempt === 'Held') this.renewedAt = startedAt;
      return attempt;
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const bindings = { lease: this.options.lease, err: error };
      // Another candidate was faster: that is how an election goes.
      const level = error.code === 'Conflict' || error.code === 'Canceled' ? 'debug' : 'warn';
      this.options.logger[level](bindings, `lease ${this.options.lease}: ${error.message}`);
      return 'Failed';
    }
  }

  private async acquireOrRenew(signal: AbortSignal): Promise<Attempt> {
    if (await this.renewUnread(signal)) return 'Held';
    const lease = await this.read(signal);
    if (lease === undefined) return this.create(signal);
    const spec = lease.spec ?? {};
    this.observe(spec);
    const holder = spec.holderIdentity ?? '';
    const ours = holder === this.options.identity;
    if (this.leading && !ours) return 'Taken';
    if (holder !== '' && !ours && this.heldByOther(spec)) return 'Failed';
    await this.write(lease, this.claim(spec, ours), signal);
    return 'Held';
  }

  /** The leader need not read what it wrote itself: its version in the PUT tells whether somebody else has written since. */
  private async renewUnread(signal: AbortSignal): Promise<boolean> {
    const { written, renewedAt } = this;
    if (written === undefined || renewedAt === undefined || renewedAt + this.leaseDurationMs <= this.clock.monotonic()) return false;
    try {
      await this.write(written, this.claim(written.spec ?? {}, true), signal);
      return true;
    } catch (thrown) {
      this.options.logger.debug({ lease: this.options.lease, err: toOperatorError(thrown) }, 'the lease is read before it is renewed');
      this.options.onSlowPath?.();
      return false;
    }
  }

  private async read(signal?: AbortSignal): Promise<Lease | undefined> {
    try {
      return (await this.options.api.raw('GET', objectPath(LEASES, this.options.lease), this.request(signal))) as Lease;
    } catch (thrown) {
      if (isObjectNotFound(thrown)) return undefined;
      throw thrown;
    }
  }

  private async create(signal: AbortSignal): Promise<Attempt> {
    const { namespace, name } = nameOf(this.options.lease);
    const spec = { ...this.record(), acquireTime: this.microTime(), leaseTransitions: 0 };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
    try {
      this.written = (await this.options.api.raw('POST', collectionPath(LEASES, namespace), { ...this.request(signal), body })) as Lease;
    } catch (thrown) {
      if (isAlreadyExists(thrown)) return 'Failed';
      throw thrown;
    }
    this.observe(spec);
    return 'Held';
  }

  /** PUT of what was just read: upstream's role allows `update` only (contract 7.8), and the version in it makes a lost race a 409. */
  private async write(lease: Lease, changes: LeaseSpec, signal?: AbortSignal): Promise<void> {
    const spec = { ...lease.spec, ...changes };
    const body = { ...lease, spec };
    this.written = (await this.options.api.raw('PUT', objectPath(LEASES, this.options.lease), { ...this.request(signal), body })) as Lease;
    this.observe(spec);
  }

  private request(signal: AbortSignal | undefined): RawRequest {
    return { signal, timeoutMs: this.renewDeadlineMs / 2 };
  }

  private observe(spec: LeaseSpec): void {
    const record = canonicalJson(spec);
    if (this.observed?.record !== record) this.observed = { record, at: this.clock.monotonic() };
  }

  private heldByOther(spec: LeaseSpec): boolean {
    const duration = (spec.leaseDurationSeconds ?? this.leaseDurationMs / 1000) * 1000;
    return this.observed !== undefined && this.observed.at + duration > this.clock.monotonic();
  }

  /** Makes the lease free at once for the next one; failing at that costs the successor some seconds only. */
  private async release(): Promise<void> {
    try {
      const lease = await this.read();
      if (lease?.spec?.holderIdentity !== this.options.identity) return;
      const now = this.microTime();
      await this.write(lease, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now });
    } catch (thrown) {
      this.options.logger.warn({ err: thrown }, `lease ${this.options.lease} was not given back`);
    }
  }

  private tell(what: string): void {
    this.log(what);
    const target = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...nameOf(this.options.lease), uid: '' } };
    this.options.events?.event(target, 'Normal', 'LeaderElection', `${this.options.identity} ${what}`);
  }

  private log(what: string): void {
    this.options.logger.info({ lease: this.options.lease, identity: this.options.identity }, what);
  }

  private claim(before: LeaseSpec, ours: boolean): LeaseSpec {
    const transitions = before.leaseTransitions ?? 0;
    if (ours) return { ...this.record(), acquireTime: before.acquireTime ?? this.microTime(), leaseTransitions: transitions };
    return { ...this.record(), acquireTime: this.microTime(), leaseTransitions: transitions + 1 };
  }

  private record(): LeaseSpec {
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.ceil(this.leaseDurationMs / 1000),
      renewTime: this.microTime(),
    };
  }

  /** RFC 3339 with microseconds. */
  private microTime(): string {
    return new Date(this.clock.now()).toISOString().replace(/Z$/, '000Z');
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    // An abort only ends the waiting; the callers look at the signal.
    await sleep(this.clock, ms, signal).catch(() => undefined);
  }
}

function nameOf(lease: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = lease.split('/');
  return { namespace, name };
}

/** client-go's own conditions. */
function checkDurations(lease: number, renewDeadline: number, retryPeriod: number): void {
  if (lease <= renewDeadline)
    throw new OperatorError('Invalid', 'leader election: the lease duration must be greater than the renew deadline');
  if (renewDeadline <= RETRY_JITTER * retryPeriod) {
    throw new OperatorError('Invalid', `leader election: the renew deadline must be greater than ${RETRY_JITTER} times the retry period`);
  }
}
