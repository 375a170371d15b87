import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { OperatorError } from '../../base/errors';

/** The data keys of a state store, as JSON: they go to workers over their channel, never into an environment, a file of theirs or a log. */
export interface Keyring {
  /** Id of the key that encrypts. */
  current: string;
  /** By id; the others still decrypt. */
  keys: Record<string, DataKey>;
}

export interface DataKey {
  /** 32 bytes in base64. */
  material: string;
  /** RFC 3339: since when another key encrypts. */
  retiredAt?: string;
}

const FORMAT = 1;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES;

/** A ring with one new random key. */
export function newKeyring(): Keyring {
  return ringOf(randomBytes(KEY_BYTES));
}

/** A ring with one given key of 32 bytes. */
export function ringOf(material: Buffer): Keyring {
  const { id, key } = keyFrom(material);
  return { current: id, keys: { [id]: key } };
}

/** The ring with a new current key; the former one is retired. Pure but for the new key. */
export function withNewKey(ring: Keyring, now: string): Keyring {
  const { id, key } = keyFrom(randomBytes(KEY_BYTES));
  const retired = Object.entries(ring.keys).map(([known, old]) => [known, { ...old, retiredAt: old.retiredAt ?? now }] as const);
  return { current: id, keys: { ...Object.fromEntries(retired), [id]: key } };
}

/** The ring without the named keys; the current one stays. Pure. */
export function withoutKeys(ring: Keyring, ids: readonly string[]): Keyring {
  return { ...ring, keys: Object.fromEntries(Object.entries(ring.keys).filter(([id]) => id === ring.current || !ids.includes(id))) };
}

/** @throws OperatorError Invalid when it is no ring, or a key is not what its id says */
export function checkedKeyring(value: unknown, where: string): Keyring {
  const ring = value as Partial<Keyring> | null;
  const keys = Object.entries(ring?.keys ?? {});
  const whole = keys.every(([id, key]) => idOf(Buffer.from(key?.material ?? '', 'base64')) === id);
  if (typeof ring?.current === 'string' && whole && ring.keys?.[ring.current] !== undefined) return ring as Keyring;
  throw noKeyring(where);
}

/** What is stored in the place of the data keys is something else. */
export function noKeyring(where: string, cause?: unknown): OperatorError {
  return new OperatorError('Invalid', `${where} does not hold the data keys of the state`, {
    reason: 'WrongKey',
    remedy: 'restore it from a backup; without it, stacks are rebuilt from the cloud once their state is deleted',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Encrypts with the current key (AES-256-GCM), bound to `context`: a value copied to another context doesn't decrypt. Format, key id, nonce, tag, ciphertext. */
export function seal(ring: Keyring, plaintext: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', materialOf(ring, ring.current, context), nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(ring.current, 'hex'), nonce, cipher.getAuthTag(), body]);
}

/** @throws OperatorError Invalid (reason WrongKey) when the ring lacks the key, or the value was changed or made for another context */
export function unseal(ring: Keyring, sealed: Buffer, context: string): Buffer {
  const material = materialOf(ring, keyOf(sealed), context);
  const [nonceEnd, tagEnd] = [HEAD_BYTES + NONCE_BYTES, HEAD_BYTES + NONCE_BYTES + TAG_BYTES];
  try {
    const decipher = createDecipheriv('aes-256-gcm', material, sealed.subarray(HEAD_BYTES, nonceEnd), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(nonceEnd, tagEnd));
    return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]);
  } catch (cause) {
    throw wrongKey(`an encrypted value of stack ${context} was changed, or was made for another stack`, cause);
  }
}

/** Id of the key that a sealed value was made with; `unknown` for what is none. */
export function keyOf(sealed: Buffer): string {
  return sealed[0] === FORMAT && sealed.length >= HEAD_BYTES ? sealed.subarray(1, HEAD_BYTES).toString('hex') : 'unknown';
}

function keyFrom(material: Buffer): { id: string; key: DataKey } {
  return { id: idOf(material), key: { material: material.toString('base64') } };
}

/** From the key itself, so that a ring with another key under the same id is noticed. */
function idOf(material: Buffer): string {
  return material.length === KEY_BYTES
    ? createHash('sha256')
        .update(material)
        .digest('hex')
        .slice(0, ID_BYTES * 2)
    : 'unusable';
}

function materialOf(ring: Keyring, id: string, context: string): Buffer {
  const key = ring.keys[id];
  if (key !== undefined) return Buffer.from(key.material, 'base64');
  throw wrongKey(`the state of stack ${context} is encrypted with key ${id}, which this state store does not have`);
}

function wrongKey(message: string, cause?: unknown): OperatorError {
  return new OperatorError('Invalid', message, {
    reason: 'WrongKey',
    remedy: 'restore the data key that belongs to this state, or delete the stack’s state to have it rebuilt from the cloud',
    cause,
  });
}
