import type { Json } from '../../base/json';
import { type Deployment, isSecret } from '../checkpoint';
import { type Keyring, keyOf, seal, unseal } from './keyring';
import type { StackRecord } from './stack-record';

/** The checkpoint with every secret value encrypted by the current key of `to`. @throws OperatorError Invalid when `from` lacks a key */
export function reencrypt(record: StackRecord, from: Keyring, to: Keyring): StackRecord {
  const change = (ciphertext: string): string =>
    seal(to, unseal(from, Buffer.from(ciphertext, 'base64'), record.stack), record.stack).toString('base64');
  return { ...record, checkpoint: changed(record.checkpoint as unknown as Json, change) as unknown as Deployment | null };
}

/** Tries every secret value of a checkpoint. @throws OperatorError Invalid (reason WrongKey) when one can't be decrypted */
export function assertDecrypts(checkpoint: Deployment, ring: Keyring, stack: string): void {
  for (const ciphertext of ciphertextsIn(checkpoint)) unseal(ring, Buffer.from(ciphertext, 'base64'), stack);
}

/** Ids of the keys that the secret values of a checkpoint need. Pure. */
export function keysIn(checkpoint: Deployment | null): Set<string> {
  return new Set(ciphertextsIn(checkpoint).map((ciphertext) => keyOf(Buffer.from(ciphertext, 'base64'))));
}

function ciphertextsIn(checkpoint: Deployment | null): string[] {
  const found: string[] = [];
  changed(checkpoint as unknown as Json, (ciphertext) => {
    found.push(ciphertext);
    return ciphertext;
  });
  return found;
}

function changed(value: Json, change: (ciphertext: string) => string): Json {
  if (Array.isArray(value)) return value.map((item) => changed(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, Json] =>
    key === 'ciphertext' && typeof item === 'string' && isSecret(value) ? [key, change(item)] : [key, changed(item, change)],
  );
  return Object.fromEntries(entries);
}
