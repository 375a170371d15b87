import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../operator/base/clock';

/** What goes on for a resource after the answer to a write. */
export interface RunningOperation {
  id: string;
  resourceID: string;
  endsAt: number;
  status: 'InProgress' | 'Succeeded' | 'Failed' | 'Canceled';
  error?: { code: string; message: string };
  end: (succeeded: boolean) => void;
}

/** Operations that take time. A later one for the same resource ends the earlier one. */
export class Operations {
  private readonly known = new Map<string, RunningOperation>();
  private readonly running = new Set<RunningOperation>();
  /** What the next operations fail with, in their order. */
  readonly failures: { code: string; message: string }[] = [];

  constructor(
    private readonly clock: Clock,
    /** Milliseconds from a write to its end. */
    public takesMs: number,
  ) {}

  /** @param end called when it is over; false = it has failed */
  begin(resourceID: string, end: (succeeded: boolean) => void): RunningOperation {
    for (const earlier of this.running) {
      if (earlier.resourceID !== resourceID.toLowerCase()) continue;
      this.running.delete(earlier);
      earlier.status = 'Canceled';
      earlier.error = {
        code: 'CanceledAndSupersededDueToAnotherOperation',
        message: `Operation was canceled and superseded by another one.`,
      };
    }
    const operation: RunningOperation = {
      id: randomUUID(),
      resourceID: resourceID.toLowerCase(),
      endsAt: this.clock.monotonic() + this.takesMs,
      status: 'InProgress',
      end,
    };
    this.known.set(operation.id, operation);
    this.running.add(operation);
    this.settle();
    return operation;
  }

  find(id: string): RunningOperation | undefined {
    this.settle();
    return this.known.get(id);
  }

  /** Nobody can ask for those any more that have begun; they go on. */
  forget(): void {
    this.known.clear();
  }

  /** Ends what is due. */
  settle(): void {
    for (const operation of this.running) {
      if (operation.endsAt > this.clock.monotonic()) continue;
      this.running.delete(operation);
      const failure = this.failures.shift();
      operation.status = failure === undefined ? 'Succeeded' : 'Failed';
      if (failure !== undefined) operation.error = failure;
      operation.end(failure === undefined);
    }
  }
}
