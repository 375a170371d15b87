import { OperatorError } from '../base/errors';

interface Waiting<Item, Result> {
  item: Item;
  settle: { resolve: (result: Result) => void; reject: (error: unknown) => void }[];
}

/**
 * Runs work per stack one after another. While one runs, at most one waits: a newer item is merged with the older waiting one,
 * and both callers get the same result.
 */
export class StackQueue<Item, Result> {
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Waiting<Item, Result>>();
  #closed = false;

  /**
   * @param run does the work of one item
   * @param merge gives what is to be done for both
   */
  constructor(
    private readonly run: (item: Item) => Promise<Result>,
    private readonly merge: (older: Item, newer: Item) => Item,
  ) {}

  push(stack: string, item: Item): Promise<Result> {
    if (this.#closed) return Promise.reject(closing());
    return new Promise((resolve, reject) => {
      const older = this.#waiting.get(stack);
      const settle = [...(older?.settle ?? []), { resolve, reject }];
      this.#waiting.set(stack, { item: older === undefined ? item : this.merge(older.item, item), settle });
      if (!this.#running.has(stack)) this.#running.set(stack, this.#drain(stack));
    });
  }

  /** Does other work while nothing of the stack runs, and keeps its items waiting meanwhile; undefined, and nothing done, when something runs. */
  exclusive<T>(stack: string, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#running.has(stack)) return undefined;
    const done = work();
    const after = done.then(
      () => this.#drain(stack),
      () => this.#drain(stack),
    );
    this.#running.set(stack, after);
    return done;
  }

  /** Refuses what waits and everything new; settles when nothing runs any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { settle } of this.#waiting.values()) settle.forEach(({ reject }) => reject(closing()));
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  async #drain(stack: string): Promise<void> {
    for (let next = this.#waiting.get(stack); next !== undefined; next = this.#waiting.get(stack)) {
      this.#waiting.delete(stack);
      const { item, settle } = next;
      const tell = await this.run(item).then(
        (result) => () => settle.forEach(({ resolve }) => resolve(result)),
        (error: unknown) => () => settle.forEach(({ reject }) => reject(error)),
      );
      // Before the callers go on: to them the stack is at rest now.
      if (!this.#waiting.has(stack)) this.#running.delete(stack);
      tell();
    }
    this.#running.delete(stack);
  }
}

function closing(): OperatorError {
  return new OperatorError('Canceled', 'updates are being shut down');
}
