import type { TargetGroup } from '../../../providers/provider';
import { fromWire, type WorkerCommand, type WorkerEvent } from '../protocol';

type Answer = Extract<WorkerCommand, { type: 'targetsSynced' }>;

/** The members path as a worker sees it: the operator at the other end of the channel keeps all targets. */
export class ChannelMembers {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  constructor(
    private readonly requestID: string,
    private readonly emit: (event: WorkerEvent) => void,
  ) {}

  /** Settles when the group's members are registered. @throws OperatorError as the operator met it */
  sync(group: TargetGroup): Promise<void> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, ({ error }) => (error === undefined ? resolve() : reject(fromWire(error))));
      this.emit({ type: 'syncTargets', id: this.requestID, call, group });
    });
  }

  /** The operator's answer. */
  take(answer: Answer): void {
    this.#waiting.get(answer.call)?.(answer);
    this.#waiting.delete(answer.call);
  }
}
