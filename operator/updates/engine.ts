import { randomUUID } from 'node:crypto';
import type { Drift } from '../../crds';
import type { DiscoveredResource } from '../../providers/provider';
import type { Clock } from '../base/clock';
import { OperatorError } from '../base/errors';
import { hashJson } from '../base/json';
import type { Logger } from '../base/log';
import { adoptFindings, dropPending } from './adoption';
import { isEmpty, resourcesOf } from './checkpoint';
import { driftOf, match } from './drift';
import type { DoneEvent, UpdateRequest, WorkerEvent } from './protocol';
import { DirectoryStateStore } from './state/directory-state-store';
import type { StackRecord } from './state/stack-record';
import type { StoredStack } from './state/state-store';
import { StackQueue } from './stack-queue';
import type { ChangeCounts, StackState, StackUpdate, UpdateHooks, UpdateResult, Updates } from './update';
import { WorkerPool } from './worker-pool';
import { WorkerProcess } from './worker-process';

export interface UpdateEngineOptions {
  /** Directory of the state, made on first use. */
  stateDirectory: string;
  tools: {
    /** Path of the Pulumi CLI. */
    pulumi: string;
    /** Its version; absent = the pinned one. */
    pulumiVersion?: string;
  };
  logger: Logger;
  clock: Clock;
  /** Worker processes at most; default 2. */
  workers?: number;
  /** Workers that stay warm; default 1. */
  minWorkers?: number;
  /** Worker modules of providers that are not built in: kind → path. */
  workerModules?: Record<string, string>;
  /** A worker is replaced after so many updates; default 200. */
  maxRunsPerWorker?: number;
  /** A worker is replaced when its memory is above this, in MB; default 512. */
  maxWorkerMB?: number;
  /** Deadline of updates that name none; default 10 minutes. */
  deadlineMs?: number;
  /** How long a stopped update may take to end by itself; default 15 s. */
  graceMs?: number;
  /** Workers above the minimum end after this long without work; default one minute. */
  idleMs?: number;
  /** Told of every event of every update, for metrics. */
  onEvent?: (stack: string, event: WorkerEvent) => void;
}

const PINNED_PULUMI = '3.274.1';
const NO_CHANGES: ChangeCounts = { create: 0, update: 0, replace: 0, delete: 0, same: 0 };

interface Job {
  update: StackUpdate;
  hooks: UpdateHooks;
}

/** Runs stack updates: the decision whether anything runs, recovery of what was left open, the workers. */
export class UpdateEngine implements Updates {
  /** This run of the operator: stacks last written by another one get a higher epoch. */
  readonly #holder = randomUUID();
  readonly #store: DirectoryStateStore;
  readonly #pool: WorkerPool;
  readonly #queue = new StackQueue<Job, UpdateResult>(
    (job) => this.#update(job),
    (older, newer) => this.#merge(older, newer),
  );
  readonly #running = new Set<WorkerProcess>();

  constructor(private readonly options: UpdateEngineOptions) {
    this.#store = new DirectoryStateStore(options.stateDirectory);
    const maxMB = options.maxWorkerMB ?? 512;
    this.#pool = new WorkerPool({
      max: options.workers ?? 2,
      min: options.minWorkers ?? 1,
      maxRuns: options.maxRunsPerWorker ?? 200,
      maxRssBytes: maxMB * 1024 * 1024,
      idleMs: options.idleMs ?? 60_000,
      clock: options.clock,
      spawn: () =>
        new WorkerProcess({
          pulumi: options.tools.pulumi,
          pulumiVersion: options.tools.pulumiVersion ?? PINNED_PULUMI,
          logger: options.logger,
          clock: options.clock,
          heapMB: maxMB,
          graceMs: options.graceMs ?? 15_000,
        }),
    });
  }

  /** Starts the workers that stay warm, so that the first update doesn't wait for them. */
  warm(): void {
    this.#pool.warm();
  }

  /** Process ids of the living workers; each leads a process group. */
  get workerPids(): number[] {
    return this.#pool.pids;
  }

  async states(): Promise<StackState[]> {
    const all = await this.#store.list();
    const states = await Promise.all(all.map(({ stack }) => this.state(stack)));
    return states.filter((state) => state !== undefined);
  }

  async state(stack: string): Promise<StackState | undefined> {
    const stored = await this.#store.read(stack);
    return stored === undefined ? undefined : stateOf(stored.record);
  }

  run(update: StackUpdate, hooks: UpdateHooks): Promise<UpdateResult> {
    return this.#queue.push(update.stack, { update, hooks });
  }

  async compare(stack: string, found: DiscoveredResource[]): Promise<Drift[]> {
    const stored = await this.#store.read(stack);
    return stored === undefined ? [] : driftIn(stored.record, found);
  }

  async adoptFindings(stack: string, found: DiscoveredResource[]): Promise<Drift[]> {
    const adoption = this.#queue.exclusive(stack, async () => {
      const stored = await this.#store.read(stack);
      if (stored === undefined) return [];
      const drift = driftIn(stored.record, found);
      if (drift.length > 0) await this.#adopt(stored.record, stored.version, found);
      return drift;
    });
    return (await adoption) ?? [];
  }

  async close(): Promise<void> {
    this.#pool.drain();
    for (const worker of this.#running) worker.cancel(new OperatorError('Canceled', 'updates are being shut down'));
    await this.#queue.close();
    await this.#pool.close();
  }

  #merge(older: Job, newer: Job): Job {
    const onStart = (): void => {
      older.hooks.onStart?.();
      newer.hooks.onStart?.();
    };
    return {
      update: { ...newer.update, force: newer.update.force === true || older.update.force === true },
      hooks: { ...newer.hooks, onStart },
    };
  }

  async #update({ update, hooks }: Job): Promise<UpdateResult> {
    const startedAt = this.options.clock.monotonic();
    if (!hooks.isValid()) throw new OperatorError('Canceled', `stack ${update.stack}: the operator doesn't hold its lease`);
    const stored = await this.#store.read(update.stack);
    assertSameStack(update, stored?.record);
    const hash = hashOf(update);
    if (stored !== undefined && isUnchanged(update, stored.record, hash)) return resultOf(stored.record, 'Unchanged');
    const base = await this.#recover(update, stored, hooks);
    if (update.inputs === undefined && (base === undefined || isEmpty(base.record.checkpoint))) return this.#removeEmpty(update, base);
    const done = await this.#execute(update, base, hash, hooks);
    const record = update.inputs === undefined ? base?.record : (await this.#store.read(update.stack))?.record;
    if (record === undefined) throw new OperatorError('Conflict', `stack ${update.stack}: its state vanished after the update`);
    const durationMs = Math.round(this.options.clock.monotonic() - startedAt);
    const result = resultOf(record, update.inputs === undefined ? 'Destroyed' : 'Updated');
    const { changes, cloudCalls } = done;
    return { ...result, ...(update.inputs === undefined ? { outputs: {}, resources: [] } : {}), changes, cloudCalls, durationMs };
  }

  /** Finds out what an interrupted update left, before anything else. A destroy without any state asks the cloud too. */
  async #recover(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<StoredStack | undefined> {
    const lost = stored === undefined && update.inputs === undefined;
    if (stored?.record.open !== true && !lost) return stored;
    const found = await hooks.discover?.();
    if (lost && (found === undefined || found.length === 0)) return undefined;
    const record = stored?.record ?? emptyRecord(update, this.#holder);
    this.options.logger.info(
      { stack: update.stack, found: found?.length },
      'the stack was left open; what is in the cloud was written into its state',
    );
    return this.#adopt(record, stored?.version, found);
  }

  async #adopt(record: StackRecord, version: string | undefined, found: DiscoveredResource[] | undefined): Promise<StoredStack> {
    const checkpoint =
      found === undefined
        ? dropPending(record.checkpoint)
        : adoptFindings(record.checkpoint, found, { project: record.project, name: record.stack });
    const adopted: StackRecord = {
      ...record,
      checkpoint,
      // The cloud is known to differ from what the hash stands for.
      inputsHash: '',
      holder: this.#holder,
      epoch: record.holder === this.#holder ? record.epoch : record.epoch + 1,
      updatedAt: new Date(this.options.clock.now()).toISOString(),
    };
    return { record: adopted, version: await this.#store.write(adopted, version) };
  }

  async #removeEmpty(update: StackUpdate, stored: StoredStack | undefined): Promise<UpdateResult> {
    if (stored !== undefined) await this.#store.remove(update.stack, stored.version);
    return { ...resultOf(stored?.record ?? emptyRecord(update, this.#holder), 'Destroyed'), outputs: {}, resources: [] };
  }

  async #execute(
    update: StackUpdate,
    stored: StoredStack | undefined,
    hash: string,
    hooks: UpdateHooks,
  ): Promise<DoneEvent & { cloudCalls: number }> {
    const worker = await this.#pool.acquire(update.providerName);
    this.#running.add(worker);
    let cloudCalls = 0;
    try {
      hooks.onStart?.();
      const done = await worker.run(this.#request(update, stored, hash), {
        deadlineMs: update.deadlineMs ?? this.options.deadlineMs ?? 600_000,
        isValid: hooks.isValid,
        onEvent: (event) => {
          if (event.type === 'calls') cloudCalls = event.total;
          this.options.onEvent?.(update.stack, event);
        },
      });
      return { ...done, cloudCalls };
    } finally {
      this.#running.delete(worker);
      this.#pool.release(worker);
    }
  }

  #request(update: StackUpdate, stored: StoredStack | undefined, inputsHash: string): UpdateRequest {
    const { stack, project, providerKind, programVersion, clusterID, settings } = update;
    const modulePath = this.options.workerModules?.[providerKind];
    return {
      id: randomUUID(),
      stack,
      project,
      providerKind,
      programVersion,
      clusterID,
      inputsHash,
      settings,
      state: this.#store.location,
      holder: this.#holder,
      validUntil: 0,
      ...(modulePath === undefined ? {} : { modulePath }),
      ...(update.inputs === undefined ? {} : { inputs: update.inputs }),
      ...(stored === undefined ? {} : { stateVersion: stored.version }),
    };
  }
}

/** Hash of everything that decides what the program makes. */
function hashOf({ inputs, programVersion, providerKind }: StackUpdate): string {
  return inputs === undefined ? '' : hashJson({ inputs, programVersion, providerKind });
}

function isUnchanged(update: StackUpdate, record: StackRecord, hash: string): boolean {
  return update.inputs !== undefined && update.force !== true && !record.open && record.inputsHash === hash;
}

function assertSameStack(update: StackUpdate, record: StackRecord | undefined): void {
  if (record === undefined || (record.project === update.project && record.providerKind === update.providerKind)) return;
  const stored = `${record.project} (${record.providerKind})`;
  throw new OperatorError('Conflict', `stack ${update.stack} belongs to ${stored}, not to ${update.project} (${update.providerKind})`, {
    remedy: 'remove the old stack first, or give the new one another name',
  });
}

function driftIn(record: StackRecord, found: DiscoveredResource[]): Drift[] {
  return driftOf(match(record.checkpoint?.deployment?.resources ?? [], found, { project: record.project, name: record.stack }));
}

function emptyRecord({ stack, project, providerKind, programVersion }: StackUpdate, holder: string): StackRecord {
  const unset = { inputs: null, inputsHash: '', outputs: {}, checkpoint: null, updatedAt: '' };
  return { stack, project, providerKind, programVersion, incarnation: randomUUID(), epoch: 1, holder, open: true, ...unset };
}

function stateOf(record: StackRecord): StackState {
  const { stack, project, inputsHash, programVersion, incarnation, epoch, open, outputs } = record;
  return { stack, project, inputsHash, programVersion, incarnation, epoch, open, outputs, resources: resourcesOf(record.checkpoint) };
}

function resultOf(record: StackRecord, result: UpdateResult['result']): UpdateResult {
  const { outputs, inputsHash, incarnation, epoch } = record;
  const measured = { changes: { ...NO_CHANGES }, cloudCalls: 0, durationMs: 0 };
  return { result, outputs, resources: resourcesOf(record.checkpoint), inputsHash, incarnation, epoch, ...measured };
}
