import { randomUUID } from 'node:crypto';
import type { Drift } from '../../crds';
import type { DiscoveredResource } from '../../providers/provider';
import type { Clock } from '../base/clock';
import { canonicalJson, type JsonObject } from '../base/json';
import type { Logger } from '../base/log';
import { adoptFindings, dropPending } from './adoption';
import { driftOf, match } from './drift';
import { departedFrom, heldBy, madeBy, newRecord, stampedAt, type StackMetadata, type StackRecord } from './state/stack-record';
import type { StateStore, StoredStack } from './state/state-store';
import type { StackUpdate } from './update';
import { transformOf, updateHash } from './update-hash';

/** What is stored of the stacks, as the operator works with it between updates. */
export class StackStates {
  /** This run of the operator: stacks last written by another one get a higher epoch. */
  readonly holder = randomUUID();
  /** Stacks whose approved update was not what was approved, which is perhaps not stored. */
  readonly #departed = new Set<string>();

  constructor(
    readonly store: StateStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** All stacks that can be read, without opening them; the others are logged, and fail by themselves when they are to be updated. */
  async all(): Promise<StackMetadata[]> {
    const { stacks, damaged } = await this.store.list();
    for (const error of damaged) this.logger.error({ remedy: error.remedy }, error.message);
    return stacks;
  }

  /** What is stored of a stack; a departure that could not be stored is in it, and so in whatever is written next. */
  async read(stack: string): Promise<StoredStack | undefined> {
    const stored = await this.store.read(stack);
    if (stored === undefined || !this.#departed.has(stack)) return stored;
    if (stored.record.underway !== undefined) return { ...stored, record: departedFrom(stored.record) };
    this.#departed.delete(stack);
    return stored;
  }

  /** An approved update of the stack was stopped because it became something else: it does not go on by itself, whether its worker could store that or not. */
  departed(stack: string): void {
    this.#departed.add(stack);
  }

  /** Differences between a stack's state and what was found; none for an unknown stack. */
  async compare(stack: string, found: DiscoveredResource[]): Promise<Drift[]> {
    const stored = await this.read(stack);
    return stored === undefined ? [] : driftIn(stored.record, found);
  }

  /** Writes the differences into the state. */
  async adopt(stack: string, found: DiscoveredResource[]): Promise<Drift[]> {
    const stored = await this.read(stack);
    if (stored === undefined) return [];
    const drift = driftIn(stored.record, found);
    if (drift.length > 0) await this.#write(stored.record, stored.version, found);
    return drift;
  }

  /** Stores the members' inputs of an update that had nothing to do: they may differ where what is rendered from them does not. */
  async accept({ record, version }: StoredStack, accepted: JsonObject | undefined): Promise<StackRecord> {
    if (accepted === undefined || canonicalJson(accepted) === canonicalJson(record.accepted)) return record;
    const next = stampedAt({ ...heldBy(record, this.holder), accepted }, this.clock.now());
    await this.store.write(next, version);
    return next;
  }

  /** Stores that a newer program, or another extension, makes of a stack what it is already. */
  async rendersSame({ record, version }: StoredStack, update: StackUpdate): Promise<StackRecord> {
    const { inputs = null, programVersion, extension } = update;
    const transform = transformOf(extension);
    const by = { ...update, inputs, inputsHash: updateHash(update), ...(transform === undefined ? {} : { transform }) };
    const next = stampedAt(madeBy(heldBy(record, this.holder), by), this.clock.now());
    await this.store.write(next, version);
    this.logger.info(
      { stack: update.stack, programVersion, ...(transform === undefined ? {} : { transform }) },
      'the newer program or extension makes of the stack what it is already; nothing is updated',
    );
    return next;
  }

  /**
   * Finds out what an interrupted update left, before anything else is done (design: Crashes and drift). A destroy without any state asks the cloud too, as does an update that may have lost its state.
   * @param discover absent: operations in flight are forgotten, and creates must find what they left by themselves
   */
  async recover(
    update: StackUpdate,
    stored: StoredStack | undefined,
    discover: (() => Promise<DiscoveredResource[]>) | undefined,
  ): Promise<StoredStack | undefined> {
    if (stored === undefined) {
      const mayExist = update.inputs === undefined || update.mayExist === true;
      return mayExist ? this.#reconstruct(update, await discover?.()) : undefined;
    }
    if (!isAsked(stored, update)) return stored;
    const found = await discover?.();
    const why = stored.record.open ? 'an update of the stack did not end well' : 'the stack takes something over';
    this.logger.info({ stack: update.stack, found: found?.length }, `${why}; its state is brought to what the cloud has`);
    const record = update.adopts === true ? { ...stored.record, refound: true as const } : stored.record;
    return this.#write(record, stored.version, found);
  }

  /** What `recover` would give, without writing it: for previews. */
  async foresee(
    update: StackUpdate,
    stored: StoredStack | undefined,
    discover: (() => Promise<DiscoveredResource[]>) | undefined,
  ): Promise<StoredStack | undefined> {
    if (stored === undefined ? update.mayExist !== true : !isAsked(stored, update)) return stored;
    const found = await discover?.();
    if (stored === undefined && (found ?? []).every(({ unmarked }) => unmarked)) return undefined;
    const { record, version } = stored ?? { record: newRecord({ ...update, holder: this.holder }), version: '' };
    return { record: adopting(record, found), version, bytes: 0 };
  }

  #reconstruct(update: StackUpdate, found: DiscoveredResource[] = []): Promise<StoredStack> | undefined {
    if (found.every(({ unmarked }) => unmarked)) return undefined;
    this.logger.warn(
      { stack: update.stack, found: found.length },
      'the stack has no state, but is in the cloud; its state is made anew from that',
    );
    return this.#write({ ...newRecord({ ...update, holder: this.holder }), open: true, refound: true }, undefined, found);
  }

  async #write(record: StackRecord, version: string | undefined, found: DiscoveredResource[] | undefined): Promise<StoredStack> {
    const adopted = stampedAt(heldBy(adopting(record, found), this.holder), this.clock.now());
    const written = { record: adopted, version: await this.store.write(adopted, version), bytes: 0 };
    this.#departed.delete(record.stack);
    return written;
  }
}

/** The cloud is to be asked what it has before an update. */
function isAsked({ record }: StoredStack, { adopts }: StackUpdate): boolean {
  return record.open || adopts === true;
}

/** The record with what was found in it. The cloud is known to differ from what its hash stands for: the next update runs. */
function adopting(record: StackRecord, found: DiscoveredResource[] | undefined): StackRecord {
  const stack = { project: record.project, name: record.stack };
  const checkpoint = found === undefined ? dropPending(record.checkpoint) : adoptFindings(record.checkpoint, found, stack);
  return { ...record, checkpoint, inputsHash: '' };
}

function driftIn(record: StackRecord, found: DiscoveredResource[]): Drift[] {
  return driftOf(match(record.checkpoint?.deployment?.resources ?? [], found, { project: record.project, name: record.stack }));
}
