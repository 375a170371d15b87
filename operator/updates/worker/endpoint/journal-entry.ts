import type { Checkpoint, CheckpointResource } from '../../checkpoint';

/** Kinds of the engine's journal entries (apitype.JournalEntryKind of the pinned CLI). */
export enum JournalKind {
  Begin = 0,
  Success = 1,
  Failure = 2,
  RefreshSuccess = 3,
  Outputs = 4,
  Write = 5,
  SecretsManager = 6,
  RebuiltBaseState = 7,
  ExtensionParameterize = 8,
  Snippets = 9,
}

/**
 * One change of a snapshot (apitype.JournalEntry, version 1). Fields with "old" in their name are indices of resources in the snapshot that the update
 * began with; those with "new" are ids of operations of this update, for what they have put into the snapshot.
 */
export interface JournalEntry {
  version: number;
  kind: JournalKind;
  /** Counts the entries of an update; one that is sent again has the same. */
  sequenceID: number;
  operationID: number;
  removeOld?: number | null;
  removeNew?: number | null;
  deleteOld?: number | null;
  deleteNew?: number | null;
  pendingReplacementOld?: number | null;
  pendingReplacementNew?: number | null;
  state?: CheckpointResource | null;
  operation?: { type: string; resource: CheckpointResource } | null;
  isRefresh?: boolean;
  secretsProvider?: Checkpoint['secrets_providers'] | null;
  newSnapshot?: Checkpoint | null;
  requiresByteString?: boolean;
}
