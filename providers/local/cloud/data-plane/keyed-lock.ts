/** Runs what concerns one key one after another, and different keys side by side. */
export class KeyedLock {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Waits for earlier work on `key`, then runs `work`; gives and throws what `work` does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    this.tails.set(key, result);
    const forget = (): void => {
      if (this.tails.get(key) === result) this.tails.delete(key);
    };
    result.then(forget, forget);
    return result;
  }
}
