import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import type { Accounts } from './limits/accounts';
import type { WorkerEvent } from './protocol';
import type { StateStore } from './state/state-store';

export interface UpdateEngineOptions {
  store: StateStore;
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
  /** Worker modules of providers that are not built in: kind → path. */
  workerModules?: Record<string, string>;
  /** A worker is replaced after so many updates; default 200. */
  maxRunsPerWorker?: number;
  /** A worker is replaced when its memory is above this, in MB, and its JavaScript heap is no larger; default 512, and for the heap half of `memoryMB` where that is more. */
  maxWorkerMB?: number;
  /** Resident memory that a worker or an engine may use, in MB; default 1024. */
  memoryMB?: number;
  /** Where running processes are written down, so that the next operator ends what a dead one left; default: a folder of this user in the temporary one. */
  runDirectory?: string;
  /** Deadline of updates that name none; default 10 minutes. */
  deadlineMs?: number;
  /** How long a write of state is tried while the store is away, before the update stops; default one minute. */
  storeHoldMs?: number;
  /** Stacks with more resources than this are stored by the engine's journal; default 50. */
  journalAbove?: number;
  /** How long a stopped update may take to end by itself; default 15 s. */
  graceMs?: number;
  /** How long a worker with an update may be silent; default 30 s. */
  silenceMs?: number;
  /** Workers end after this long without work; default one minute. */
  idleMs?: number;
  /** Limits of the cloud accounts; absent = the default ones, and only for workers. */
  accounts?: Accounts;
  /** Told of every event of every update, for metrics. */
  onEvent?: (stack: string, event: WorkerEvent) => void;
}
