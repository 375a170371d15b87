import { systemClock, type Clock } from '../base/clock';
import { toldDelayMs, toOperatorError, type OperatorError } from '../base/errors';
import { failureFields, type Logger } from '../base/log';
import type { WorkQueue } from './api';
import { exponentialDelay, type BackOffLimits } from './back-off';

export type Priority = 'High' | 'Normal' | 'Low';

/** Told of everything that happens in a queue; times in milliseconds. */
export interface QueueMetrics {
  /** A key was added that was not waiting yet. */
  added(): void;
  retried(): void;
  depth(keys: number): void;
  /** A key left the queue for a worker after waiting for `waitedMs`. */
  started(waitedMs: number): void;
  finished(tookMs: number, failed: boolean): void;
}

export interface KeyedQueueOptions {
  name: string;
  logger: Logger;
  /** Of the per-key back-off; default 5 s and 300 s, as upstream's service queue (contract 2.1). */
  backOff?: BackOffLimits;
  /** Milliseconds until a failed key is tried again, in place of the back-off; undefined = the back-off. */
  delayOf?: (key: string, failure: OperatorError) => number | undefined;
  clock?: Clock;
  metrics?: QueueMetrics;
}

interface Waiting {
  priority: Priority;
  since: number;
}

/** In the order in which they are taken. */
const PRIORITIES: readonly Priority[] = ['High', 'Normal', 'Low'];

/**
 * A keyed work queue with client-go's promises: a key waits once however often it is added, is never with two workers, and is run again when it
 * was added while it ran. Unlike there, a success cancels the retry that an earlier failure has left behind, and a failure before that retry was
 * due neither raises the key's failures nor moves it: the back-off measures time, not how much happens meanwhile.
 */
export class KeyedQueue implements WorkQueue {
  readonly name: string;
  private readonly clock: Clock;
  private readonly backOff: BackOffLimits;
  /** Keys to run, in order; a Map keeps the order of insertion. */
  private readonly ready: Record<Priority, Map<string, Waiting>> = { High: new Map(), Normal: new Map(), Low: new Map() };
  /** Running keys: since when, how to run again, and whether they are to be tried again later. */
  private readonly running = new Map<string, { since: number; again?: Waiting; failed?: boolean }>();
  private readonly delayed = new Map<string, { due: number; cancel: () => void }>();
  private readonly retries = new Map<string, { due: number; cancel: () => void }>();
  private readonly failures = new Map<string, number>();
  /** Workers that wait for a key. */
  private readonly idle: (() => void)[] = [];
  /** The same, of those that take keys of High priority alone. */
  private readonly idleReserved: (() => void)[] = [];

  constructor(private readonly options: KeyedQueueOptions) {
    this.name = options.name;
    this.clock = options.clock ?? systemClock;
    this.backOff = options.backOff ?? { baseMs: 5_000, maxMs: 300_000 };
  }

  get depth(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.ready[priority].size, 0);
  }

  /** Milliseconds for which the longest running key has been with its worker; 0 = none runs. */
  get longestRunningMs(): number {
    const now = this.clock.monotonic();
    return Math.max(0, ...[...this.running.values()].map(({ since }) => now - since));
  }

  /** Milliseconds for which all running keys together have been with their workers. */
  get unfinishedMs(): number {
    const now = this.clock.monotonic();
    return [...this.running.values()].reduce((sum, { since }) => sum + now - since, 0);
  }

  /** Milliseconds for which the oldest key has waited for a worker; 0 = none waits. */
  get oldestMs(): number {
    const now = this.clock.monotonic();
    const waiting = PRIORITIES.flatMap((priority) => [...this.ready[priority].values()]);
    return waiting.reduce((oldest, { since }) => Math.max(oldest, now - since), 0);
  }

  add(key: string, priority: Priority = 'Normal'): void {
    const run = this.running.get(key);
    const known = this.waitingOf(key);
    if (known !== undefined && PRIORITIES.indexOf(known.priority) <= PRIORITIES.indexOf(priority)) return;
    if (known === undefined) this.options.metrics?.added();
    const waiting: Waiting = { priority, since: known?.since ?? this.clock.monotonic() };
    if (run !== undefined) {
      run.again = waiting;
      return;
    }
    for (const lower of PRIORITIES) this.ready[lower].delete(key);
    this.enqueue(key, waiting);
  }

  has(key: string): boolean {
    return this.running.has(key) || this.waitingOf(key) !== undefined;
  }

  /** The earliest of several delays of one key counts. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) return this.add(key);
    const due = this.clock.monotonic() + ms;
    const known = this.delayed.get(key);
    if (known !== undefined && known.due <= due) return;
    known?.cancel();
    const cancel = this.clock.after(ms, () => {
      this.delayed.delete(key);
      this.add(key);
    });
    this.delayed.set(key, { due, cancel });
  }

  addRateLimited(key: string): void {
    this.retryAfter(key, 0);
  }

  forget(key: string): void {
    this.failures.delete(key);
    this.cancelRetry(key);
  }

  /** How often in a row the key was added rate limited. */
  failuresOf(key: string): number {
    return this.failures.get(key) ?? 0;
  }

  /** Resolves after the abort, when the keys that run have ended. A handler that returns without addRateLimited forgets its key's failures. */
  async run(workers: number, handle: (key: string) => Promise<void>, signal: AbortSignal, reserved = 0): Promise<void> {
    const wakeAll = (): void => [this.idle, this.idleReserved].forEach((idle) => idle.splice(0).forEach((wake) => wake()));
    signal.addEventListener('abort', wakeAll, { once: true });
    const work = (count: number, only?: 'High'): Promise<void>[] => Array.from({ length: count }, () => this.work(handle, signal, only));
    await Promise.all([...work(workers), ...work(reserved, 'High')]);
    signal.removeEventListener('abort', wakeAll);
  }

  /** Drops all delays and retries, for the end of the process. */
  close(): void {
    for (const { cancel } of this.delayed.values()) cancel();
    for (const { cancel } of this.retries.values()) cancel();
    this.delayed.clear();
    this.retries.clear();
  }

  private async work(handle: (key: string) => Promise<void>, signal: AbortSignal, only?: 'High'): Promise<void> {
    const idle = only === undefined ? this.idle : this.idleReserved;
    while (!signal.aborted) {
      const key = this.take(only);
      if (key === undefined) await new Promise<void>((wake) => idle.push(wake));
      else await this.process(key, handle, signal);
    }
  }

  private async process(key: string, handle: (key: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    const startedAt = this.clock.monotonic();
    let failure: OperatorError | undefined;
    try {
      await handle(key);
    } catch (thrown) {
      failure = toOperatorError(thrown);
    }
    if (failure !== undefined) this.failed(key, failure, signal);
    else if (this.running.get(key)?.failed !== true) this.forget(key);
    this.done(key);
    this.options.metrics?.finished(this.clock.monotonic() - startedAt, failure !== undefined);
  }

  private failed(key: string, failure: OperatorError, signal: AbortSignal): void {
    const level = signal.aborted && failure.code === 'Canceled' ? 'debug' : 'warn';
    const plannedMs = this.options.delayOf?.(key, failure);
    const toldMs = plannedMs === undefined ? toldDelayMs(failure) : undefined;
    if (toldMs === undefined) this.retryAfter(key, failure.retryAfterMs ?? 0, plannedMs);
    else this.retryWhenTold(key, toldMs);
    const about = { queue: this.name, key, failures: this.failuresOf(key), ...failureFields(failure) };
    this.options.logger[level](about, `${key}: ${failure.message}`);
  }

  /** Somebody else knows when: the key's failures are neither raised nor forgotten. */
  private retryWhenTold(key: string, ms: number): void {
    this.markFailed(key);
    this.retryAt(key, this.clock.monotonic() + ms);
  }

  private markFailed(key: string): void {
    const run = this.running.get(key);
    if (run !== undefined) run.failed = true;
    this.options.metrics?.retried();
  }

  private retryAfter(key: string, atLeastMs: number, exactMs?: number): void {
    this.markFailed(key);
    const now = this.clock.monotonic();
    const standing = this.retries.get(key);
    const failures = this.failuresOf(key);
    if (standing === undefined) this.failures.set(key, failures + 1);
    const due = Math.max(now + atLeastMs, standing?.due ?? now + exponentialDelay(failures, this.backOff));
    this.retryAt(key, exactMs === undefined ? due : now + exactMs);
  }

  private retryAt(key: string, due: number): void {
    if (this.retries.get(key)?.due === due) return;
    this.cancelRetry(key);
    const cancel = this.clock.after(due - this.clock.monotonic(), () => {
      this.retries.delete(key);
      this.add(key);
    });
    this.retries.set(key, { due, cancel });
  }

  private take(only?: 'High'): string | undefined {
    for (const priority of only === undefined ? PRIORITIES : [only]) {
      const ready = this.ready[priority];
      for (const [key, { since }] of ready) {
        ready.delete(key);
        const now = this.clock.monotonic();
        this.running.set(key, { since: now });
        this.options.metrics?.depth(this.depth);
        this.options.metrics?.started(now - since);
        return key;
      }
    }
    return undefined;
  }

  private waitingOf(key: string): Waiting | undefined {
    const run = this.running.get(key);
    if (run !== undefined) return run.again;
    const priority = PRIORITIES.find((one) => this.ready[one].has(key));
    return priority === undefined ? undefined : this.ready[priority].get(key);
  }

  private done(key: string): void {
    const again = this.running.get(key)?.again;
    this.running.delete(key);
    if (again !== undefined) this.enqueue(key, again);
  }

  private enqueue(key: string, waiting: Waiting): void {
    this.ready[waiting.priority].set(key, waiting);
    this.options.metrics?.depth(this.depth);
    const wake = waiting.priority === 'High' ? (this.idleReserved.shift() ?? this.idle.shift()) : this.idle.shift();
    wake?.();
  }

  private cancelRetry(key: string): void {
    this.retries.get(key)?.cancel();
    this.retries.delete(key);
  }
}
