import type { Json } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';
import type { Change } from './entry';
import { History } from './history';
import { Journal, type CrashPoint, type JournalOptions } from './journal';
import { State, type StateImage } from './state';

const FORMAT = 1;

interface Snapshot {
  format: number;
  state: StateImage;
}

/** The state and its journal: a commit changes memory at once, and resolves when it is durable. */
export class Store {
  readonly state = new State();
  readonly history: History;
  private readonly journal: Journal;

  constructor(options: Omit<JournalOptions, 'image'> & { now: () => number }) {
    this.journal = new Journal({ ...options, image: () => ({ format: FORMAT, state: this.state.image() }) });
    this.history = new History(this.state, options.now);
  }

  /**
   * Reads the directory; `tornBytes` of an unfinished last record were dropped.
   * @throws OperatorError Invalid when the files are damaged or of a newer version
   */
  async open(): Promise<{ records: number; tornBytes: number }> {
    const { snapshot, records, tornBytes } = await this.journal.open();
    if (snapshot !== undefined) this.restore(snapshot as unknown as Snapshot);
    for (const record of records) for (const change of record as unknown as Change[]) this.state.apply(change);
    return { records: records.length, tornBytes };
  }

  /** All or nothing; every later reader sees it, and `durable()` says when it can't be lost any more. */
  commit(changes: Change[], crash?: CrashPoint): Promise<void> {
    for (const change of changes) {
      this.history.note(change);
      this.state.apply(change);
    }
    return this.journal.append(changes as unknown as Json, crash);
  }

  /** Resolves when everything that a reader could have seen is durable. */
  durable(): Promise<void> {
    return this.journal.durable();
  }

  get journalBytes(): number {
    return this.journal.bytes;
  }

  get failed(): OperatorError | undefined {
    return this.journal.failed;
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  private restore(snapshot: Snapshot): void {
    if (snapshot.format !== FORMAT) {
      throw new OperatorError('Invalid', `the snapshot has format ${snapshot.format}, this version reads ${FORMAT}`, {
        remedy: 'start the version that wrote it, or an empty directory',
      });
    }
    this.state.restore(snapshot.state);
  }
}
