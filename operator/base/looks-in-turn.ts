/** Each thing whose mark stays is looked at closely once in so many looks. */
const EVERY = 6;

/**
 * Chooses what to look at closely where that costs a call for each thing and a glance tells of most that nothing has changed: what is new, what has
 * another mark than when it was last in order, and a part of the others, so that each has its turn.
 */
export class LooksInTurn {
  private readonly inOrder = new Map<string, { mark: string; left: number }>();
  private offset = 0;

  /** Counts as a look. @param marks by id; undefined = nothing is told of it, so that it is always looked at */
  due(marks: ReadonlyMap<string, string | undefined>): string[] {
    return [...marks.keys()].filter((id) => this.isDue(id, marks.get(id)));
  }

  /** It was looked at closely, and all was in order. Turns are spread by when that was first; a look out of turn leaves the turn as it was. */
  noted(id: string, mark: string): void {
    const known = this.inOrder.get(id);
    const turn = known === undefined ? 1 + (this.offset++ % EVERY) : known.left;
    this.inOrder.set(id, { mark, left: turn > 0 ? turn : EVERY });
  }

  /** It is looked at closely until it is in order. */
  forget(id: string): void {
    this.inOrder.delete(id);
  }

  /** All others are gone. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.inOrder.keys()) if (!ids.has(id)) this.inOrder.delete(id);
  }

  private isDue(id: string, mark: string | undefined): boolean {
    const known = this.inOrder.get(id);
    if (known === undefined || mark === undefined || known.mark !== mark) return true;
    known.left -= 1;
    return known.left <= 0;
  }
}
