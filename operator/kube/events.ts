import { sleep, systemClock, type Clock } from '../base/clock';
import { toOperatorError, type OperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { EventRecorder, EventTarget, KubeApi } from './api';
import { EventCorrelator, type CorrelatedEvent, type Occurrence } from './event-correlator';
import { EVENTS, keyOf } from './object';
import { isObjectNotFound } from './status';

export interface KubeEventRecorderOptions {
  api: Pick<KubeApi, 'create' | 'patch'>;
  /** `source.component`: upstream's names, such as `service-controller`. */
  component: string;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
}

/** client-go's numbers (contract 2.5). */
const QUEUE_LENGTH = 1000;
const TRIES = 12;
const RETRY_AFTER = 10_000;
const MAX_NAME = 253;

/** Writes core/v1 Events, one after another, in the background. */
export class KubeEventRecorder implements EventRecorder {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly correlator: EventCorrelator;
  private readonly queue: Occurrence[] = [];
  private readonly stopped = new AbortController();
  private writing: Promise<void> | undefined;
  private lastStamp = 0n;
  private dropped = 0;

  constructor(private readonly options: KubeEventRecorderOptions) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.correlator = new EventCorrelator(this.clock);
  }

  event(target: EventTarget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.stopped.signal.aborted) return;
    if (this.queue.length >= QUEUE_LENGTH) {
      this.dropped += 1;
      if (this.dropped === 1)
        this.options.logger.warn({ object: keyOf(target.metadata), reason }, 'events are dropped: the queue of events is full');
      return;
    }
    this.queue.push({ target, type, reason, message, timestamp: new Date(this.clock.now()).toISOString().replace(/\.\d{3}Z$/, 'Z') });
    this.writing ??= this.drain();
  }

  /** Resolves when everything recorded so far has been written or given up, or after `timeoutMs`; then nothing more is written. */
  async flush(timeoutMs: number = 5_000): Promise<void> {
    const ended = new AbortController();
    await Promise.race([this.writing, sleep(this.clock, timeoutMs, ended.signal).catch(() => undefined)]);
    ended.abort();
    this.stopped.abort();
    if (this.queue.length > 0) this.options.logger.warn({ events: this.queue.length }, 'events were not written before the end');
  }

  private async drain(): Promise<void> {
    for (let next = this.queue.shift(); next !== undefined; next = this.stopped.signal.aborted ? undefined : this.queue.shift()) {
      await this.record(next);
    }
    this.writing = undefined;
    this.dropped = 0;
  }

  private async record(occurrence: Occurrence): Promise<void> {
    const correlated = this.correlator.correlate(occurrence);
    if (correlated === undefined) return;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.write(occurrence, correlated);
      } catch (thrown) {
        const error = toOperatorError(thrown);
        if (!worthRetrying(error) || attempt >= TRIES) return this.giveUp(occurrence, error);
        // The first wait is random, so that not all operators of a cluster come back at once.
        const delay = Math.max(RETRY_AFTER * (attempt === 1 ? this.random() : 1), error.retryAfterMs ?? 0);
        if (!(await this.waited(delay))) return this.giveUp(occurrence, error);
      }
    }
  }

  private async write(occurrence: Occurrence, correlated: CorrelatedEvent): Promise<void> {
    const namespace = namespaceOf(occurrence.target);
    const { count, message, firstTimestamp } = correlated;
    const lastTimestamp = occurrence.timestamp;
    if (correlated.name !== undefined && (await this.raiseCount(`${namespace}/${correlated.name}`, { count, message, lastTimestamp }))) {
      return this.correlator.written(correlated, correlated.name);
    }
    const name = this.eventName(occurrence.target.metadata.name);
    await this.options.api.create(EVENTS, namespace, {
      metadata: { name, namespace },
      involvedObject: reference(occurrence.target),
      reason: occurrence.reason,
      message,
      type: occurrence.type,
      count,
      firstTimestamp,
      lastTimestamp,
      source: { component: this.options.component },
      reportingComponent: this.options.component,
      reportingInstance: '',
    });
    this.correlator.written(correlated, name);
  }

  /** False = the Event has expired in the meantime. */
  private async raiseCount(key: string, change: { count: number; message: string; lastTimestamp: string }): Promise<boolean> {
    try {
      await this.options.api.patch(EVENTS, key, 'strategic', change);
      return true;
    } catch (thrown) {
      if (isObjectNotFound(thrown)) return false;
      throw thrown;
    }
  }

  private giveUp(occurrence: Occurrence, error: OperatorError): void {
    const bindings = { object: keyOf(occurrence.target.metadata), reason: occurrence.reason, err: error };
    // In a namespace that is going away nothing can be created: nobody misses the event.
    const level = error.code === 'Conflict' || this.stopped.signal.aborted ? 'debug' : 'warn';
    this.options.logger[level](bindings, `an event was not written: ${error.message}`);
  }

  /** False = stopped meanwhile. */
  private async waited(ms: number): Promise<boolean> {
    return sleep(this.clock, ms, this.stopped.signal).then(
      () => true,
      () => false,
    );
  }

  /** `<object>.<nanoseconds in hex>`, as client-go names Events. */
  private eventName(object: string): string {
    const stamp = BigInt(Math.floor(this.clock.now())) * 1_000_000n;
    this.lastStamp = stamp > this.lastStamp ? stamp : this.lastStamp + 1n;
    const suffix = `.${this.lastStamp.toString(16)}`;
    return object.slice(0, MAX_NAME - suffix.length).replace(/[.-]+$/, '') + suffix;
  }
}

/** Events of cluster-scoped objects live in `default` (contract 2.5). */
function namespaceOf({ metadata }: EventTarget): string {
  return metadata.namespace === undefined || metadata.namespace === '' ? 'default' : metadata.namespace;
}

function reference({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: EventTarget): object {
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}

/** The API server's refusals are final; a busy or unreachable one is not. */
function worthRetrying(error: OperatorError): boolean {
  return error.code === 'Transient' || error.code === 'Throttled';
}
