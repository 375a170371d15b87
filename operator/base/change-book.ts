import { type Change, currentChange } from './change';

/** More are not remembered: the oldest go. */
const KEPT = 10_000;

/**
 * Who has asked for what: the loops write an object, and a pass over its stack, which the API server's event brings about, goes on with the same
 * change. Both are in the leader's process; what is lost with it costs no more than the thread between two log lines.
 */
export class ChangeBook {
  private readonly changes = new Map<string, Change>();

  /** What the current change is about to write. @param key `CloudLoadBalancer/default/web` */
  note(key: string): void {
    const change = currentChange();
    if (change === undefined) return;
    this.changes.delete(key);
    this.changes.set(key, change);
    const [oldest] = this.changes.keys();
    if (this.changes.size > KEPT && oldest !== undefined) this.changes.delete(oldest);
  }

  /** The newest change of these; undefined = none was noted. */
  newest(keys: readonly string[]): Change | undefined {
    if (keys.length === 1) return this.changes.get(keys[0] ?? '');
    const asked = new Set(keys);
    return [...this.changes].findLast(([key]) => asked.has(key))?.[1];
  }

  /** They were brought about: what comes next is another change. @param until the newest that was */
  done(keys: readonly string[], until: Change): void {
    for (const key of keys) if (this.changes.get(key)?.id === until.id) this.changes.delete(key);
  }
}
