import { OperatorError } from '../../base/errors';
import { checkedKeyring, type Keyring, noKeyring, ringOf, seal, unseal } from './keyring';
import { DEFAULT_SECRETS_PROVIDER, keyEncryptionKey } from './secrets-provider/registry';
import type { EncryptionContext, WrappedKey } from './secrets-provider/secrets-provider';

export interface KeyProtection {
  /** What protects data keys that are made from now on: `default`, which is the default, or the URL of a key in a KMS. */
  secretsProvider?: string;
  /** UID of the namespace kube-system: keys in a KMS are bound to it. Asked for only with a KMS. */
  clusterID?: () => Promise<string>;
  /** Told, once for each stored version, that the stored keys are protected by something else. */
  warn?: (message: string) => void;
}

/**
 * The data keys as they are stored under a KMS: encrypted by a data key that the KMS made for this one write, and that is stored only as the KMS
 * wrapped it. Nothing of it is of use without the KMS.
 */
interface WrappedKeyring extends WrappedKey {
  /** URL of the key, as it was given. */
  secretsProvider: string;
  clusterID: string;
  /** base64 of the sealed JSON. */
  keyring: string;
}

const CONTEXT = 'the data keys';

/**
 * Writes and reads the data keys as they are stored: as they are, or under a KMS. What was unwrapped is kept in memory for as long as the same is
 * stored, so the KMS is asked once, and may be away afterwards.
 */
export class KeyringEnvelope {
  #opened: { text: string; ring: Promise<Keyring> } | undefined;

  /** @param keyOf for tests */
  constructor(
    private readonly protection: KeyProtection,
    private readonly keyOf: typeof keyEncryptionKey = keyEncryptionKey,
  ) {}

  /** @param where names the stored object. @throws OperatorError Invalid when these are no data keys; as KeyEncryptionKey does */
  open(text: string, where: string): Promise<Keyring> {
    if (this.#opened?.text === text) return this.#opened.ring;
    const ring = this.#open(text, where);
    this.#remember(text, ring);
    return ring;
  }

  /** A new ring as it is stored. */
  first(ring: Keyring): Promise<string> {
    return this.#close(ring, this.protection.secretsProvider ?? DEFAULT_SECRETS_PROVIDER);
  }

  /**
   * A ring as it is stored in the place of another one.
   * @param secretsProvider protects it from now on; absent = what protects `stored`
   * @throws OperatorError as KeyEncryptionKey does
   */
  replace(stored: string, ring: Keyring, secretsProvider = protectorOf(stored)): Promise<string> {
    return this.#close(ring, secretsProvider);
  }

  async #close(ring: Keyring, secretsProvider: string): Promise<string> {
    const key = this.keyOf(secretsProvider);
    if (key === undefined) return JSON.stringify(ring);
    const clusterID = await this.#clusterID();
    const { plaintext, wrapped } = await key.generateDataKey(contextOf(clusterID));
    const keyring = seal(ringOf(plaintext), Buffer.from(JSON.stringify(ring)), CONTEXT).toString('base64');
    const stored: WrappedKeyring = { secretsProvider, clusterID, ...wrapped, keyring };
    const text = JSON.stringify(stored);
    this.#remember(text, Promise.resolve(ring));
    return text;
  }

  async #open(text: string, where: string): Promise<Keyring> {
    const stored = parse(text);
    this.#compare(protectorOf(text), where);
    if (!isWrapped(stored)) return checkedKeyring(stored, where);
    const { secretsProvider, clusterID, key, ciphertext, keyring } = stored;
    const own = await this.#clusterID();
    if (clusterID !== own) throw foreignKeys(where, clusterID, own);
    const kms = this.keyOf(secretsProvider);
    if (kms === undefined) throw noKeyring(where);
    const wrapping = ringOf(await kms.decrypt({ key, ciphertext }, contextOf(clusterID)));
    try {
      return checkedKeyring(parse(unseal(wrapping, Buffer.from(keyring, 'base64'), CONTEXT).toString('utf8')), where);
    } catch (cause) {
      throw noKeyring(where, cause);
    }
  }

  #compare(protector: string, where: string): void {
    const { secretsProvider, warn } = this.protection;
    if (secretsProvider === undefined || secretsProvider === DEFAULT_SECRETS_PROVIDER || secretsProvider === protector) return;
    warn?.(
      `${where} is protected by ${protector}, not by ${secretsProvider}: "cloud-operator state rotate-key --secrets-provider=${secretsProvider}" changes that`,
    );
  }

  /** What failed is tried again by the next one who asks. */
  #remember(text: string, ring: Promise<Keyring>): void {
    const opened = { text, ring };
    this.#opened = opened;
    ring.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
  }

  async #clusterID(): Promise<string> {
    const id = await this.protection.clusterID?.();
    if (id !== undefined) return id;
    throw new OperatorError('Invalid', 'data keys under a KMS belong to a cluster, and none is named');
  }
}

/** What protects stored keys: `default`, or the URL of a key. */
function protectorOf(text: string): string {
  const stored = parse(text);
  return isWrapped(stored) ? stored.secretsProvider : DEFAULT_SECRETS_PROVIDER;
}

function isWrapped(stored: unknown): stored is WrappedKeyring {
  const { secretsProvider, clusterID, key, ciphertext, keyring } = (stored ?? {}) as Partial<WrappedKeyring>;
  return [secretsProvider, clusterID, key, ciphertext, keyring].every((field) => typeof field === 'string');
}

/** Shown by the KMS's audit log, and usable in a key's policy. */
function contextOf(clusterID: string): EncryptionContext {
  return { 'cloud-operator.dev/cluster-id': clusterID };
}

function foreignKeys(where: string, clusterID: string, own: string): OperatorError {
  return new OperatorError('Invalid', `the data keys in ${where} belong to cluster ${clusterID}, not to this one (${own})`, {
    reason: 'ForeignState',
    remedy: 'restore those of this cluster',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // what is no JSON is no keyring either, and is refused as such
  }
}
