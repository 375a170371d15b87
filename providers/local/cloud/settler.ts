import type { Clock } from '../../../operator/base/clock';
import type { Logger } from '../../../operator/base/log';
import { toOperatorError } from '../../../operator/base/errors';
import type { Operation } from '../api';
import { ApiFailure } from './api-failure';
import { Applier, keyOfPart } from './applier';
import { rulesOf } from './collections';
import type { Part, View } from './collections/rules';
import type { DataPlane } from './data-plane';
import type { Change, ResourceCollection } from './entry';
import type { Store } from './store';

/** A committed write that the data plane has yet to carry out. */
export interface Task {
  collection: ResourceCollection;
  id: string;
  parts: Part[];
  /** True: the resource goes once the data plane has let go of it. */
  removes?: boolean;
  /** Its end is recorded; absent on a later try. */
  operation?: Operation;
  /** Called when the data plane is done and nothing of that is recorded. */
  beforeRecord?: () => void;
}

export interface SettlerOptions {
  store: Store;
  view: View;
  plane: DataPlane;
  clock: Clock;
  logger: Logger;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/**
 * Carries committed writes into the data plane and records how that ended. What fails is marked and tried again, less and less often, until it
 * works or the resource is gone.
 */
export class Settler {
  private readonly applier: Applier;
  /** How many tasks of a resource are on their way. */
  private readonly running = new Map<string, number>();
  private readonly failed = new Map<string, { task: Task; attempt: number; cancel: () => void }>();
  private readonly inFlight = new Set<Promise<void>>();
  private stuck: Task[] = [];
  private stopped = false;

  constructor(private readonly options: SettlerOptions) {
    this.applier = new Applier(options.store.state, options.plane);
  }

  /**
   * Waits for the task's commit, applies its parts, then records the result.
   * @throws ApiFailure Unavailable when the data plane could not; it is tried again on its own
   */
  settle(task: Task, committed: Promise<void> = Promise.resolve()): Promise<void> {
    const run = this.run(task, committed);
    const seen = run.catch(() => undefined).then(() => void this.inFlight.delete(seen));
    this.inFlight.add(seen);
    return run;
  }

  /** Leaves the task undone until `release` (fault stuckPending). */
  hold(task: Task): void {
    this.stuck.push(task);
  }

  /** Takes up what was held. */
  async release(): Promise<void> {
    const tasks = this.stuck;
    this.stuck = [];
    await Promise.all(tasks.map((task) => this.settleQuietly(task)));
  }

  /** As settle; a failure is logged and tried again, and not thrown. */
  async settleQuietly(task: Task): Promise<void> {
    await this.settle(task).catch((error: unknown) => {
      this.options.logger.warn({ resource: `${task.collection}/${task.id}`, err: toOperatorError(error) }, 'not applied yet');
    });
  }

  /** Resolves when nothing is on its way any more; there are no further tries. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const { cancel } of this.failed.values()) cancel();
    this.failed.clear();
    await Promise.all(this.inFlight);
  }

  private async run(task: Task, committed: Promise<void>): Promise<void> {
    const key = `${task.collection}/${task.id}`;
    this.running.set(key, (this.running.get(key) ?? 0) + 1);
    await committed;
    const whole = { ...task, parts: union(task.parts, this.failed.get(key)?.task.parts ?? []) };
    const outcome = await this.applyAll(whole.parts);
    const left = (this.running.get(key) ?? 1) - 1;
    if (left === 0) this.running.delete(key);
    else this.running.set(key, left);
    if (outcome.error === undefined) {
      task.beforeRecord?.();
      this.forget(key);
      await this.recordSuccess(whole, outcome.changes, left === 0);
    } else {
      await this.recordFailure(key, whole, outcome.changes, outcome.error);
      throw new ApiFailure('Unavailable', `${key} is recorded, but the data plane failed: ${outcome.error}; it is tried again`, {
        retryAfterMs: FIRST_RETRY_MS,
      });
    }
  }

  private async applyAll(parts: Part[]): Promise<{ changes: Change[]; error?: string }> {
    const results = await Promise.allSettled(parts.map((part) => this.applier.apply(part)));
    const changes = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    const errors = results.flatMap((result, index) => {
      const part = parts[index];
      if (result.status === 'fulfilled' || part === undefined) return [];
      return [`${keyOfPart(part)}: ${toOperatorError(result.reason).message}`];
    });
    return errors.length === 0 ? { changes } : { changes, error: errors.join('; ') };
  }

  private async recordSuccess(task: Task, found: Change[], last: boolean): Promise<void> {
    const entry = this.options.store.state.get(task.collection, task.id);
    const changes = [...found, ...this.endOf(task, last)];
    if (task.operation !== undefined) {
      const done: Operation =
        entry === undefined
          ? { ...task.operation, state: 'failed', error: { code: 'NotFound', message: 'the resource was deleted meanwhile' } }
          : { ...task.operation, state: 'done' };
      changes.push({ kind: 'operation', operation: done });
    }
    if (changes.length > 0) await this.options.store.commit(changes);
  }

  private endOf(task: Task, last: boolean): Change[] {
    const { collection, id } = task;
    const entry = this.options.store.state.get(collection, id);
    if (entry === undefined) return [];
    if (entry.resource.state === 'deleting') {
      // Another task may end meanwhile, but only the deletion's own has seen the data plane let go.
      if (task.removes !== true) return [];
      const { changes } = rulesOf(collection).effects(entry, undefined, this.options.view);
      return [...changes, { kind: 'delete', collection, id }];
    }
    if (!last || entry.resource.state === 'active') return [];
    return [{ kind: 'merge', collection, id, fields: { state: 'active', message: null } }];
  }

  private async recordFailure(key: string, task: Task, found: Change[], message: string): Promise<void> {
    const { collection, id, operation } = task;
    const changes = [...found];
    const entry = this.options.store.state.get(collection, id);
    if (entry === undefined) this.forget(key);
    else {
      const state = entry.resource.state === 'deleting' ? 'deleting' : 'error';
      changes.push({ kind: 'merge', collection, id, fields: { state, message } });
      this.retryLater(key, { collection, id, parts: task.parts, removes: entry.resource.state === 'deleting' });
    }
    if (operation !== undefined) {
      changes.push({ kind: 'operation', operation: { ...operation, state: 'failed', error: { code: 'Unavailable', message } } });
    }
    if (changes.length > 0) await this.options.store.commit(changes);
  }

  private retryLater(key: string, task: Task): void {
    if (this.stopped) return;
    const attempt = (this.failed.get(key)?.attempt ?? 0) + 1;
    this.failed.get(key)?.cancel();
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempt - 1));
    const cancel = this.options.clock.after(delay, () => void this.settleQuietly(task));
    this.failed.set(key, { task, attempt, cancel });
  }

  private forget(key: string): void {
    this.failed.get(key)?.cancel();
    this.failed.delete(key);
  }
}

function union(parts: Part[], more: Part[]): Part[] {
  return [...new Map([...parts, ...more].map((part) => [keyOfPart(part), part])).values()];
}
