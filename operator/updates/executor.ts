import type { Clock } from '../base/clock';
import { OperatorError } from '../base/errors';
import type { JsonObject } from '../base/json';
import type { Logger } from '../base/log';
import { unlessAborted } from '../base/unless-aborted';
import { HeldWrites, type StateHold } from './held-writes';
import type { Accounts } from './limits/accounts';
import type { CallPriority } from './limits/call-priority';
import type { ShownOperations } from './plan';
import type { DoneEvent, StoreEvent, UpdateRequest, WorkerEvent } from './protocol';
import { isGrowth } from './state/size-limit';
import type { StateStore } from './state/state-store';
import type { StackUpdate, UpdateHooks, UpdateResult } from './update';
import type { WorkerPool } from './worker-pool';
import type { WorkerProcess } from './worker-process';

/** What an execution has cost. */
export type Measured = Pick<UpdateResult, 'changes' | 'cloudCalls'>;

/** … and what came of it. */
export type Executed = Measured & Pick<DoneEvent, 'preview' | 'same'>;

export interface Execution {
  request: UpdateRequest;
  update: StackUpdate;
  hooks: UpdateHooks;
  /** Only a newer program wants it, and nobody waits for it. */
  background: boolean;
  /** Why it may not begin, or go on; asked again and again. */
  refusal: () => OperatorError | undefined;
}

export interface UpdateExecutorOptions {
  store: StateStore;
  pool: WorkerPool;
  accounts: Accounts;
  clock: Clock;
  logger: Logger;
  /** Of updates that name none, and whose account names none. */
  deadlineMs: number;
  /** How long a write of state is tried while the store is away, before the update stops. */
  storeHoldMs: number;
  onEvent: (stack: string, event: WorkerEvent) => void;
}

/** Has workers carry out requests: gives them settings and leave, stores what they have done, and tells what they say. */
export class UpdateExecutor {
  readonly #running = new Set<WorkerProcess>();
  readonly #ending = new AbortController();

  constructor(private readonly options: UpdateExecutorOptions) {}

  /** @throws OperatorError when it may not begin, when its program or its cloud fails, or when it is cut short */
  async execute(execution: Execution): Promise<Executed> {
    const { update, hooks, background } = execution;
    const { pool, store, storeHoldMs: holdMs, clock } = this.options;
    const worker = await pool.acquire(update.providerName, { background });
    this.#running.add(worker);
    const writes: Promise<unknown>[] = [];
    const tell = (hold: StateHold | undefined): void => hooks.onHeld?.(hold);
    const held = new HeldWrites({ store: store.name, holdMs, clock, tell });
    const stored = (write: StoreEvent): Promise<string | undefined> => {
      const writing = held.watch(() => this.#write(execution.request, write));
      writes.push(writing);
      return writing;
    };
    try {
      return await this.#run(worker, execution, stored);
    } finally {
      held.end();
      this.#running.delete(worker);
      pool.release(worker);
      // A worker may have died meanwhile: the next update must not read what is about to change.
      await Promise.allSettled(writes);
    }
  }

  /** Tells all that runs to finish its steps in flight and to end, for good. */
  cancel(why: OperatorError): void {
    this.#ending.abort(why);
    for (const worker of this.#running) worker.cancel(why);
  }

  async #run(
    worker: WorkerProcess,
    { request, update, hooks, background, refusal }: Execution,
    store: (write: StoreEvent) => Promise<string | undefined>,
  ): Promise<Executed> {
    const refused = refusal();
    if (refused !== undefined) throw refused;
    hooks.onStart?.();
    const settings = await this.#settings(request, hooks);
    const account = this.options.accounts.of(update.providerName);
    let cloudCalls = 0;
    const { changes, preview, same } = await worker.run(
      { ...request, settings },
      {
        deadlineMs: Math.min(update.deadlineMs ?? Infinity, account.limits.updateDeadlineMs ?? this.options.deadlineMs),
        isValid: hooks.isValid,
        refusal,
        store,
        syncTargets: async (group) => hooks.syncTargets?.(group),
        account,
        priority: priorityOf(update, background),
        onEvent: (event) => {
          if (event.type === 'calls') cloudCalls = event.total;
          this.#tell(update.stack, event, hooks);
        },
      },
    );
    return { changes, cloudCalls, ...(preview === undefined ? {} : { preview }), ...(same === undefined ? {} : { same }) };
  }

  /** Credentials may be long in coming: who ends does not wait for them. What is only rendered asks no cloud. */
  async #settings({ render, settings }: UpdateRequest, hooks: UpdateHooks): Promise<JsonObject> {
    if (render === true || hooks.settings === undefined) return settings;
    return unlessAborted(hooks.settings(), this.#ending.signal);
  }

  #tell(stack: string, event: WorkerEvent, hooks: UpdateHooks): void {
    if (event.type === 'remark') hooks.onRemark?.(event.text);
    if (event.type === 'calls') hooks.onCalls?.(event.total);
    if (event.type === 'operations') hooks.onOperations?.(shownOf(event));
    if (event.type === 'done') this.options.logger.debug({ stack, ...event.timings }, 'where the time of the update went');
    this.options.onEvent(stack, event);
  }

  /** The worker's writes come through here: they are limited to its own stack, and it needs no access to the store. */
  async #write({ stack, preview, render, stored }: UpdateRequest, { record, expected }: StoreEvent): Promise<string | undefined> {
    const { store } = this.options;
    if (preview === true || render === true) throw new OperatorError('Invalid', `the preview of stack ${stack} asked for a write`);
    if (record !== undefined && record.stack === stack)
      return store.write(record, expected, isGrowth(record.checkpoint, stored?.record.checkpoint ?? null));
    if (record === undefined && expected !== undefined) return void (await store.remove(stack, expected));
    throw new OperatorError('Invalid', `the worker of stack ${stack} asked for a write that is not its own`);
  }
}

/** Deletes end costs; nobody waits for what only a newer program wants. */
function priorityOf({ inputs }: StackUpdate, background: boolean): CallPriority {
  if (inputs === undefined) return 'First';
  return background ? 'Background' : 'Change';
}

function shownOf({ operations, omitted }: ShownOperations): ShownOperations {
  return { operations, ...(omitted === undefined ? {} : { omitted }) };
}
