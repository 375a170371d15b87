import type { OperatorError } from '../../base/errors';
import type { Keyring } from './keyring';
import type { StackMetadata, StackRecord } from './stack-record';

/** A record and the version it was read at. */
export interface StoredStack {
  record: StackRecord;
  /** Opaque; changes with every write. It is the lease: whoever writes with an old one has lost. */
  version: string;
  /** Size as stored, in bytes. */
  bytes: number;
}

/**
 * Where stacks are kept. All writes are conditional on the version that was read, also between processes.
 * Every method throws OperatorError: Conflict for a lost race, Invalid for an object that can't be read (it is never overwritten),
 * Transient while the store can't be reached.
 */
export interface StateStore {
  /** In words, for messages: `the Secrets in namespace cloud-operator-system`. */
  readonly name: string;
  /** An update whose state would become larger than this many bytes is not begun; absent = no limit. */
  readonly limitBytes?: number;
  read(stack: string): Promise<StoredStack | undefined>;
  /**
   * @param expected version that was read; undefined = the stack must not exist
   * @param grows the write makes the stack larger than it was before its update: the last room in the store is not for that
   * @returns the new version
   * @throws OperatorError Quota when the record is too large
   */
  write(record: StackRecord, expected: string | undefined, grows?: boolean): Promise<string>;
  remove(stack: string, expected: string): Promise<void>;
  /** All stacks; those that can't be read are named, and don't hide the others. */
  list(): Promise<StackListing>;
  /** The data keys for secret values, made on first use. */
  keyring(): Promise<Keyring>;
  /**
   * Changes the data keys, once more when somebody else was faster.
   * @param secretsProvider protects them from now on: `default` or the URL of a key in a KMS; absent = what protects them now
   * @returns what is stored then
   */
  changeKeyring(change: (ring: Keyring) => Keyring, secretsProvider?: string): Promise<Keyring>;
}

/** What a running update does with its stack's state. */
export type StackWriter = Pick<StateStore, 'write' | 'remove'>;

export interface StackListing {
  stacks: StackMetadata[];
  damaged: OperatorError[];
}
