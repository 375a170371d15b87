import type { Clock } from '../base/clock';
import { hashJson } from '../base/json';
import type { EventTarget } from './api';
import { TokenBucket } from './token-bucket';

/** Similar events in this many seconds, from this many distinct messages on, become one (contract 2.5, 12). */
const AGGREGATE_FROM = 10;
const AGGREGATE_INTERVAL = 600_000;
/** The spam filter: 25 events of one object at once, then one in 300 s (contract 2.5). */
const SPAM_BURST = 25;
const SPAM_QPS = 1 / 300;
/** Objects and messages that are remembered; the ones not seen for longest go first. */
const MEMORY = 4096;
const AGGREGATE_PREFIX = '(combined from similar events): ';

export interface Occurrence {
  target: EventTarget;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** RFC 3339, seconds. */
  timestamp: string;
}

/** What is to be written: an Event that is new, or a higher count of a known one. */
export interface CorrelatedEvent {
  /** Under which `written` remembers it. */
  key: string;
  message: string;
  count: number;
  firstTimestamp: string;
  /** Of the Event that is there already; absent = none was written. */
  name?: string;
}

interface Aggregate {
  /** Their hashes, fewer than AGGREGATE_FROM, the oldest first. */
  messages: string[];
  lastAt: number;
}

/**
 * client-go's EventCorrelator: folds similar events, counts identical ones, drops what comes too often. It remembers hashes: the texts of
 * thousands of Events are megabytes.
 */
export class EventCorrelator {
  private readonly aggregates = new RecentMap<Aggregate>(MEMORY);
  private readonly known = new RecentMap<Omit<CorrelatedEvent, 'key' | 'message'>>(MEMORY);
  private readonly filters = new RecentMap<TokenBucket>(MEMORY);

  constructor(private readonly clock: Clock) {}

  /** undefined = dropped by the spam filter; it is counted all the same. */
  correlate(occurrence: Occurrence): CorrelatedEvent | undefined {
    const folded = this.fold(occurrence);
    const before = this.known.get(folded.key) ?? { count: 0, firstTimestamp: occurrence.timestamp };
    const known = { ...before, count: before.count + 1 };
    this.known.set(folded.key, known);
    return this.filterOf(occurrence.target).tryTake() ? { ...known, ...folded } : undefined;
  }

  /** The event was written under this name. */
  written({ key, count, firstTimestamp }: CorrelatedEvent, name: string): void {
    this.known.set(key, { count, firstTimestamp, name });
  }

  private fold({ target, type, reason, message }: Occurrence): { key: string; message: string } {
    const similar = hashJson([objectId(target), type, reason]);
    const exactly = hashJson([similar, message]);
    const now = this.clock.monotonic();
    this.aggregates.forget(({ lastAt }) => now - lastAt > AGGREGATE_INTERVAL);
    const aggregate = this.aggregates.get(similar) ?? { messages: [exactly], lastAt: now };
    aggregate.lastAt = now;
    this.aggregates.set(similar, aggregate);
    if (!aggregate.messages.includes(exactly)) aggregate.messages.push(exactly);
    if (aggregate.messages.length < AGGREGATE_FROM) return { key: exactly, message };
    // Room for the next one to count: the list must neither grow nor fall below the threshold.
    aggregate.messages.shift();
    return { key: similar, message: AGGREGATE_PREFIX + message };
  }

  private filterOf(target: EventTarget): TokenBucket {
    const id = objectId(target);
    this.filters.forget((filter) => filter.isFull());
    const filter = this.filters.get(id) ?? new TokenBucket(SPAM_QPS, SPAM_BURST, this.clock);
    this.filters.set(id, filter);
    return filter;
  }
}

function objectId({ apiVersion, kind, metadata }: EventTarget): string {
  return hashJson([apiVersion, kind, metadata.namespace ?? '', metadata.name, metadata.uid]);
}

/** A map that forgets what was not used for longest. */
class RecentMap<V> {
  private readonly entries = new Map<string, V>();

  constructor(private readonly limit: number) {}

  get(key: string): V | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.limit && oldest !== undefined) this.entries.delete(oldest);
  }

  /** Forgets those, not used for longest, that count for nothing any more. */
  forget(isOver: (value: V) => boolean): void {
    for (const [key, value] of this.entries) {
      if (!isOver(value)) return;
      this.entries.delete(key);
    }
  }
}
