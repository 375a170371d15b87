import { type Clock, sleep } from '../../../base/clock';
import { OperatorError, toOperatorError } from '../../../base/errors';
import type { JsonObject } from '../../../base/json';
import { type Deployment, isEmpty, isSameCheckpoint, isSameInCloud, outputsOf, toServed, toStored } from '../../checkpoint';
import { departedFrom, heldBy, madeBy, newRecord, stampedAt, type StackRecord } from '../../state/stack-record';
import type { StackWriter, StoredStack } from '../../state/state-store';
import { Journal } from './journal';
import type { JournalEntry } from './journal-entry';
import { expectedResources } from '../../stack-size';
import type { ExtensionUse } from '../../update';
import { transformOf } from '../../update-hash';
import { retryOfWrite } from './hold';

/** What one update stores. */
export interface SessionRequest {
  stack: string;
  project: string;
  providerKind: string;
  programVersion: string;
  plugin?: 'Official';
  clusterID: string;
  /** undefined: the stack is being destroyed, and its record is removed at the end. */
  inputs: JsonObject | undefined;
  /** StackUpdate.accepted, stored with the inputs. */
  accepted?: JsonObject;
  inputsHash: string;
  /** StackRecord.begun while it is open. */
  begun: string;
  /** A person has approved it: StackRecord.underway while it is open. */
  underway?: string;
  extension?: ExtensionUse;
  holder: string;
  /** Stacks with more resources than this are stored by the engine's journal. */
  journalAbove: number;
}

export interface SessionContext {
  store: StackWriter;
  clock: Clock;
  /** For how long a write is tried while the store is away, in milliseconds. */
  holdMs: number;
  /** Throws OperatorError Canceled when this update may not go on. */
  assertValid(): void;
}

/**
 * One update's view of its stack's state: serves the checkpoint to the engine and stores what comes back.
 * Every write is conditional on the version of the one before, so that a second writer ends this session.
 */
export class UpdateSession {
  /** Why the engine was refused, when it was. */
  refusal: OperatorError | undefined;
  /** How many times the store was written. */
  writes = 0;
  #dryRun = false;
  /** The newest checkpoint, where nothing in the cloud differs from the stored one: it is stored with the next one, or at the end. */
  #unsaved: Deployment | undefined;
  #journal: Journal | undefined;
  /** Requests are taken one after another, also where the engine sends one again whose answer is late. */
  #journaling: Promise<unknown> = Promise.resolve();

  constructor(
    readonly request: SessionRequest,
    private readonly context: SessionContext,
    private current: StoredStack | undefined,
  ) {}

  get record(): StackRecord | undefined {
    return this.current?.record;
  }

  /** The checkpoint for the engine, with `url` as the address of its secrets; undefined for a stack without one. */
  served(url: string): Deployment | undefined {
    const checkpoint = this.current?.record.checkpoint;
    return checkpoint === undefined || checkpoint === null ? undefined : toServed(checkpoint, url);
  }

  /** @returns true when the engine is to send its journal, false for a whole checkpoint after each step */
  begin(dryRun: boolean): boolean {
    this.#dryRun = dryRun;
    const checkpoint = this.current?.record.checkpoint ?? null;
    const large = !dryRun && expectedResources(this.request.inputs, checkpoint) > this.request.journalAbove;
    this.#journal = large ? new Journal(checkpoint) : undefined;
    return large;
  }

  /**
   * Stores the checkpoint that a journal's next entries lead to: one write for all of them, before the engine goes on with any of these steps.
   * @throws OperatorError the reason for which the engine must stop
   */
  journal(entries: readonly JournalEntry[]): Promise<void> {
    const taken = this.#journaling.then(async () => {
      this.#assertNotRefused();
      if (this.#journal === undefined) throw new OperatorError('Unknown', 'the engine sent a journal for which it was not asked');
      if (!this.#journal.add(entries)) return;
      await this.checkpoint(this.#journal.deployment(new Date(this.context.clock.now()).toISOString()));
    });
    this.#journaling = taken.catch(() => undefined); // told to whoever sent it
    return taken.catch((thrown: unknown) => {
      throw this.#refuse(toOperatorError(thrown));
    });
  }

  /**
   * Stores a checkpoint; the first of an update that changes anything marks the stack as open, before the cloud sees a write.
   * @throws OperatorError the reason for which the engine must stop
   */
  async checkpoint(deployment: Deployment): Promise<void> {
    if (this.#dryRun) return;
    this.#assertNotRefused();
    const checkpoint = toStored(deployment);
    const stored = this.current?.record.checkpoint ?? null;
    this.#unsaved = isSameCheckpoint(checkpoint, stored) ? undefined : checkpoint;
    if (this.#unsaved !== undefined && !isSameInCloud(checkpoint, stored)) await this.#open(checkpoint);
  }

  async #open(checkpoint: Deployment): Promise<void> {
    const { begun, underway } = this.request;
    await this.#save({ ...this.#base(), checkpoint, open: true, begun, ...(underway === undefined ? {} : { underway }) });
  }

  /**
   * Ends the update. A success stores the inputs and their hash and closes the stack in one write; a failed one leaves it open.
   * @throws OperatorError the reason for which the engine must report a failure
   */
  async complete(succeeded: boolean): Promise<void> {
    if (this.#dryRun) return;
    const unsaved = this.#unsaved;
    if (!succeeded) return unsaved === undefined || this.refusal !== undefined ? undefined : this.#open(unsaved);
    this.#assertNotRefused();
    if (this.request.inputs === undefined) return this.#remove();
    const done = { ...this.#done(this.request.inputs, this.#isApproved(), unsaved), open: false };
    if (unsaved === undefined && this.current !== undefined && isSettled(this.current.record, done)) return;
    await this.#save(done);
  }

  /** All is as it was asked for, but not all that is to go could be deleted: the stack stays open, so that the next update tries that again. */
  async doneButDeletions(): Promise<void> {
    const { inputs, begun, underway: approved } = this.request;
    const { underway } = this.#base();
    if (inputs === undefined) return;
    // What only tries the deletions again was counted.
    const done = this.#done(inputs, approved !== undefined);
    await this.#save({ ...done, open: true, begun, ...(underway === undefined ? {} : { underway }) });
  }

  /** @param approved it counts as carried out */
  #done(inputs: JsonObject, approved: boolean, unsaved?: Deployment): StackRecord {
    const base = { ...this.#base(), ...(unsaved === undefined ? {} : { checkpoint: unsaved }) };
    const transform = transformOf(this.request.extension);
    const by = { ...this.request, inputs, ...(transform === undefined ? {} : { transform }) };
    const approvals = (base.approvals ?? 0) + (approved ? 1 : 0);
    return { ...madeBy(base, by), ...(approvals > 0 && { approvals }), outputs: outputsOf(base.checkpoint) };
  }

  /** A person has approved it, or it goes on with what was approved. */
  #isApproved(): boolean {
    const { underway } = this.#base();
    return this.request.underway !== undefined || (underway !== undefined && underway === this.request.begun);
  }

  /** The update was not what a person has approved: it does not go on by itself, and what is planned next is another plan, even of the same. */
  async departed(): Promise<void> {
    await this.#save(departedFrom(this.#base()));
  }

  #base(): StackRecord {
    const record = this.current?.record;
    return record === undefined ? newRecord(this.request) : heldBy(record, this.request.holder);
  }

  async #save(record: StackRecord): Promise<void> {
    const stamped = stampedAt(record, this.context.clock.now());
    const version = await this.#conditional(() => this.context.store.write(stamped, this.current?.version));
    this.current = { record: stamped, version, bytes: 0 };
    this.#unsaved = undefined;
  }

  async #remove(): Promise<void> {
    if (this.current === undefined) return;
    if (!isEmpty(this.#unsaved ?? this.current.record.checkpoint)) {
      throw this.#refuse(new OperatorError('Conflict', `stack ${this.request.stack} still has resources after everything was deleted`));
    }
    const { version } = this.current;
    await this.#conditional(() => this.context.store.remove(this.request.stack, version));
    this.current = undefined;
  }

  /** Holds the engine while the store is away (it waits without a limit of its own), for a while; refuses it on anything else. */
  async #conditional<T>(write: () => Promise<T>): Promise<T> {
    const { clock, holdMs } = this.context;
    const startedAt = clock.monotonic();
    for (let failures = 1; ; failures++) {
      try {
        const result = await write();
        this.writes++;
        return result;
      } catch (thrown) {
        const error = toOperatorError(thrown);
        const elapsedMs = clock.monotonic() - startedAt;
        const delayMs = retryOfWrite(error, { failures, elapsedMs, holdMs });
        if (delayMs === undefined) throw this.#refuse(heldFor(error, elapsedMs));
        this.#assertValid();
        await sleep(clock, delayMs);
      }
    }
  }

  /** An engine that missed the refusal sends the same again, and would take "nothing new" for stored. */
  #assertNotRefused(): void {
    if (this.refusal !== undefined) throw this.refusal;
  }

  #assertValid(): void {
    try {
      this.context.assertValid();
    } catch (invalid) {
      throw this.#refuse(toOperatorError(invalid));
    }
  }

  #refuse(error: OperatorError): OperatorError {
    this.refusal ??= error;
    return error;
  }
}

function heldFor(error: OperatorError, elapsedMs: number): OperatorError {
  const { code, message, reason, remedy, retryAfterMs } = error;
  if (code !== 'Transient' && code !== 'Throttled') return error;
  const held = elapsedMs < 1000 ? '' : `no write succeeded for ${Math.round(elapsedMs / 1000)} s; `;
  return new OperatorError(code, `${held}${message}`, {
    cause: error,
    ...(reason === undefined ? {} : { reason }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function isSettled(stored: StackRecord, done: StackRecord): boolean {
  const told = ({ outputs, accepted }: StackRecord): string => JSON.stringify([outputs, accepted]);
  return !stored.open && stored.inputsHash === done.inputsHash && told(stored) === told(done);
}
