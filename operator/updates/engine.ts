import { randomUUID } from 'node:crypto';
import type { Drift } from '../../crds';
import type { DiscoveredResource } from '../../providers/provider';
import { sameChange, type Continue } from '../base/change';
import { OperatorError, toOperatorError } from '../base/errors';
import type { JsonObject } from '../base/json';
import { traced } from '../base/tracing';
import { isEmpty, resourcesOf } from './checkpoint';
import { Accounts } from './limits/accounts';
import { EndedUpdates } from './ended-updates';
import type { UpdateEngineOptions } from './engine-options';
import { UpdateExecutor, type Executed, type Measured } from './executor';
import { PLAN_OUTDATED } from './departure';
import { assertOwn, pluginOf } from './ownership';
import { planHash, type Plan } from './plan';
import { ledgerDirectory, ProcessLedger } from './process-ledger';
import type { UpdateRequest } from './protocol';
import { assertFits } from './state/size-limit';
import { isNeverMade, metadataOf, type StackRecord } from './state/stack-record';
import type { StateStore, StoredStack } from './state/state-store';
import { StackStates } from './stack-states';
import { StackQueue } from './stack-queue';
import { updateHash } from './update-hash';
import { isUpgrade } from './upgrade';
import type { ChangeCounts, StackState, StackSummary, StackUpdate, UpdateHooks, UpdateResult, Updates } from './update';
import { JOURNAL_ABOVE } from './stack-size';
import { closing, WorkerPool } from './worker-pool';
import { WorkerProcess } from './worker-process';

const STORE_HOLD_MS = 60_000;
const WORKER_MB = 512;
const PINNED_PULUMI = '3.274.1';
/** An update that takes longer no longer takes the place of others. */
const OVERTIME_MS = 15_000;
const NO_CHANGES: ChangeCounts = { create: 0, update: 0, replace: 0, delete: 0, same: 0 };

interface Job {
  update: StackUpdate;
  hooks: UpdateHooks;
  /** It may begin when another update has ended, and is no part of that one's change. */
  asAsked: Continue;
}

/** Runs stack updates: decides whether anything runs, recovers what was left open, hands the rest to workers. */
export class UpdateEngine implements Updates {
  readonly #store: StateStore;
  readonly #states: StackStates;
  readonly #pool: WorkerPool;
  readonly #queue = new StackQueue<Job, UpdateResult>((job) => job.asAsked(() => this.#traced(job)), merge);
  readonly #ended = new EndedUpdates();
  readonly #executor: UpdateExecutor;
  #closed = false;
  readonly #accounts: Accounts;
  readonly #ledger: ProcessLedger;
  readonly #storeHoldMs: number;

  constructor(private readonly options: UpdateEngineOptions) {
    this.#accounts = options.accounts ?? new Accounts(options.clock);
    const runDirectory = options.runDirectory ?? ledgerDirectory();
    this.#ledger = new ProcessLedger(runDirectory, options.logger);
    this.#store = options.store;
    this.#states = new StackStates(this.#store, options.clock, options.logger);
    this.#storeHoldMs = options.storeHoldMs ?? STORE_HOLD_MS;
    const { maxWorkerMB, memoryMB = 1024 } = options;
    const maxMB = maxWorkerMB ?? WORKER_MB;
    this.#pool = new WorkerPool({
      max: options.workers ?? 2,
      maxRuns: options.maxRunsPerWorker ?? 200,
      maxRssBytes: maxMB * 1024 * 1024,
      idleMs: options.idleMs ?? 60_000,
      overtimeMs: OVERTIME_MS,
      limitOf: (provider) => this.#accounts.of(provider).limits.concurrentUpdates,
      clock: options.clock,
      spawn: () =>
        new WorkerProcess({
          pulumi: options.tools.pulumi,
          pulumiVersion: options.tools.pulumiVersion ?? PINNED_PULUMI,
          logger: options.logger,
          clock: options.clock,
          heapMB: maxWorkerMB ?? Math.max(WORKER_MB, Math.floor(memoryMB / 2)),
          memoryMB,
          ledger: this.#ledger,
          graceMs: options.graceMs ?? 15_000,
          silenceMs: options.silenceMs ?? 30_000,
        }),
    });
    this.#executor = new UpdateExecutor({
      ...{ store: this.#store, pool: this.#pool, accounts: this.#accounts, clock: options.clock, logger: options.logger },
      ...{ deadlineMs: options.deadlineMs ?? 600_000, storeHoldMs: this.#storeHoldMs },
      onEvent: (stack, event) => options.onEvent?.(stack, event),
    });
  }

  /** Ends the workers, with all that they had started, of operators of this user that have died; those of one that lives are its own. */
  endOrphans(): void {
    this.#ledger.endOrphans();
  }

  /** Ends what a dead operator has left, and starts a worker, so that the first update doesn't wait for one. */
  warm(): void {
    this.endOrphans();
    try {
      this.#pool.warm();
    } catch (thrown) {
      // Whoever needs one is told.
      this.options.logger.warn({ error: toOperatorError(thrown).message }, 'no worker process can be started ahead of its first update');
    }
  }

  /** Process ids of the living workers; each leads a session. */
  get workerPids(): number[] {
    return this.#pool.pids;
  }

  states(): Promise<StackSummary[]> {
    return this.#states.all();
  }

  async state(stack: string): Promise<StackState | undefined> {
    const stored = await this.#states.read(stack);
    return stored === undefined ? undefined : stateOf(stored.record);
  }

  run(update: StackUpdate, hooks: UpdateHooks): Promise<UpdateResult> {
    return this.#queue.push(update.stack, { update, hooks, asAsked: sameChange() });
  }

  async preview(update: StackUpdate, hooks: UpdateHooks): Promise<Plan> {
    this.#assertMayBegin(update.stack, onlyLooking(hooks));
    const stored = await this.#states.read(update.stack);
    assertOwn(update, stored?.record);
    if (await this.#rendersSame(update, stored, onlyLooking(hooks))) return planOfNothing(update, stored);
    const base = await this.#states.foresee(update, stored, hooks.discover);
    return (await this.#plan(update, base, hooks)).plan;
  }

  moment(): number {
    return this.#ended.moment;
  }

  compare(stack: string, found: DiscoveredResource[], since?: number): Promise<Drift[] | undefined> {
    return this.#unlessStale(stack, since, () => this.#states.compare(stack, found));
  }

  adoptFindings(stack: string, found: DiscoveredResource[], since?: number): Promise<Drift[] | undefined> {
    return this.#unlessStale(stack, since, async () => {
      const drift = await this.#states.adopt(stack, found);
      if (drift.length > 0) this.#ended.note(stack);
      return drift;
    });
  }

  amend(stack: string, change: (accepted: JsonObject) => JsonObject): Promise<void> {
    return this.#atRest(stack, async (stored) => {
      const { accepted } = stored.record;
      if (accepted !== undefined) await this.#states.accept(stored, change(accepted));
    });
  }

  async forget(stack: string): Promise<void> {
    await this.#atRest(stack, ({ version }) => this.#store.remove(stack, version));
    this.#ended.forget(stack);
  }

  /** @throws OperatorError Conflict while an update of the stack runs */
  async #atRest(stack: string, work: (stored: StoredStack) => Promise<void>): Promise<void> {
    const working = this.#queue.exclusive(stack, async () => {
      const stored = await this.#store.read(stack);
      if (stored !== undefined) await work(stored);
    });
    if (working === undefined) throw new OperatorError('Conflict', `stack ${stack}: an update of it runs`);
    await working;
  }

  /** Lets steps in flight finish and be stored, then ends all workers. What waits is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pool.drain();
    this.#executor.cancel(closing());
    await this.#queue.close();
    await this.#pool.close();
  }

  /** Why no update of the stack may begin or go on. */
  #refusal(stack: string, hooks: UpdateHooks): OperatorError | undefined {
    if (this.#closed) return closing();
    if (!hooks.isValid()) return new OperatorError('Canceled', `stack ${stack}: the operator doesn't hold its lease`);
    return hooks.isFrozen?.() === true ? frozen(stack) : undefined;
  }

  #assertMayBegin(stack: string, hooks: UpdateHooks): void {
    const refusal = this.#refusal(stack, hooks);
    if (refusal !== undefined) throw refusal;
  }

  /** Looks at a stack of which no update has run since then, nor runs now. */
  async #unlessStale(stack: string, since: number | undefined, look: () => Promise<Drift[]>): Promise<Drift[] | undefined> {
    return since !== undefined && this.#ended.since(since, stack) ? undefined : this.#queue.exclusive(stack, look);
  }

  #traced(job: Job): Promise<UpdateResult> {
    const { stack, providerName, inputs } = job.update;
    const attributes = { 'cloud_operator.stack': stack, 'cloud_operator.provider': providerName };
    return traced(inputs === undefined ? 'destroy stack' : 'update stack', attributes, async (span) => {
      const result = await this.#update(job);
      span.set({ 'cloud_operator.result': result.result, 'cloud_operator.cloud_calls': result.cloudCalls });
      return result;
    });
  }

  async #update({ update, hooks }: Job): Promise<UpdateResult> {
    this.#assertMayBegin(update.stack, hooks);
    const stored = await this.#states.read(update.stack);
    assertOwn(update, stored?.record);
    const settled = await this.#settled(update, stored, hooks);
    if (settled !== undefined) return resultOf(settled, 'Unchanged');
    assertFits(update.stack, update.inputs, stored, this.#store.limitBytes);
    return this.#carriedOut(update, stored, hooks).finally(() => this.#ended.note(update.stack));
  }

  async #carriedOut(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<UpdateResult> {
    const startedAt = this.options.clock.monotonic();
    const base = await this.#states.recover(update, stored, hooks.discover);
    const measured = await (update.inputs === undefined
      ? this.#destroy(update, base, hooks)
      : this.#execute(
          await this.#request(update, base, await this.#approved(update, base, hooks)),
          update,
          hooks,
          isUpgrade(update, stored?.record),
        ).catch((thrown: unknown) => {
          if (toOperatorError(thrown).reason === PLAN_OUTDATED) this.#states.departed(update.stack);
          throw thrown;
        }));
    const durationMs = Math.round(this.options.clock.monotonic() - startedAt);
    if (update.inputs === undefined) return { ...destroyedResult(base?.record), ...measured, durationMs };
    const after = await this.#store.read(update.stack);
    if (after === undefined) throw new OperatorError('Conflict', `stack ${update.stack}: somebody removed its state during the update`);
    return { ...resultOf(after.record, 'Updated'), ...measured, durationMs };
  }

  /**
   * What is stored of a stack that is what it should be; undefined when an engine must run. A newer program, or another extension, is asked without one, which would take a
   * hundred times as long to find nothing to do.
   */
  async #settled(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<StackRecord | undefined> {
    if (stored === undefined) return undefined;
    if (isUnchanged(update, stored.record, updateHash(update))) return this.#states.accept(stored, update.accepted);
    return (await this.#rendersSame(update, stored, hooks)) ? this.#states.rendersSame(stored, update) : undefined;
  }

  /** True where only a newer program, or another extension, asks for an update, and makes of the stack what it is already. */
  async #rendersSame(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<boolean> {
    if (!isUpgrade(update, stored?.record)) return false;
    const request = await this.#request(update, stored, { render: true });
    const { same } = await this.#execute(request, update, { ...hooks, onStart: () => undefined }, true);
    return same === true;
  }

  /** Deletes everything and removes the state; without anything to delete, no engine runs. */
  async #destroy(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<Measured> {
    if (!isEmpty(stored?.record.checkpoint ?? null)) return this.#execute(await this.#request(update, stored), update, hooks);
    if (stored !== undefined) await this.#store.remove(update.stack, stored.version);
    return { changes: { ...NO_CHANGES }, cloudCalls: 0 };
  }

  /** The engine's own plan, where the update must be what somebody has approved. @throws OperatorError Conflict when it has become something else */
  async #approved(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<{ savedPlan?: string }> {
    if (update.approved === undefined) return {};
    const { plan, savedPlan } = await this.#plan(update, stored, hooks);
    if (plan.hash === update.approved) return { savedPlan };
    const message = `stack ${update.stack}: plan ${update.approved} was approved, but by now the update would do something else (plan ${plan.hash})`;
    throw new OperatorError('Conflict', message, { reason: PLAN_OUTDATED });
  }

  async #plan(update: StackUpdate, stored: StoredStack | undefined, hooks: UpdateHooks): Promise<{ plan: Plan; savedPlan: string }> {
    const { stack, programVersion } = update;
    const request = await this.#request(update, stored, { preview: true });
    const { preview, changes } = await this.#execute(request, update, onlyLooking(hooks));
    if (preview === undefined) throw new OperatorError('Unknown', `stack ${stack}: the preview ended without a plan`);
    const { operations, savedPlan } = preview;
    const counts = { ...NO_CHANGES, same: changes.same };
    operations.forEach(({ op }) => counts[op]++);
    const { departures, approvals } = stored?.record ?? {};
    const hash = planHash({ stack, programVersion, inputsHash: updateHash(update), operations, departures, approvals });
    return { plan: { hash, counts, operations }, savedPlan };
  }

  #execute(request: UpdateRequest, update: StackUpdate, hooks: UpdateHooks, background = false): Promise<Executed> {
    return this.#executor.execute({ request, update, hooks, background, refusal: () => this.#refusal(update.stack, hooks) });
  }

  async #request(
    update: StackUpdate,
    stored: StoredStack | undefined,
    more: Pick<UpdateRequest, 'preview' | 'render' | 'savedPlan'> = {},
  ): Promise<UpdateRequest> {
    const { stack, project, providerKind, programVersion, clusterID, settings } = update;
    const modulePath = this.options.workerModules?.[providerKind];
    const plugin = pluginOf(update, stored?.record);
    return {
      id: randomUUID(),
      stack,
      project,
      providerKind,
      programVersion,
      clusterID,
      inputsHash: updateHash(update),
      settings,
      keyring: await this.#store.keyring(),
      holdMs: this.#storeHoldMs,
      holder: this.#states.holder,
      journalAbove: this.options.journalAbove ?? JOURNAL_ABOVE,
      validUntil: 0,
      ...(modulePath === undefined ? {} : { modulePath }),
      ...(plugin === undefined ? {} : { plugin }),
      ...askedIn(update),
      ...(stored === undefined ? {} : { stored }),
      ...more,
    };
  }
}

/** What an update may ask for beside its stack. */
function askedIn(update: StackUpdate): Pick<UpdateRequest, 'begun'> & Partial<UpdateRequest> {
  const { inputs, accepted, approved, replaces, extension } = update;
  const begun = update.begun?.() ?? updateHash(update);
  return {
    begun,
    ...(inputs === undefined ? {} : { inputs }),
    ...(accepted === undefined ? {} : { accepted }),
    ...(approved === undefined ? {} : { underway: begun }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(extension === undefined ? {} : { extension }),
  };
}

/** The plan of an update that changes nothing. */
function planOfNothing(update: StackUpdate, stored: StoredStack | undefined): Plan {
  const { stack, programVersion } = update;
  const hash = planHash({ stack, programVersion, inputsHash: updateHash(update), operations: [] });
  return { hash, counts: { ...NO_CHANGES, same: resourcesOf(stored?.record.checkpoint ?? null).length }, operations: [] };
}

/** Of what writes nothing: no update starts, and whoever has frozen the cloud may look. */
function onlyLooking(hooks: UpdateHooks): UpdateHooks {
  return { ...hooks, onStart: () => undefined, isFrozen: () => false };
}

function frozen(stack: string): OperatorError {
  return new OperatorError(
    'Canceled',
    `stack ${stack}: its CloudProvider is frozen (spec.freeze) or only observed (spec.managementPolicy)`,
  );
}

/** What is to be done for two waiting updates of one stack: the newer one, by force if either was, telling both. */
function merge(older: Job, newer: Job): Job {
  const onStart = (): void => {
    older.hooks.onStart?.();
    newer.hooks.onStart?.();
  };
  const force = newer.update.force === true || older.update.force === true;
  return { update: { ...newer.update, force }, hooks: { ...newer.hooks, onStart }, asAsked: newer.asAsked };
}

function isUnchanged(update: StackUpdate, record: StackRecord, hash: string): boolean {
  return update.inputs !== undefined && update.force !== true && !record.open && record.inputsHash === hash;
}

function stateOf(record: StackRecord): StackState {
  const { inputs, accepted, plugin, transform, underway, begun, departures, outputs, checkpoint } = record;
  const by = { ...(plugin === undefined ? {} : { plugin }), ...(transform === undefined ? {} : { transform }) };
  const made = { ...(inputs === null ? {} : { inputs }), ...(accepted === undefined ? {} : { accepted }), ...by };
  const left = { ...(underway === undefined ? {} : { underway }), ...(departures === undefined ? {} : { departures }) };
  const going = { ...left, ...(begun === undefined ? {} : { begun }), ...(isNeverMade(record) && { neverMade: true as const }) };
  return { ...metadataOf(record), ...made, ...going, outputs, resources: resourcesOf(checkpoint) };
}

function resultOf(record: StackRecord, result: UpdateResult['result']): UpdateResult {
  const { outputs, inputsHash, incarnation, epoch, programVersion, plugin } = record;
  const measured = { changes: { ...NO_CHANGES }, cloudCalls: 0, durationMs: 0 };
  const made = { inputsHash, incarnation, epoch, programVersion, ...(plugin && { plugin }) };
  return { result, outputs, resources: resourcesOf(record.checkpoint), ...made, ...measured };
}

/** A stack that is gone; `record` is what it was, absent when there was nothing. */
function destroyedResult(record: StackRecord | undefined): Omit<UpdateResult, 'changes' | 'cloudCalls' | 'durationMs'> {
  const { incarnation, epoch } = record ?? { incarnation: '', epoch: 0 };
  return { result: 'Destroyed', outputs: {}, resources: [], inputsHash: '', incarnation, epoch };
}
