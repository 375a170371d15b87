import type { CallGate, CallOutcome, Settle } from '../../../providers/call-gate';
import { fromWire, type WireError, type WorkerEvent } from '../protocol';

interface Asking {
  resolve: (settle: Settle) => void;
  reject: (error: Error) => void;
}

/**
 * The account's gate as a worker sees it: it stands in the operator, at the other end of the channel. What is asked in one turn of the event
 * loop goes out as one message.
 */
export class RemoteGate implements CallGate {
  private readonly asking = new Map<number, Asking>();
  private batch: { call: number; verb: string }[] = [];
  private last = 0;

  /** @param id of the update */
  constructor(
    private readonly id: string,
    private readonly emit: (event: WorkerEvent) => void,
  ) {}

  acquire(verb: string, signal?: AbortSignal): Promise<Settle> {
    const call = ++this.last;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.asking.delete(call);
        // A grant that is on its way is given back.
        this.settle(call, { kind: 'Unanswered' });
        reject(signal?.reason as Error);
      };
      const end = (): void => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.asking.set(call, {
        resolve: (settle) => {
          end();
          resolve(settle);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      this.ask({ call, verb });
      return undefined;
    });
  }

  granted(calls: readonly number[]): void {
    for (const call of calls) this.take(call)?.resolve((outcome) => this.settle(call, outcome));
  }

  denied(call: number, error: WireError): void {
    this.take(call)?.reject(fromWire(error));
  }

  private take(call: number): Asking | undefined {
    const asking = this.asking.get(call);
    this.asking.delete(call);
    return asking;
  }

  private ask(one: { call: number; verb: string }): void {
    if (this.batch.length === 0) queueMicrotask(() => this.flush());
    this.batch.push(one);
  }

  private flush(): void {
    const calls = this.batch;
    this.batch = [];
    this.emit({ type: 'acquire', id: this.id, calls });
  }

  private settle(call: number, outcome: CallOutcome): void {
    this.emit({ type: 'settled', id: this.id, call, outcome });
  }
}
