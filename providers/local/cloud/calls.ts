import type { CallCounts, Collection } from '../api';
import type { Verb } from './faults';

/** Callers name themselves: beyond so many different counts they are counted together. */
const MOST_COUNTS = 2000;

type Count = CallCounts['calls'][number];

/** Counts calls by verb, collection, code and caller. */
export class Calls {
  private counts = new Map<string, Count>();

  count(verb: Verb, collection: Collection, code: number, caller: string): void {
    const who = this.counts.size < MOST_COUNTS ? caller : 'others';
    const key = `${verb} ${collection} ${code} ${who}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { verb, collection, code, caller: who, count: 1 });
    else known.count++;
  }

  /** Writes are counted whether they succeeded or not. */
  get(): CallCounts {
    const calls = [...this.counts.values()].map((count) => ({ ...count }));
    const sum = (some: Count[]): number => some.reduce((total, { count }) => total + count, 0);
    return { total: sum(calls), writes: sum(calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')), calls };
  }

  reset(): void {
    this.counts = new Map();
  }
}
