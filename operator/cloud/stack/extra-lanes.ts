import type { Clock } from '../../base/clock';
import type { WorkQueue } from '../../kube/api';

export interface ExtraLanesOptions {
  /** Of the lane where stacks begin. */
  queue: WorkQueue;
  /** Of the lane beside it. */
  slowQueue: WorkQueue;
  /** How long a stack may keep the others waiting, in milliseconds. */
  patienceMs: (stack: string) => number;
  clock: Pick<Clock, 'after'>;
}

/**
 * Two lanes, with one stack at a time in each: so slow plugins leave workers to the load balancers, and yet nobody waits for a program that hangs. A stack that
 * keeps the others waiting goes on in the slow lane, as soon as that is free. One that failed after such a time begins there, until it gets on.
 */
export class ExtraLanes {
  /** Those that begin in the slow lane. */
  private readonly slow = new Set<string>();
  /** What runs of stacks that have changed to the slow lane, and whether they were asked for meanwhile. */
  private readonly changed = new Map<string, { running: Promise<void>; again: boolean }>();
  /** The end of what has changed to the slow lane, or is about to: nobody begins there before. */
  private changing: Promise<void> | undefined;
  /** The end of what began in the slow lane. */
  private begun: Promise<void> = Promise.resolve();

  constructor(private readonly options: ExtraLanesOptions) {}

  add(stack: string): void {
    this.queueOf(stack).add(stack);
  }

  addAfter(stack: string, ms: number): void {
    this.queueOf(stack).addAfter(stack, ms);
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.slow.delete(stack);
  }

  /** Works until the signal is aborted; resolves when all that runs has ended. */
  async run(work: (stack: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { queue, slowQueue } = this.options;
    await Promise.all([
      queue.run(1, (stack) => this.begin(stack, work), signal),
      slowQueue.run(1, (stack) => this.beginSlowly(stack, work), signal),
    ]);
    await Promise.allSettled([...this.changed.values()].map(({ running }) => running));
  }

  private queueOf(stack: string): WorkQueue {
    return this.slow.has(stack) ? this.options.slowQueue : this.options.queue;
  }

  private async begin(stack: string, work: (stack: string) => Promise<void>): Promise<void> {
    const changed = this.changed.get(stack);
    if (changed !== undefined) changed.again = true;
    else if (this.slow.has(stack)) this.options.slowQueue.add(stack);
    else await this.keepOrChange(stack, work(stack));
  }

  private async keepOrChange(stack: string, running: Promise<void>): Promise<void> {
    const ended = endOf(running);
    if (await this.endsInTime(stack, ended)) return running;
    running.catch(() => this.slow.add(stack));
    const changes = this.freeFor(ended).then(() => true);
    if (!(await Promise.race([ended.then(() => false), changes]))) return running;
    this.changed.set(stack, { running, again: false });
    this.options.slowQueue.add(stack);
  }

  /** Resolves when what runs may go on in the slow lane, before all that stand there. */
  private async freeFor(ended: Promise<void>): Promise<void> {
    const before = this.changing;
    const over: Promise<void> = Promise.all([before, ended]).then(() => {
      if (this.changing === over) this.changing = undefined;
    });
    this.changing = over;
    await before;
    await this.begun;
  }

  private async beginSlowly(stack: string, work: (stack: string) => Promise<void>): Promise<void> {
    const changed = this.changed.get(stack);
    if (changed !== undefined) return this.goOn(stack, changed);
    while (this.changing !== undefined) await this.changing;
    const running = work(stack);
    this.begun = endOf(running);
    if (await this.endsInTime(stack, this.begun)) this.slow.delete(stack);
    await running;
    this.slow.delete(stack);
  }

  /** Its retries are the slow queue's from here on. */
  private async goOn(stack: string, changed: { running: Promise<void>; again: boolean }): Promise<void> {
    try {
      await changed.running;
    } finally {
      this.changed.delete(stack);
      if (changed.again) this.add(stack);
    }
  }

  private async endsInTime(stack: string, ended: Promise<void>): Promise<boolean> {
    let cancel = (): void => undefined;
    const late = new Promise<boolean>((resolve) => {
      cancel = this.options.clock.after(this.options.patienceMs(stack), () => resolve(false));
    });
    return Promise.race([ended.then(() => true), late]).finally(cancel);
  }
}

/** Resolves when something has ended, however that went. */
function endOf(running: Promise<void>): Promise<void> {
  return running.catch(() => undefined);
}
