import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError, toOperatorError } from '../../base/errors';
import { systemErrorOf } from '../../base/system-error';
import { type Keyring, newKeyring } from './keyring';
import { KeyringEnvelope, type KeyProtection } from './keyring-envelope';
import { decodeHeader, decodeRecord, encodeRecord, encodeRemoval, type FileHeader } from './record-file';
import type { StackMetadata, StackRecord } from './stack-record';
import type { StackListing, StateStore, StoredStack } from './state-store';

const SUFFIX = '.state';
/** A removed stack's last file stays this long, longer than any update lives, so that a late writer loses against it. */
const KEEP_REMOVED_MS = 24 * 3_600_000;

/**
 * Stacks in a directory of a local file system, shared by processes without a lock: `stacks/<stack>/<version>.state`, the highest version holds.
 * A write makes a temporary file, syncs it, and links it as the next version; the link fails when somebody else was faster, and a link below the
 * highest version is taken back.
 */
export class DirectoryStateStore implements StateStore {
  readonly #stacks: string;
  readonly #envelope: KeyringEnvelope;

  constructor(
    private readonly path: string,
    keys: KeyProtection = {},
  ) {
    this.#stacks = join(path, 'stacks');
    this.#envelope = new KeyringEnvelope(keys);
  }

  get name(): string {
    return `the folder ${this.path}`;
  }

  read(stack: string): Promise<StoredStack | undefined> {
    return this.#named(() => this.#read(stack));
  }

  write(record: StackRecord, expected: string | undefined): Promise<string> {
    return this.#named(() => this.#write(record, expected));
  }

  remove(stack: string, expected: string): Promise<void> {
    return this.#named(() => this.#remove(stack, expected));
  }

  list(): Promise<StackListing> {
    return this.#named(() => this.#list());
  }

  keyring(): Promise<Keyring> {
    return this.#named(() => this.#keyring());
  }

  async #read(stack: string): Promise<StoredStack | undefined> {
    const folder = this.#folder(stack);
    const latest = await this.#latest(folder);
    if (latest === undefined) return undefined;
    const record = decodeRecord(latest.bytes, latest.path, await this.#keyring());
    return record === undefined ? undefined : { record, version: String(latest.version), bytes: latest.bytes.length };
  }

  async #write(record: StackRecord, expected: string | undefined): Promise<string> {
    const folder = this.#folder(record.stack);
    const current = await this.#latest(folder);
    const present = current === undefined ? undefined : decodeHeader(current.bytes, current.path);
    this.#assertExpected(record.stack, current?.version, present, expected);
    return this.#append(folder, (current?.version ?? 0) + 1, encodeRecord(record, await this.#keyring()));
  }

  async #remove(stack: string, expected: string): Promise<void> {
    const folder = this.#folder(stack);
    const current = await this.#latest(folder);
    const present = current === undefined ? undefined : decodeHeader(current.bytes, current.path);
    this.#assertExpected(stack, current?.version, present, expected);
    if (current === undefined || present === undefined) return;
    await this.#append(folder, current.version + 1, encodeRemoval({ ...present.metadata, updatedAt: new Date().toISOString() }));
  }

  async #list(): Promise<StackListing> {
    const names = await readdir(this.#stacks).catch(noneOf('ENOENT', [] as string[]));
    const listing: StackListing = { stacks: [], damaged: [] };
    for (const name of names) {
      try {
        const metadata = await this.#metadata(join(this.#stacks, name));
        if (metadata !== undefined) listing.stacks.push(metadata);
      } catch (thrown) {
        listing.damaged.push(toOperatorError(thrown));
      }
    }
    return listing;
  }

  async #keyring(): Promise<Keyring> {
    const stored = await this.#storedKeyring();
    if (stored !== undefined) return this.#envelope.open(stored, `the key file ${this.#keyFile}`);
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const temporary = await this.#temporary(this.path, Buffer.from(await this.#envelope.first(newKeyring())));
    // Of two first users one wins; both then use the winner's key.
    await this.#publish(temporary, this.#keyFile);
    await syncFolder(this.path);
    return this.#keyring();
  }

  /** Unlike in the cluster, two people who do this at the same moment are not told apart. */
  changeKeyring(change: (ring: Keyring) => Keyring, secretsProvider?: string): Promise<Keyring> {
    return this.#named(async () => {
      const changed = change(await this.#keyring());
      const text = await this.#envelope.replace((await this.#storedKeyring()) ?? '', changed, secretsProvider);
      await withoutRest(await this.#temporary(this.path, Buffer.from(text)), (temporary) => rename(temporary, this.#keyFile));
      await syncFolder(this.path);
      return changed;
    });
  }

  /** Says in every error of the system which store it is about. A folder that can't be written to needs a person; a full disk may get room again. */
  async #named<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (thrown) {
      const system = systemErrorOf(thrown) ?? systemErrorOf((thrown as Error).cause);
      if (system === undefined) throw toOperatorError(thrown);
      const { message, remedy, unusable } = system;
      throw new OperatorError(unusable ? 'Invalid' : 'Transient', `state store (${this.name}): ${message}`, {
        ...{ reason: 'StateStoreUnavailable', remedy, cause: thrown },
      });
    }
  }

  get #keyFile(): string {
    return join(this.path, 'keyring.json');
  }

  async #storedKeyring(): Promise<string | undefined> {
    return (await readFile(this.#keyFile).catch(noneOf('ENOENT', undefined)))?.toString('utf8');
  }

  async #metadata(folder: string): Promise<StackMetadata | undefined> {
    const latest = await this.#latest(folder);
    if (latest === undefined) return undefined;
    const header = decodeHeader(latest.bytes, latest.path);
    if (!header.removed) return header.metadata;
    await this.#forget(folder, latest.path);
    return undefined;
  }

  #assertExpected(stack: string, version: number | undefined, present: FileHeader | undefined, expected: string | undefined): void {
    const actual = present === undefined || present.removed ? undefined : String(version);
    if (actual === expected) return;
    throw new OperatorError(
      'Conflict',
      `stack ${stack} is at version ${actual ?? 'none'}, not ${expected ?? 'none'}: another writer was faster`,
    );
  }

  async #append(folder: string, version: number, bytes: Buffer): Promise<string> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = await this.#temporary(folder, bytes);
    const target = join(folder, `${version}${SUFFIX}`);
    if (!(await this.#publish(temporary, target))) throw lostRace(folder, version);
    const versions = await versionsIn(folder);
    if (versions.some((other) => other > version)) {
      await unlink(target);
      throw lostRace(folder, version);
    }
    await syncFolder(folder);
    await Promise.all(versions.filter((other) => other < version).map((other) => rm(join(folder, `${other}${SUFFIX}`), { force: true })));
    return String(version);
  }

  /** Gives what was written its name. @returns false when somebody else was faster */
  #publish(temporary: string, name: string): Promise<boolean> {
    return withoutRest(temporary, () => link(temporary, name).then(() => true, noneOf('EEXIST', false)));
  }

  async #temporary(folder: string, bytes: Buffer): Promise<string> {
    const path = join(folder, `.${randomUUID()}.tmp`);
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.datasync();
    } catch (thrown) {
      // On a full disk, it would take the room that is waited for.
      await rm(path, { force: true });
      throw thrown;
    } finally {
      await file.close();
    }
    return path;
  }

  /** The newest file of a stack. A file that vanishes between listing and reading was superseded: look again. */
  async #latest(folder: string): Promise<{ version: number; path: string; bytes: Buffer } | undefined> {
    for (;;) {
      const version = Math.max(...(await versionsIn(folder)));
      if (!Number.isFinite(version)) return undefined;
      const path = join(folder, `${version}${SUFFIX}`);
      const bytes = await readFile(path).catch(noneOf('ENOENT', undefined));
      if (bytes !== undefined) return { version, path, bytes };
    }
  }

  async #forget(folder: string, path: string): Promise<void> {
    const removedAt = await stat(path).catch(noneOf('ENOENT', undefined));
    if (removedAt !== undefined && Date.now() - removedAt.mtimeMs > KEEP_REMOVED_MS) await rm(folder, { recursive: true, force: true });
  }

  #folder(stack: string): string {
    return join(this.#stacks, encodeURIComponent(stack));
  }
}

/** Works with a temporary file, of which nothing stays, whatever happens. */
async function withoutRest<T>(temporary: string, work: (temporary: string) => Promise<T>): Promise<T> {
  try {
    return await work(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function versionsIn(folder: string): Promise<number[]> {
  const files = await readdir(folder).catch(noneOf('ENOENT', [] as string[]));
  return files.filter((file) => file.endsWith(SUFFIX)).map((file) => Number(file.slice(0, -SUFFIX.length)));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** For catch: gives `value` for one system error code, and throws everything else as OperatorError. */
function noneOf<T>(code: string, value: T): (thrown: unknown) => T {
  return (thrown) => {
    if ((thrown as NodeJS.ErrnoException).code === code) return value;
    throw toOperatorError(thrown);
  };
}

function lostRace(folder: string, version: number): OperatorError {
  return new OperatorError('Conflict', `version ${version} in ${folder} was written by somebody else first`);
}
