import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../base/clock';
import { type ErrorCode, OperatorError, toOperatorError } from '../../base/errors';
import type { KubeApi } from '../../kube/api';
import { SECRETS } from '../../kube/object';
import { KeySecret } from './key-secret';
import type { Keyring } from './keyring';
import { KeyringEnvelope, type KeyProtection } from './keyring-envelope';
import { type OpenedSecret, OpenedSecrets } from './opened-secrets';
import { assertStorable, decodeMetadata, decodeSecret, encodeSecret, type Secret, secretName, STATE_TYPE } from './state-secret';
import { identityOf, type StackMetadata, type StackRecord } from './stack-record';
import type { StackListing, StateStore, StoredStack } from './state-store';

export interface SecretStateStoreOptions {
  /** Without a rate limit of its own: a write that waits holds up an update. */
  api: KubeApi;
  namespace: string;
  /** Updates that would pass this are not begun. Default 900 KB. */
  limitBytes?: number;
  /** What a Secret can hold. Default 1 MiB, the API server's limit. */
  maxBytes?: number;
  /** What protects the data keys; default: the Secret that they are in. */
  keys?: KeyProtection;
  clock?: Clock;
}

const LIMIT_BYTES = 900 * 1024;
/** What etcd says, through the API server, when its quota is used up. */
const FULL = /database space exceeded/;
const MAX_BYTES = 1024 * 1024;
/** How long the data keys are remembered: a rotation by somebody else is noticed by then, or when an unknown key turns up. */
const KEYS_FOR_MS = 60_000;

/**
 * Stacks as Secrets, one each, in one namespace. A version is the Secret's resourceVersion with the identity of the write, so that a write
 * whose answer was lost is known again, and a label that somebody else put on the Secret takes nobody's lease away.
 */
export class SecretStateStore implements StateStore {
  readonly limitBytes: number;
  readonly #api: KubeApi;
  readonly #namespace: string;
  readonly #room: { growth: StateRoom; all: StateRoom };
  readonly #clock: Clock;
  readonly #keys: KeySecret;
  readonly #opened = new OpenedSecrets();
  #known: { ring: Keyring; at: number } | undefined;
  #reading: Promise<Keyring> | undefined;

  constructor(options: SecretStateStoreOptions) {
    this.#api = options.api;
    this.#namespace = options.namespace;
    this.limitBytes = options.limitBytes ?? LIMIT_BYTES;
    this.#room = roomOf(this.limitBytes, options.maxBytes ?? MAX_BYTES);
    this.#clock = options.clock ?? systemClock;
    this.#keys = new KeySecret(options.api, options.namespace, new KeyringEnvelope(options.keys ?? {}));
  }

  get name(): string {
    return `the Secrets in namespace ${this.#namespace}`;
  }

  async read(stack: string): Promise<StoredStack | undefined> {
    const secret = await this.#named(() => this.#api.get<Secret>(SECRETS, this.#key(stack)));
    if (secret === undefined) {
      this.#opened.forget(secretName(stack));
      return undefined;
    }
    const { record, bytes } = await this.#decode(secret, stack);
    if (record.stack !== stack) throw new OperatorError('Conflict', `Secret ${this.#key(stack)} holds stack ${record.stack}, not ${stack}`);
    return { record, bytes, version: versionOf(secret, record) };
  }

  async write(record: StackRecord, expected: string | undefined, grows = false): Promise<string> {
    const { bytes, ...fields } = await encodeSecret(record, await this.keyring());
    assertStorable(record.stack, bytes, grows ? this.#room.growth : this.#room.all);
    const send = (version: string | undefined): Promise<Secret> =>
      version === undefined ? this.#create(record.stack, fields) : this.#replace(record.stack, fields, version);
    try {
      return versionOf(await this.#named(() => send(expected)), record);
    } catch (thrown) {
      const now = await this.#afterConflict(record.stack, thrown);
      if (now !== undefined && identityOf(now.metadata) === identityOf(record)) return now.version;
      if (now !== undefined && isSameWrite(now.version, expected)) return versionOf(await this.#named(() => send(now.version)), record);
      throw thrown;
    }
  }

  async remove(stack: string, expected: string): Promise<void> {
    const send = (version: string): Promise<void> =>
      this.#named(() => this.#api.remove(SECRETS, this.#key(stack), { resourceVersion: resourceVersionOf(version) }));
    try {
      await send(expected);
    } catch (thrown) {
      const now = await this.#afterConflict(stack, thrown);
      if (now === undefined || !isSameWrite(now.version, expected)) throw thrown;
      await send(now.version);
    }
  }

  async list(): Promise<StackListing> {
    const selection = { namespace: this.#namespace, fieldSelector: `type=${STATE_TYPE}`, metadataOnly: true };
    const found = await this.#named(() => this.#api.list(SECRETS, selection));
    const listing: StackListing = { stacks: [], damaged: [] };
    for (const { metadata } of found) {
      try {
        listing.stacks.push(decodeMetadata(metadata, `state Secret ${this.#namespace}/${metadata.name}`));
      } catch (thrown) {
        listing.damaged.push(toOperatorError(thrown));
      }
    }
    return listing;
  }

  async keyring(): Promise<Keyring> {
    if (this.#known !== undefined && this.#clock.monotonic() - this.#known.at < KEYS_FOR_MS) return this.#known.ring;
    // Many ask at a start, when the keys may have to be made or unwrapped.
    this.#reading ??= this.#readKeys().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readKeys(): Promise<Keyring> {
    const at = this.#clock.monotonic();
    const ring = await this.#named(() => this.#keys.read());
    const known = this.#known?.ring;
    const same = known !== undefined && isDeepStrictEqual(known, ring) ? known : ring;
    this.#known = { ring: same, at };
    return same;
  }

  async changeKeyring(change: (ring: Keyring) => Keyring, secretsProvider?: string): Promise<Keyring> {
    const ring = await this.#named(() => this.#keys.change(change, secretsProvider));
    this.#known = { ring, at: this.#clock.monotonic() };
    return ring;
  }

  #create(stack: string, { metadata, data }: Fields): Promise<Secret> {
    const given = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
    return this.#api.create<Secret>(SECRETS, this.#namespace, {
      metadata: { name: secretName(stack), ...metadata },
      type: STATE_TYPE,
      data: given,
    });
  }

  /** @throws OperatorError Conflict when the Secret changed or is gone */
  async #replace(stack: string, { metadata, data }: Fields, version: string): Promise<Secret> {
    const body = { metadata: { ...metadata, resourceVersion: resourceVersionOf(version) }, data };
    try {
      return await this.#api.patch<Secret>(SECRETS, this.#key(stack), 'merge', body);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code !== 'NotFound') throw error;
      throw new OperatorError('Conflict', `Secret ${this.#key(stack)} was deleted meanwhile`, { cause: error });
    }
  }

  /** What is stored now, when a write lost a race; undefined when it failed for another reason or nothing is stored. */
  async #afterConflict(stack: string, thrown: unknown): Promise<{ metadata: StackMetadata; version: string } | undefined> {
    if (!(thrown instanceof OperatorError) || thrown.code !== 'Conflict') return undefined;
    const secret = await this.#named(() => this.#api.get<Secret>(SECRETS, this.#key(stack)));
    if (secret === undefined) return undefined;
    const metadata = decodeMetadata(secret.metadata, this.#where(stack));
    return { metadata, version: versionOf(secret, metadata) };
  }

  /** A key that we don't know may have come with a rotation: the keys are read once more. */
  async #decode(secret: Secret, stack: string): Promise<OpenedSecret> {
    try {
      return this.#open(secret, await this.keyring(), stack);
    } catch (thrown) {
      if (!(thrown instanceof OperatorError) || thrown.reason !== 'WrongKey') throw thrown;
      this.#known = undefined;
      return this.#open(secret, await this.keyring(), stack);
    }
  }

  #open(secret: Secret, ring: Keyring, stack: string): OpenedSecret {
    const known = this.#opened.get(secret, ring);
    if (known !== undefined) return known;
    const opened = decodeSecret(secret, ring, this.#where(stack));
    this.#opened.keep(secret, ring, opened);
    return opened;
  }

  /** Says in every error which store it is about. */
  async #named<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.reason !== undefined) throw error;
      const { code, remedy } = causeOf(error);
      throw new OperatorError(code, `state store (${this.name}): ${error.message}`, {
        cause: error,
        remedy: error.remedy ?? remedy,
        ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
        ...(code === 'Conflict' ? {} : { reason: 'StateStoreUnavailable' }),
      });
    }
  }

  #key(stack: string): string {
    return `${this.#namespace}/${secretName(stack)}`;
  }

  #where(stack: string): string {
    return `state Secret ${this.#key(stack)}`;
  }
}

type Fields = Omit<Awaited<ReturnType<typeof encodeSecret>>, 'bytes'>;
type StateRoom = Parameters<typeof assertStorable>[2];

/** An update that grows more than was expected stops halfway between the two limits: what is left is for what it has made unrecorded, and to take that away again. */
function roomOf(limitBytes: number, maxBytes: number): { growth: StateRoom; all: StateRoom } {
  const growth = Math.min(maxBytes, Math.round((limitBytes + maxBytes) / 2));
  return { growth: { maxBytes: growth, who: 'an update makes it' }, all: { maxBytes, who: 'a Secret holds' } };
}

function versionOf({ metadata }: Secret, record: StackRecord | StackMetadata): string {
  return `${metadata.resourceVersion} ${identityOf(record)}`;
}

function resourceVersionOf(version: string): string {
  return version.split(' ')[0] ?? '';
}

/** The stack is as it was written then; only labels or annotations of others changed. */
function isSameWrite(version: string, expected: string | undefined): boolean {
  return expected !== undefined && version.slice(version.indexOf(' ')) === expected.slice(expected.indexOf(' '));
}

/** The class of a failed request, and what helps. Pure. */
function causeOf({ code, message }: OperatorError): { code: ErrorCode; remedy: string } {
  // Creating in a namespace that doesn't exist is answered 404.
  if (code === 'NotFound') return { code: 'Invalid', remedy: 'create the namespace, or name another one with --state-namespace' };
  if (FULL.test(message))
    return { code, remedy: 'etcd is full: compact and defragment it or raise --quota-backend-bytes, then etcdctl alarm disarm' };
  return { code, remedy: 'bring the API server and etcd back; nothing else needs to be done' };
}
