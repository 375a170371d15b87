import { OperatorError } from '../../base/errors';
import { fromWire, type WorkerCommand, type WorkerEvent } from '../protocol';
import type { StackRecord } from '../state/stack-record';
import type { StackWriter } from '../state/state-store';

type Answer = Extract<WorkerCommand, { type: 'stored' }>;

/** The state store as a worker sees it: the operator at the other end of the channel writes, so that a worker needs no access to the cluster. */
export class ChannelStore implements StackWriter {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  constructor(
    private readonly requestID: string,
    private readonly emit: (event: WorkerEvent) => void,
  ) {}

  async write(record: StackRecord, expected: string | undefined): Promise<string> {
    const version = await this.#ask({ record, ...(expected === undefined ? {} : { expected }) });
    if (version === undefined) throw new OperatorError('Unknown', `the operator did not say at which version stack ${record.stack} is now`);
    return version;
  }

  async remove(_stack: string, expected: string): Promise<void> {
    await this.#ask({ expected });
  }

  /** The operator's answer to one of the writes. */
  take(answer: Answer): void {
    this.#waiting.get(answer.call)?.(answer);
    this.#waiting.delete(answer.call);
  }

  #ask(write: { record?: StackRecord; expected?: string }): Promise<string | undefined> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, ({ version, error }) => (error === undefined ? resolve(version) : reject(fromWire(error))));
      this.emit({ type: 'store', id: this.requestID, call, ...write });
    });
  }
}
