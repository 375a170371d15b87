import { OperatorError } from '../../../base/errors';
import type { Checkpoint, CheckpointResource, Deployment } from '../../checkpoint';
import { type JournalEntry, JournalKind } from './journal-entry';
import { withCurrentNames, withoutDangling } from './references';

const JOURNAL_VERSION = 1;
const CREATING = 'creating';
/** Schema 4 is schema 3 with a list of what the state makes use of. */
const WITH_FEATURES = 4;
const BYTE_STRING = 'byteString';

/**
 * Folds the engine's journal of one update into a checkpoint: what it has put into the snapshot so far, then what of the old snapshot it has not
 * yet come to, with the operations in flight as pending ones. At any moment the result is what the engine would have stored itself, had it been told
 * to send whole checkpoints; a test compares both over every kind of step.
 */
export class Journal {
  readonly #known = new Set<number>();
  readonly #inFlight = new Map<number, JournalEntry>();
  readonly #features: Set<string>;
  /** What operations have made, by operation, in their order. */
  readonly #made = new Map<number, CheckpointResource>();
  readonly #removed = new Set<number>();
  /** Old resources by index: gone, with another state, marked. */
  readonly #oldGone = new Set<number>();
  readonly #oldReplaced = new Map<number, CheckpointResource>();
  readonly #oldMarks = new Map<number, Partial<CheckpointResource>>();
  #refreshed = false;
  #base: Checkpoint;

  /** @param base what the engine was given at the begin; null for a new stack */
  constructor(base: Deployment | null) {
    this.#base = base?.deployment ?? { manifest: { time: '', magic: '', version: '' }, metadata: {} };
    this.#features = new Set(base?.features ?? []);
  }

  /**
   * Takes the entries of one request; those that it has already are left out.
   * @returns false when they say only that resources are as they were, which most of a large stack's do: the checkpoint is then the same
   * @throws OperatorError on what it doesn't understand: the engine must stop
   */
  add(entries: readonly JournalEntry[]): boolean {
    // Of operations that were pending before, some are no more.
    let isNews = this.#known.size === 0 && (this.#base.pending_operations ?? []).length > 0;
    for (const entry of entries) {
      if (this.#known.has(entry.sequenceID)) continue;
      if (entry.version !== JOURNAL_VERSION) throw notUnderstood(`version ${entry.version}`);
      isNews = this.#isNews(entry) || isNews;
      this.#apply(entry);
      this.#known.add(entry.sequenceID);
      if (entry.requiresByteString === true) this.#features.add(BYTE_STRING);
    }
    return isNews;
  }

  /** The checkpoint as it is now. @param now RFC 3339 */
  deployment(now: string): Deployment {
    const made = [...this.#made].filter(([operation]) => !this.#removed.has(operation)).map(([, resource]) => resource);
    const old = (this.#base.resources ?? []).flatMap((resource, index) =>
      this.#oldGone.has(index) ? [] : { ...(this.#oldReplaced.get(index) ?? resource), ...this.#oldMarks.get(index) },
    );
    const all = [...made, ...old];
    const pending = [
      ...[...this.#inFlight.values()].flatMap(({ operation }) => operation ?? []),
      ...(this.#base.pending_operations ?? []).filter(({ type }) => type === CREATING),
    ];
    const deployment: Checkpoint = {
      ...this.#base,
      manifest: { ...this.#base.manifest, time: now },
      resources: withCurrentNames(this.#refreshed ? withoutDangling(all) : all),
      pending_operations: pending,
    };
    if (pending.length === 0) delete deployment.pending_operations;
    const features = [...this.#features].sort();
    return features.length === 0 ? { version: 3, deployment } : { version: WITH_FEATURES, features, deployment };
  }

  /** Asked before it is applied. */
  #isNews({ kind, operationID, operation, state, removeOld, ...entry }: JournalEntry): boolean {
    if (kind === JournalKind.Begin) return isSet(operation);
    if (kind !== JournalKind.Success || !isSet(state) || !isSet(removeOld) || isSet(this.#inFlight.get(operationID)?.operation))
      return true;
    const { removeNew, deleteOld, deleteNew, pendingReplacementOld, pendingReplacementNew } = entry;
    if ([removeNew, deleteOld, deleteNew, pendingReplacementOld, pendingReplacementNew].some(isSet) || entry.requiresByteString === true)
      return true;
    return asText(state) !== asText(this.#base.resources?.[removeOld]);
  }

  #apply(entry: JournalEntry): void {
    switch (entry.kind) {
      case JournalKind.Begin:
        return void this.#inFlight.set(entry.operationID, entry);
      case JournalKind.Failure:
        return void this.#inFlight.delete(entry.operationID);
      case JournalKind.Success:
        return this.#succeeded(entry);
      case JournalKind.RefreshSuccess:
        return this.#refreshedOne(entry);
      case JournalKind.Outputs:
        return this.#replace(entry);
      case JournalKind.Write:
        return void (this.#base = entry.newSnapshot ?? this.#base);
      case JournalKind.SecretsManager:
        return this.#encryptedBy(entry);
      case JournalKind.RebuiltBaseState:
        return this.#rebase();
      // No program of ours uses these; forgetting them would lose something.
      case JournalKind.ExtensionParameterize:
      case JournalKind.Snippets:
      default:
        throw notUnderstood(`kind ${String(entry.kind)}`);
    }
  }

  #succeeded(entry: JournalEntry): void {
    const { operationID, state, removeOld, removeNew, deleteOld, deleteNew, pendingReplacementOld, pendingReplacementNew } = entry;
    this.#inFlight.delete(operationID);
    if (isSet(state)) this.#made.set(operationID, state);
    if (isSet(removeOld)) this.#oldGone.add(this.#old(removeOld));
    if (isSet(removeNew)) this.#removed.add(this.#new(removeNew));
    if (isSet(deleteOld)) this.#mark(this.#old(deleteOld), { delete: true });
    if (isSet(deleteNew)) this.#markNew(deleteNew, { delete: true });
    if (isSet(pendingReplacementOld)) this.#mark(this.#old(pendingReplacementOld), { pendingReplacement: true });
    if (isSet(pendingReplacementNew)) this.#markNew(pendingReplacementNew, { pendingReplacement: true });
    this.#refreshed ||= entry.isRefresh === true;
  }

  #refreshedOne(entry: JournalEntry): void {
    const { operationID, state, removeOld, removeNew } = entry;
    this.#inFlight.delete(operationID);
    this.#refreshed = true;
    if (isSet(state)) return this.#replace(entry);
    if (isSet(removeOld)) this.#oldGone.add(this.#old(removeOld));
    if (isSet(removeNew)) this.#removed.add(this.#new(removeNew));
  }

  /** Something keeps its place and gets another state. */
  #replace({ state, removeOld, removeNew }: JournalEntry): void {
    if (!isSet(state)) return;
    if (isSet(removeOld)) this.#oldReplaced.set(this.#old(removeOld), state);
    if (isSet(removeNew)) this.#made.set(this.#new(removeNew), state);
  }

  #encryptedBy({ secretsProvider }: JournalEntry): void {
    if (isSet(secretsProvider)) this.#base = { ...this.#base, secrets_providers: secretsProvider };
  }

  /** What was folded so far becomes the old snapshot: indices of later entries are of that one. */
  #rebase(): void {
    const { deployment } = this.deployment(this.#base.manifest.time);
    this.#base = deployment ?? this.#base;
    this.#inFlight.clear();
    [this.#made, this.#removed, this.#oldGone, this.#oldReplaced, this.#oldMarks].forEach((part) => part.clear());
  }

  #mark(index: number, mark: Partial<CheckpointResource>): void {
    this.#oldMarks.set(index, { ...this.#oldMarks.get(index), ...mark });
  }

  #markNew(operation: number, mark: Partial<CheckpointResource>): void {
    const known = this.#made.get(this.#new(operation));
    if (known !== undefined) this.#made.set(operation, { ...known, ...mark });
  }

  #old(index: number): number {
    if (this.#base.resources?.[index] === undefined) throw notUnderstood(`old resource ${index}`);
    return index;
  }

  #new(operation: number): number {
    if (!this.#made.has(operation)) throw notUnderstood(`operation ${operation}`);
    return operation;
  }
}

/** Without the places in the program, which are not stored. */
function asText(resource: CheckpointResource | undefined): string {
  return JSON.stringify({ ...resource, sourcePosition: undefined, stackTrace: undefined });
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function notUnderstood(what: string): OperatorError {
  return new OperatorError('Unknown', `the engine's journal has an entry that this operator doesn't understand: ${what}`, {
    remedy: 'use the Pulumi CLI of the version that this operator was made for',
  });
}
