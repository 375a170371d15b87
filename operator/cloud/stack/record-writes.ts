import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, CLOUD_STACKS, FIELD_MANAGERS, type CloudStackSpec, type CloudStackStatus } from '../../../crds';
import type { Clock } from '../../base/clock';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { KubeApi, Store } from '../../kube/api';
import { exponentialDelay } from '../../kube/back-off';
import type { StoredStack } from './stack-record';

export interface RecordWritesOptions {
  api: KubeApi;
  store: Store<StoredStack>;
  clock: Pick<Clock, 'after'>;
  logger: Logger;
}

interface Unwritten {
  /** Of the first try, and of each after its wait. */
  failures: number;
  /** Ends the wait for the next try; absent = that one is made now. */
  cancel?: () => void;
}

/** When a write that failed is made again, in milliseconds; the next change makes it good as well. */
const REWRITE = { baseMs: 1_000, maxMs: 60_000 };

/** Writes CloudStacks, one write of each after another, and each with the newest that is to be said. */
export class RecordWrites {
  private readonly writing = new Map<string, Promise<void>>();
  /** Stacks whose newest status could not be written. */
  private readonly unwritten = new Map<string, Unwritten>();

  /** @param newest what is to be said of a stack; undefined = nothing any more */
  constructor(
    private readonly options: RecordWritesOptions,
    private readonly newest: (stack: string) => CloudStackStatus | undefined,
  ) {}

  /** When several are queued, the later ones find nothing new to say. */
  queue(stack: string, spec: CloudStackSpec): void {
    const previous = this.writing.get(stack) ?? Promise.resolve();
    const next = previous
      .then(() => this.send(stack, spec))
      .then(
        () => this.forget(stack),
        (thrown: unknown) => this.tryLater(stack, spec, thrown),
      );
    this.writing.set(stack, next);
    void next.then(() => this.writing.get(stack) === next && this.writing.delete(stack));
  }

  /** Waits until what was queued for a stack is written, or was tried. */
  async tried(stack: string): Promise<void> {
    await this.writing.get(stack);
  }

  /** What could not be written of a stack is not tried again. */
  forget(stack: string): void {
    this.unwritten.get(stack)?.cancel?.();
    this.unwritten.delete(stack);
  }

  /** For the end: waits until everything that was queued is written, or was tried. */
  async flush(): Promise<void> {
    await Promise.all(this.writing.values());
    for (const stack of [...this.unwritten.keys()]) this.forget(stack);
  }

  private async send(stack: string, spec: CloudStackSpec): Promise<void> {
    const status = this.newest(stack);
    if (status === undefined) return;
    const { api, store } = this.options;
    const head = { apiVersion: API_VERSION, kind: 'CloudStack', metadata: { name: stack } };
    const options = { fieldManager: FIELD_MANAGERS.cloud, force: true };
    if (!isDeepStrictEqual(store.get(stack)?.spec, spec)) await api.apply(CLOUD_STACKS, stack, { ...head, spec }, options);
    await api.apply(CLOUD_STACKS, stack, { ...head, status }, { ...options, subresource: 'status' });
  }

  private tryLater(stack: string, spec: CloudStackSpec, thrown: unknown): void {
    const { failures = 0, cancel } = this.unwritten.get(stack) ?? {};
    // However much happens meanwhile that can't be written either, the next try waits no longer for it.
    if (cancel !== undefined) return;
    const delay = exponentialDelay(failures, REWRITE);
    const wait = this.options.clock.after(delay, () => {
      this.unwritten.set(stack, { failures: failures + 1 });
      this.queue(stack, spec);
    });
    this.unwritten.set(stack, { failures, cancel: wait });
    this.options.logger.warn(
      { stack, error: toOperatorError(thrown).message, delay },
      'CloudStack could not be written; it is tried again',
    );
  }
}
