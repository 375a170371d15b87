import type { Clock } from '../base/clock';

const MAX_ENTRIES = 4096;

/** Remembers answers for a time of their own; the oldest go first when there are too many. */
export class TtlCache<V> {
  private readonly entries = new Map<string, { value: V; until: number }>();

  constructor(private readonly clock: Clock) {}

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.until > this.clock.monotonic()) return entry?.value;
    this.entries.delete(key);
    return undefined;
  }

  /** @param ttlMs 0 or less = don't remember */
  set(key: string, value: V, ttlMs: number): void {
    if (ttlMs <= 0) return;
    this.entries.delete(key);
    this.entries.set(key, { value, until: this.clock.monotonic() + ttlMs });
    if (this.entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}
