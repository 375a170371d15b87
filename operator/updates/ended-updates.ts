/**
 * Which stacks' updates ended after which moment: what the cloud was asked before that says nothing of them. Moments count what has ended in this
 * process; no other one updates stacks while this one may.
 */
export class EndedUpdates {
  private count = 0;
  /** By stack. */
  private readonly ended = new Map<string, number>();

  /** What is asked of the cloud from here on is newer than all that has ended. */
  get moment(): number {
    return this.count;
  }

  /** What is stored of the stack may be another thing now. */
  note(stack: string): void {
    this.ended.set(stack, ++this.count);
  }

  /** True when an update of the stack ended after the moment. */
  since(moment: number, stack: string): boolean {
    return (this.ended.get(stack) ?? 0) > moment;
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.ended.delete(stack);
  }
}
