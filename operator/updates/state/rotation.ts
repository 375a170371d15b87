import { randomUUID } from 'node:crypto';
import { OperatorError, toOperatorError } from '../../base/errors';
import { withNewKey, withoutKeys } from './keyring';
import { reencrypt } from './reencryption';
import { heldBy, stampedAt } from './stack-record';
import type { StateStore } from './state-store';

/** An update that began with a former key may write with it until then; longer than any update lives. */
const KEEP_RETIRED_MS = 3_600_000;

export interface Rotation {
  /** Id of the new key. */
  key: string;
  /** Stacks that are encrypted with it now. */
  rewritten: string[];
  /** Stacks that were not: an update runs, or they can't be read. Former keys stay until they are. */
  left: { stack: string; error: OperatorError }[];
  /** Ids of former keys that were dropped. */
  dropped: string[];
}

/**
 * Makes a new data key the current one, encrypts everything with it, and drops former keys that nobody can need any more (retired for an hour,
 * and no stack left behind). May be broken off and done again at any point.
 * @param now milliseconds since 1970
 * @param secretsProvider as StateStore.changeKeyring
 */
export async function rotateKey(store: StateStore, now: number, secretsProvider?: string): Promise<Rotation> {
  const { keys } = await store.keyring();
  const old = Object.entries(keys).filter(([, { retiredAt }]) => retiredAt !== undefined && now - Date.parse(retiredAt) > KEEP_RETIRED_MS);
  const ring = await store.changeKeyring((before) => withNewKey(before, new Date(now).toISOString()), secretsProvider);
  const { stacks, damaged } = await store.list();
  const rotation: Rotation = { key: ring.current, rewritten: [], left: damaged.map((error) => ({ stack: '?', error })), dropped: [] };
  for (const { stack } of stacks) {
    try {
      await rewrite(store, stack, now);
      rotation.rewritten.push(stack);
    } catch (thrown) {
      rotation.left.push({ stack, error: toOperatorError(thrown) });
    }
  }
  if (rotation.left.length > 0 || old.length === 0) return rotation;
  const ids = old.map(([id]) => id);
  await store.changeKeyring((before) => withoutKeys(before, ids));
  return { ...rotation, dropped: ids };
}

/** A write under another holder raises the epoch: an update that runs at this moment loses its race and starts anew. */
async function rewrite(store: StateStore, stack: string, now: number): Promise<void> {
  const stored = await store.read(stack);
  if (stored === undefined) return;
  if (stored.record.open) throw new OperatorError('Conflict', `stack ${stack}: an update runs or did not end`);
  const ring = await store.keyring();
  await store.write(stampedAt(heldBy(reencrypt(stored.record, ring, ring), randomUUID()), now), stored.version);
}
