import type { PlannedOperation } from '../../crds';
import type { CallOutcome } from '../../providers/call-gate';
import type { ErrorCode } from '../base/errors';
import { OperatorError } from '../base/errors';
import type { JsonObject } from '../base/json';
import type { TargetGroup } from '../../providers/provider';
import type { Keyring } from './state/keyring';
import type { StackRecord } from './state/stack-record';
import type { StoredStack } from './state/state-store';
import type { ShownOperations } from './plan';
import type { ChangeCounts, ExtensionUse } from './update';

/** What a worker needs to run one update: JSON, so that another executor could stand behind the same boundary. */
export interface UpdateRequest {
  id: string;
  stack: string;
  project: string;
  providerKind: string;
  /** Path of the provider's worker module, for providers that are not built in. */
  modulePath?: string;
  programVersion: string;
  /** The stack's own: who serves the cloud's types. Absent = our own provider. */
  plugin?: 'Official';
  clusterID: string;
  /** undefined = destroy. */
  inputs?: JsonObject;
  /** StackUpdate.accepted. */
  accepted?: JsonObject;
  inputsHash: string;
  /** StackRecord.begun while it is open. */
  begun: string;
  /** A person has approved it: StackRecord.underway while it is open. */
  underway?: string;
  /** UpdateContext.replaces. */
  replaces?: readonly string[];
  extension?: ExtensionUse;
  /** Only look what would be done: nothing is written, neither to the cloud nor to the state. */
  preview?: boolean;
  /** Only run the program, without an engine: does it make what the state says already? Nothing is written. */
  render?: boolean;
  /** The engine's own plan of an earlier preview: it refuses to do anything else. */
  savedPlan?: string;
  /** The provider's Cloud.workerSettings(): never stored, never logged. */
  settings: JsonObject;
  /** The stack's state as the operator read it; absent = there is none. */
  stored?: StoredStack;
  /** Data keys for secret values: never logged. */
  keyring: Keyring;
  /** For how long a write of state is tried while the store is away, in milliseconds. */
  holdMs: number;
  holder: string;
  /** Stacks with more resources than this are stored by the engine's journal. */
  journalAbove: number;
  /** Cloud writes are allowed until this time of the host's monotonic clock (ms); extended by `validity` commands. */
  validUntil: number;
}

/** Operator → worker. What answers an event carries the id of its update: it may come so late that the worker runs another one. */
export type WorkerCommand =
  | { type: 'run'; request: UpdateRequest }
  /** Renews (or, with a time in the past, withdraws) the permission to write to the cloud. */
  | { type: 'validity'; validUntil: number }
  /** The answer to a `store` event: the new version of the stack, or why it was not written. */
  | { type: 'stored'; id: string; call: number; version?: string; error?: WireError }
  /** The answer to a `syncTargets` event. */
  | { type: 'targetsSynced'; id: string; call: number; error?: WireError }
  /** Ends the running update gracefully: the step in flight finishes and is stored. */
  | { type: 'cancel'; reason: string }
  /** The account's limits allow these cloud calls, */
  | { type: 'granted'; id: string; calls: number[] }
  /** or not this one. */
  | { type: 'denied'; id: string; call: number; error: WireError };

/** Worker → operator. */
export type WorkerEvent =
  | { type: 'ready'; rssBytes: number }
  /** Answers each extension of the validity: the worker is not frozen. */
  | { type: 'alive' }
  | { type: 'started'; id: string; enginePid: number }
  | { type: 'resource'; id: string; urn: string; op: string; state: 'Started' | 'Done' | 'Failed' }
  | { type: 'diagnostic'; id: string; severity: 'error' | 'warning' | 'info'; message: string; urn?: string }
  /** What people should know though the update goes on. */
  | { type: 'remark'; id: string; text: string }
  /** Writes the stack's state, or removes it where there is no record; conditional on the version `expected`. */
  | { type: 'store'; id: string; call: number; record?: StackRecord; expected?: string }
  /** Asks for the members of a new target group, and waits for the answer. */
  | { type: 'syncTargets'; id: string; call: number; group: TargetGroup }
  /** Asks to make cloud calls, numbered within the update. */
  | { type: 'acquire'; id: string; calls: { call: number; verb: string }[] }
  /** A granted call has ended, or is not wanted any more. */
  | { type: 'settled'; id: string; call: number; outcome: CallOutcome }
  /** What an update did to the cloud, or had begun to do when it failed. */
  | ({ type: 'operations'; id: string } & ShownOperations)
  | { type: 'calls'; id: string; total: number; byVerb: Record<string, number> }
  | {
      type: 'done';
      id: string;
      changes: ChangeCounts;
      timings: Timings;
      preview?: PreviewResult;
      same?: boolean;
      rssBytes: number;
      tainted: boolean;
    }
  | { type: 'failed'; id: string; error: WireError; rssBytes: number; tainted: boolean };

export type DoneEvent = Extract<WorkerEvent, { type: 'done' }>;
export type SyncTargetsEvent = Extract<WorkerEvent, { type: 'syncTargets' }>;
export type StoreEvent = Extract<WorkerEvent, { type: 'store' }>;
export type FailedEvent = Extract<WorkerEvent, { type: 'failed' }>;

/** What a preview found. */
export interface PreviewResult {
  operations: PlannedOperation[];
  /** The engine's own plan. */
  savedPlan: string;
}

/** Where the time of one update went, milliseconds from the arrival of the request. */
export interface Timings {
  /** Module, state and servers are ready. */
  preparedMs: number;
  /** The engine asked for the program. */
  programMs: number;
  /** The engine's process ended. */
  engineMs: number;
  totalMs: number;
}

/** An OperatorError as JSON. */
export interface WireError {
  code: ErrorCode;
  message: string;
  retryAfterMs?: number;
  field?: string;
  remedy?: string;
  resource?: string;
  reason?: string;
  undeleted?: readonly string[];
}

export function toWire(error: OperatorError): WireError {
  const { code, message, retryAfterMs, field, remedy, resource, reason, undeleted } = error;
  return {
    code,
    message,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(field === undefined ? {} : { field }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(resource === undefined ? {} : { resource }),
    ...(reason === undefined ? {} : { reason }),
    ...(undeleted === undefined ? {} : { undeleted }),
  };
}

export function fromWire({ code, message, ...detail }: WireError): OperatorError {
  return new OperatorError(code, message, detail);
}

/** Milliseconds of the host's monotonic clock: the same in all processes, unlike performance.now(). */
export function hostMonotonic(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
