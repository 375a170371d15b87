import type { Change, Entry, ResourceCollection } from './entry';
import type { State } from './state';

interface Past {
  at: number;
  collection: ResourceCollection;
  id: string;
  /** As it was before; absent: it did not exist. */
  before: Entry | undefined;
}

/** The recent past, for lists that lag: kept only as long as a fault rule asks for. */
export class History {
  private past: Past[] = [];
  private keepMs = 0;

  /** @param now monotonic milliseconds */
  constructor(
    private readonly state: State,
    private readonly now: () => number,
  ) {}

  /** Keeps changes of the last `ms`; 0 = nothing. */
  keep(ms: number): void {
    this.keepMs = ms;
    if (ms === 0) this.past = [];
  }

  /** Remembers what `change` is about to overwrite. */
  note(change: Change): void {
    if (this.keepMs === 0 || change.kind === 'operation') return;
    const id = change.kind === 'put' ? change.entry.resource.id : change.id;
    const at = this.now();
    this.past.push({ at, collection: change.collection, id, before: this.state.get(change.collection, id) });
    const oldest = this.past.findIndex((past) => past.at >= at - this.keepMs);
    if (oldest > 0) this.past.splice(0, oldest);
  }

  /** The collection as it was `lagMs` ago, oldest first. */
  asOf(collection: ResourceCollection, lagMs: number): Entry[] {
    const entries = new Map<string, Entry>(this.state.all(collection).map((entry) => [entry.resource.id, entry]));
    const since = this.now() - lagMs;
    for (const past of this.past.toReversed()) {
      if (past.collection !== collection || past.at <= since) continue;
      if (past.before === undefined) entries.delete(past.id);
      else entries.set(past.id, past.before);
    }
    return [...entries.values()].sort((a, b) => a.order - b.order);
  }
}
