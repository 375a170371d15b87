/** One piece of work at a time for each key, in the order asked for. Work that fails is in nobody's way. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Keys whose work has not ended. */
  get keys(): string[] {
    return [...this.last.keys()];
  }

  /** @returns what the work gives; rejects as the work does */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.last.get(key) ?? Promise.resolve()).then(work, work);
    this.last.set(key, turn);
    const forget = (): void => {
      if (this.last.get(key) === turn) this.last.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  }
}
