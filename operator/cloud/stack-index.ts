/** Which objects a stack carries. An object is in one stack at a time. */
export class StackIndex {
  private readonly stackByKey = new Map<string, string>();
  private readonly keysByStack = new Map<string, Set<string>>();

  /**
   * Records that the object is in `stack`, or in none.
   * @returns the stacks that this changes: the one left and the one entered
   */
  assign(key: string, stack: string | undefined): string[] {
    const before = this.stackByKey.get(key);
    if (before !== undefined && before !== stack) this.leave(key, before);
    if (stack !== undefined) {
      this.stackByKey.set(key, stack);
      const keys = this.keysByStack.get(stack) ?? new Set<string>();
      this.keysByStack.set(stack, keys.add(key));
    }
    return [...new Set([before, stack])].filter((name) => name !== undefined);
  }

  stackOf(key: string): string | undefined {
    return this.stackByKey.get(key);
  }

  keys(stack: string): string[] {
    return [...(this.keysByStack.get(stack) ?? [])].sort();
  }

  stacks(): string[] {
    return [...this.keysByStack.keys()].sort();
  }

  private leave(key: string, stack: string): void {
    this.stackByKey.delete(key);
    const keys = this.keysByStack.get(stack);
    keys?.delete(key);
    if (keys?.size === 0) this.keysByStack.delete(stack);
  }
}
