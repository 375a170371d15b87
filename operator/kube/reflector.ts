import { sleep, systemClock, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { ListOptions, Store } from './api';
import { jitteredDelay } from './back-off';
import type { ListWatchApi } from './client';
import { keyOf, type KubeObject, type ResourcePath } from './object';
import { resourceName } from './resource-url';
import { isExpired, isResourceMissing, statusOf } from './status';
import { MemoryStore, type IndexFunction } from './store';
import type { WatchEvent } from './watch';

export interface ReflectorOptions<T extends KubeObject> {
  api: ListWatchApi;
  resource: ResourcePath;
  logger: Logger;
  /** Part of the collection to hold; absent = all. */
  selection?: ListOptions;
  indexes?: Record<string, IndexFunction<T>>;
  /** Drops what nobody reads before an object is stored; default dropManagedFields. */
  transform?: (object: T) => T;
  clock?: Clock;
  /** 0 ≤ random() < 1. */
  random?: () => number;
}

/** What a reflector is doing, for health checks and people. */
export interface ReflectorStatus {
  /** `Missing`: the API server doesn't know the resource yet. `Waiting`: something failed, and the next try is due later. */
  phase: 'Idle' | 'Listing' | 'Watching' | 'Waiting' | 'Missing' | 'Stopped';
  synced: boolean;
  /** One sentence for people. */
  message: string;
  /** Failures in a row. */
  failures: number;
  lastError?: OperatorError;
}

const BACK_OFF = { baseMs: 800, maxMs: 30_000 };
/** A missing CRD is waited for in shorter steps: its coming starts the work. */
const MISSING_BACK_OFF = { baseMs: 500, maxMs: 5_000 };
/** A watch that lives for this long after its answer has begun, in milliseconds, ends a series of failures. */
const HEALTHY_AFTER = 10_000;
const BOOKMARK_TIMEOUT = 180_000;

/** Of managedFields only those of one manager: they are large, and whatever others wrote is nobody's business here. */
export function keepManagedFieldsOf<T extends KubeObject>(manager: string): (object: T) => T {
  return (object) => {
    const own = (object.metadata.managedFields ?? []).filter((entry) => entry.manager === manager);
    return { ...object, metadata: { ...dropManagedFields(object).metadata, ...(own.length === 0 ? {} : { managedFields: own }) } };
  };
}

/** managedFields are large and nobody reads them here. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

/** Keeps a store equal to a collection of the API server: lists it page by page, then watches it, for ever. */
export class Reflector<T extends KubeObject> {
  readonly resource: ResourcePath;
  private readonly memory: MemoryStore<T>;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly transform: (object: T) => T;
  private readonly name: string;
  /** Version to watch from; undefined = list first. */
  private resourceVersion: string | undefined;
  private phase: ReflectorStatus['phase'] = 'Idle';
  private failures = 0;
  private lastError: OperatorError | undefined;
  private wake: AbortController | undefined;
  private markTried: () => void = () => undefined;
  /** Resolves once the store is filled, or it is known that it can't be: the API server doesn't know the resource, or refuses to list it. */
  readonly tried = new Promise<void>((resolve) => (this.markTried = resolve));

  constructor(private readonly options: ReflectorOptions<T>) {
    this.resource = options.resource;
    this.name = resourceName(options.resource);
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.transform = options.transform ?? dropManagedFields;
    this.memory = new MemoryStore<T>(options.indexes ?? {}, options.logger);
  }

  get store(): Store<T> {
    return this.memory;
  }

  /** Runs until the signal is aborted; never rejects. */
  async start(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = this.clock.monotonic();
      try {
        if (this.resourceVersion === undefined) await this.list(signal);
        await this.watch(signal);
        // A watch that ends at once again and again is a failure too.
        if (this.clock.monotonic() - startedAt < 1000)
          throw new OperatorError('Transient', `watch ${this.name}: ended as soon as it began`);
      } catch (thrown) {
        if (signal.aborted) break;
        await this.failed(toOperatorError(thrown), signal);
      }
    }
    this.phase = 'Stopped';
  }

  /** Cuts a back-off short, for example when the CRD has just been installed. */
  retryNow(): void {
    this.wake?.abort();
  }

  status(): ReflectorStatus {
    const status: ReflectorStatus = { phase: this.phase, synced: this.memory.synced, message: this.describe(), failures: this.failures };
    if (this.lastError !== undefined) status.lastError = this.lastError;
    return status;
  }

  private async list(signal: AbortSignal): Promise<void> {
    this.phase = 'Listing';
    let objects: T[] = [];
    let version = '';
    for await (const page of this.options.api.pages<T>(this.resource, this.options.selection, signal)) {
      const kept = page.items.map(this.transform);
      objects = page.restart ? kept : objects.concat(kept);
      version = page.resourceVersion;
    }
    this.memory.replace(objects);
    this.markTried();
    this.resourceVersion = version;
    // Waiting for a CRD says nothing about the server's health.
    if (this.lastError !== undefined && isResourceMissing(this.lastError)) this.recovered();
  }

  private async watch(signal: AbortSignal): Promise<void> {
    this.phase = 'Watching';
    let answeredAt = Infinity;
    let cancel = (): void => undefined;
    const onAnswer = (): void => {
      answeredAt = this.clock.monotonic();
      cancel = this.clock.after(HEALTHY_AFTER, () => this.recovered());
    };
    const watching = this.options.api.watch<T>(this.resource, {
      ...this.options.selection,
      resourceVersion: this.resourceVersion ?? '',
      timeoutSeconds: Math.floor(300 + this.random() * 300),
      bookmarkTimeoutMs: BOOKMARK_TIMEOUT,
      onAnswer,
      signal,
    });
    try {
      for await (const event of watching) this.receive(event);
    } finally {
      cancel();
      if (this.clock.monotonic() - answeredAt >= HEALTHY_AFTER) this.recovered();
    }
  }

  private receive(event: WatchEvent<T>): void {
    if (event.type === 'DELETED') this.memory.delete(keyOf(event.object.metadata));
    else if (event.type !== 'BOOKMARK') this.memory.set(this.transform(event.object));
    this.resourceVersion = event.object.metadata.resourceVersion;
  }

  private async failed(error: OperatorError, signal: AbortSignal): Promise<void> {
    const missing = isResourceMissing(error);
    if (missing || this.mustListAgain(error)) this.resourceVersion = undefined;
    this.report(error, missing);
    const delay = jitteredDelay(this.failures, missing ? MISSING_BACK_OFF : BACK_OFF, this.random);
    this.phase = missing ? 'Missing' : 'Waiting';
    this.failures += 1;
    this.lastError = error;
    // Not 401: whoever the API server doesn't know yet may still be let in.
    if (missing || statusOf(error)?.code === 403) this.markTried();
    await this.pause(Math.max(delay, error.retryAfterMs ?? 0), signal);
  }

  /** Waits, unless stopped or told to try now. */
  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    this.wake = wake;
    try {
      await sleep(this.clock, ms, AbortSignal.any([signal, wake.signal]));
    } catch {
      // Woken early: the loop looks at the signal itself.
    } finally {
      this.wake = undefined;
    }
  }

  private report(error: OperatorError, missing: boolean): void {
    const bindings = { resource: this.name, failures: this.failures, err: error };
    const told = this.lastError !== undefined && isResourceMissing(this.lastError);
    if (missing && !told) this.options.logger.info({ resource: this.name }, missingMessage(this.name));
    else if (missing || isExpired(error)) this.options.logger.debug(bindings, 'list or watch failed');
    else this.options.logger.warn(bindings, `list or watch of ${this.name} failed: ${error.message}`);
  }

  /**
   * What a lost connection, a busy server or missing permissions leave untouched is the place in the stream of changes; anything else
   * (410 above all) means that the version can't be trusted. So does an answer that stays an error.
   */
  private mustListAgain(error: OperatorError): boolean {
    if (isExpired(error)) return true;
    if (!['Transient', 'Throttled', 'Credentials', 'Canceled'].includes(error.code)) return true;
    return this.failures >= 4 && statusOf(error) !== undefined;
  }

  private recovered(): void {
    this.failures = 0;
    this.lastError = undefined;
  }

  private describe(): string {
    if (this.phase === 'Missing') return missingMessage(this.name);
    const failure = this.lastError === undefined || this.phase === 'Watching' ? '' : `: ${this.lastError.message}`;
    return `${this.phase.toLowerCase()} ${this.name}${failure}`;
  }
}

function missingMessage(name: string): string {
  return `waiting for the CustomResourceDefinition ${name}: the API server doesn’t know this resource`;
}
