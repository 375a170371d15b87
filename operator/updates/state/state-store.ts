import type { OperatorError } from '../../base/errors';
import type { StackMetadata, StackRecord } from './stack-record';

/** A record and the version it was read at. */
export interface StoredStack {
  record: StackRecord;
  /** Opaque; changes with every write. It is the lease: whoever writes with an old one has lost. */
  version: string;
}

/**
 * Where stacks are kept. All writes are conditional on the version that was read, also between processes.
 * Every method throws OperatorError: Conflict for a lost race, Invalid for an object that can't be read (it is never overwritten).
 */
export interface StateStore {
  read(stack: string): Promise<StoredStack | undefined>;
  /**
   * @param expected version that was read; undefined = the stack must not exist
   * @returns the new version
   */
  write(record: StackRecord, expected: string | undefined): Promise<string>;
  remove(stack: string, expected: string): Promise<void>;
  /** All stacks; those that can't be read are named, and don't hide the others. */
  list(): Promise<StackListing>;
  /** Key for AES-256-GCM of secret values, made on first use: 32 bytes. */
  secretsKey(): Promise<Buffer>;
}

export interface StackListing {
  stacks: StackMetadata[];
  damaged: OperatorError[];
}

/** How another process opens the same store; JSON. */
export interface StateLocation {
  kind: 'Directory';
  path: string;
}
