import { deepFreeze } from '../../base/freeze';
import type { Keyring } from './keyring';
import type { Secret } from './state-secret';
import type { StackRecord } from './stack-record';

export interface OpenedSecret {
  record: StackRecord;
  /** As stored. */
  bytes: number;
}

interface Entry extends OpenedSecret {
  version: string;
  ring: Keyring;
}

const KEPT = 2_048;
/** The few stacks that are larger than this are opened anew each time. */
const LARGEST_BYTES = 32 * 1024;

/**
 * What was read of state Secrets and has not changed since, by the API server's word: to decrypt and unpack it again is most of what a pass over a
 * stack costs in which nothing happens. Those that were read last are kept.
 */
export class OpenedSecrets {
  private readonly entries = new Map<string, Entry>();

  get({ metadata }: Secret, ring: Keyring): OpenedSecret | undefined {
    const entry = this.entries.get(metadata.name);
    if (entry === undefined) return undefined;
    this.entries.delete(metadata.name);
    if (entry.version !== versionOf(metadata) || entry.ring !== ring) return undefined;
    this.entries.set(metadata.name, entry);
    return entry;
  }

  keep({ metadata }: Secret, ring: Keyring, { record, bytes }: OpenedSecret): void {
    this.entries.delete(metadata.name);
    if (bytes > LARGEST_BYTES) return;
    this.entries.set(metadata.name, { record: deepFreeze(record), bytes, ring, version: versionOf(metadata) });
    const [oldest] = this.entries.keys();
    if (this.entries.size > KEPT && oldest !== undefined) this.entries.delete(oldest);
  }

  forget(name: string): void {
    this.entries.delete(name);
  }
}

function versionOf({ uid, resourceVersion }: Secret['metadata']): string {
  return `${uid}/${resourceVersion}`;
}
