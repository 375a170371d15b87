import type { Settle } from '../../providers/call-gate';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Account } from './limits/account';
import { type CallPriority, priorityOfCall } from './limits/call-priority';
import { toWire, type WorkerCommand, type WorkerEvent } from './protocol';

/** The cloud calls of one update, which its worker asks for: each passes the account's gate before it is granted. */
export class WorkerCalls {
  /** Calls that wait for their grant. */
  private readonly waiting = new Map<number, AbortController>();
  /** Calls that were granted and have not ended. */
  private readonly open = new Map<number, Settle>();
  private granted: number[] = [];

  /**
   * @param id of the update
   * @param priority of calls whose verb has none of its own
   */
  constructor(
    private readonly id: string,
    private readonly account: Account,
    private readonly priority: CallPriority,
    private readonly send: (command: WorkerCommand) => void,
  ) {}

  take(event: WorkerEvent): void {
    if (event.type === 'acquire') event.calls.forEach(({ call, verb }) => void this.acquire(call, verb));
    if (event.type !== 'settled') return;
    this.waiting.get(event.call)?.abort(ended());
    this.open.get(event.call)?.(event.outcome);
    this.open.delete(event.call);
  }

  /** The update has ended: what it still waits for or has not settled is over. */
  end(): void {
    for (const controller of this.waiting.values()) controller.abort(ended());
    for (const settle of this.open.values()) settle({ kind: 'Unanswered' });
    this.open.clear();
  }

  private async acquire(call: number, verb: string): Promise<void> {
    const controller = new AbortController();
    this.waiting.set(call, controller);
    try {
      const settle = await this.account.acquireAt(verb, priorityOfCall(verb, this.priority), controller.signal);
      if (controller.signal.aborted) return settle({ kind: 'Unanswered' });
      this.open.set(call, settle);
      this.grant(call);
    } catch (thrown) {
      if (!controller.signal.aborted) this.send({ type: 'denied', id: this.id, call, error: toWire(toOperatorError(thrown)) });
    } finally {
      this.waiting.delete(call);
    }
  }

  /** What is granted in one turn goes out as one message. */
  private grant(call: number): void {
    if (this.granted.length === 0) {
      queueMicrotask(() => {
        const calls = this.granted;
        this.granted = [];
        this.send({ type: 'granted', id: this.id, calls });
      });
    }
    this.granted.push(call);
  }
}

function ended(): OperatorError {
  return new OperatorError('Canceled', 'the call is not wanted any more');
}
