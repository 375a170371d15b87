/** Stacks that are remembered: more than may end while one listing of the cloud is read. */
const MEMORY = 4096;

/**
 * Which stacks' updates ended after which moment: what the cloud was asked before that says nothing of them. Moments count what has ended in this
 * process; no other one updates stacks while this one may.
 */
export class EndedUpdates {
  private count = 0;
  /** By stack, the latest last. */
  private readonly ended = new Map<string, number>();
  /** The latest moment of which some stack is remembered no more. */
  private forgotten = 0;

  /** What is asked of the cloud from here on is newer than all that has ended. */
  get moment(): number {
    return this.count;
  }

  /** What is stored of the stack may be another thing now. */
  note(stack: string): void {
    this.ended.delete(stack);
    this.ended.set(stack, ++this.count);
    const [oldest] = this.ended;
    if (this.ended.size <= MEMORY || oldest === undefined) return;
    this.ended.delete(oldest[0]);
    this.forgotten = oldest[1];
  }

  /** True when an update of the stack ended after the moment, or may have. */
  since(moment: number, stack: string): boolean {
    return (this.ended.get(stack) ?? this.forgotten) > moment;
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.ended.delete(stack);
  }
}
