import { constants } from 'node:fs';
import { open, readFile, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Json } from '../../../operator/base/json';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';

/** Where the fault `crash` ends the process, seen from one record. */
export type CrashPoint = 'before' | 'torn' | 'after';

export interface JournalOptions {
  directory: string;
  /** A snapshot replaces the journal when that grows beyond this many bytes. */
  compactAtBytes?: number;
  /** The state with all records up to now applied, for the snapshot. */
  image: () => unknown;
  /** Ends the process at a crash point; must not come back. */
  kill?: () => void;
  /** Told once when a write fails. */
  onFailure?: (error: OperatorError) => void;
}

/** What a start finds on disk. */
export interface Recovered {
  snapshot?: Json;
  /** Records that the snapshot does not hold, in order. */
  records: Json[];
  /** Bytes of an unfinished last record that were dropped. */
  tornBytes: number;
}

interface Waiting {
  line: Buffer;
  crash?: CrashPoint;
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Line {
  seq: number;
  data: Json;
}

const COMPACT_AT_BYTES = 8 * 1024 * 1024;

/**
 * The durable memory of the cloud: `journal`, one line `<crc32> {"seq":n,"data":…}` per record, and `snapshot`, one such line with the whole state.
 * A record counts when its line ends in a newline; the process may die at any byte. Records that come at once share one fsync.
 */
export class Journal {
  private readonly file: string;
  private readonly snapshotFile: string;
  private readonly waiting: Waiting[] = [];
  private handle: FileHandle | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private busy = false;
  private failure: OperatorError | undefined;
  private seq = 0;
  private size = 0;
  private snapshotSize = 0;

  constructor(private readonly options: JournalOptions) {
    this.file = join(options.directory, 'journal');
    this.snapshotFile = join(options.directory, 'snapshot');
  }

  /** Bytes in the journal file. */
  get bytes(): number {
    return this.size;
  }

  /** Set when a write failed: what is on disk is no longer known, and nothing more is written. */
  get failed(): OperatorError | undefined {
    return this.failure;
  }

  /**
   * Reads what is there and opens the journal for writing.
   * @throws OperatorError Invalid when anything but an unfinished last record is damaged
   */
  async open(): Promise<Recovered> {
    const snapshot = await this.readSnapshot();
    const text = await readIfThere(this.file);
    const whole = text.lastIndexOf(0x0a) + 1;
    const records = this.decodeAll(text.subarray(0, whole), snapshot?.seq ?? 0);
    this.handle = await open(this.file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    if (whole < text.length) {
      await this.handle.truncate(whole);
      await this.handle.sync();
    }
    await syncDirectory(this.options.directory);
    this.size = whole;
    return { ...(snapshot === undefined ? {} : { snapshot: snapshot.data }), records, tornBytes: text.length - whole };
  }

  /** Queues a record; resolves when it is durable. */
  append(data: Json, crash?: CrashPoint): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const line = encode({ seq: ++this.seq, data });
    return new Promise((resolve, reject) => {
      this.waiting.push({ line, resolve, reject, ...(crash === undefined ? {} : { crash }) });
      if (!this.busy) this.flushing = this.flush();
    });
  }

  /** Resolves when every record queued so far is durable. */
  async durable(): Promise<void> {
    if (this.busy) await this.flushing;
    if (this.failure !== undefined) throw this.failure;
  }

  async close(): Promise<void> {
    await this.flushing;
    await this.handle?.close();
    this.handle = undefined;
  }

  private async flush(): Promise<void> {
    this.busy = true;
    // One turn of the event loop lets the records of requests that arrived together share the fsync.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        await this.write(batch);
      } catch (error) {
        this.fail(error, batch);
        break;
      }
      for (const { resolve } of batch) resolve();
    }
    this.busy = false;
  }

  private async write(batch: Waiting[]): Promise<void> {
    const handle = this.handle;
    if (handle === undefined) throw new OperatorError('Canceled', 'the journal is closed');
    const crashAt = batch.findIndex(({ crash }) => crash === 'before' || crash === 'torn');
    const bytes = Buffer.concat(crashAt < 0 ? batch.map(({ line }) => line) : linesUntilCrash(batch, crashAt));
    await handle.appendFile(bytes);
    await handle.datasync();
    this.size += bytes.length;
    if (batch.some(({ crash }) => crash !== undefined)) this.kill();
    // To write a large state costs as much as to write it in changes: that is done as seldom as it is large.
    if (this.size > Math.max(this.options.compactAtBytes ?? COMPACT_AT_BYTES, this.snapshotSize)) await this.compact(handle);
  }

  /** Snapshot first, then an empty journal: dying in between leaves records that the snapshot's seq makes harmless. */
  private async compact(handle: FileHandle): Promise<void> {
    const line = encode({ seq: this.seq, data: this.options.image() as Json });
    const temporary = `${this.snapshotFile}.tmp`;
    this.snapshotSize = line.length;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(line);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.snapshotFile);
    await syncDirectory(this.options.directory);
    await handle.truncate(0);
    await handle.datasync();
    this.size = 0;
  }

  private kill(): void {
    (this.options.kill ?? killSelf)();
  }

  private fail(thrown: unknown, batch: Waiting[]): void {
    const cause = toOperatorError(thrown);
    this.failure = new OperatorError('Unknown', `${this.file} can't be written: ${cause.message}`, {
      cause,
      remedy: 'make room or repair the file system, then start the local cloud again',
    });
    this.options.onFailure?.(this.failure);
    for (const { reject } of [...batch, ...this.waiting.splice(0)]) reject(this.failure);
  }

  private async readSnapshot(): Promise<Line | undefined> {
    await unlink(`${this.snapshotFile}.tmp`).catch(ignoreMissing);
    const text = await readIfThere(this.snapshotFile);
    if (text.length === 0) return undefined;
    const line = decode(text.subarray(0, text.length - 1));
    this.snapshotSize = text.length;
    if (line === undefined) throw damaged(this.snapshotFile, 'its checksum does not match');
    this.seq = line.seq;
    return line;
  }

  private decodeAll(text: Buffer, snapshotSeq: number): Json[] {
    const records: Json[] = [];
    let previous: number | undefined;
    for (let start = 0, number = 1; start < text.length; number++) {
      const end = text.indexOf(0x0a, start);
      const line = decode(text.subarray(start, end));
      if (line === undefined) throw damaged(this.file, `line ${number} (byte ${start}) is not a record with a matching checksum`);
      const follows = previous === undefined ? line.seq <= snapshotSeq + 1 : line.seq === previous + 1;
      if (!follows) throw damaged(this.file, `line ${number} (byte ${start}) is record ${line.seq}: records before it are missing`);
      if (line.seq > snapshotSeq) records.push(line.data);
      previous = line.seq;
      start = end + 1;
    }
    this.seq = Math.max(snapshotSeq, previous ?? 0);
    return records;
  }
}

/** The whole lines before the record that crashes, and half of that one when it is to be torn. */
function linesUntilCrash(batch: Waiting[], crashAt: number): Buffer[] {
  const lines = batch.slice(0, crashAt).map(({ line }) => line);
  const last = batch[crashAt];
  return last?.crash === 'torn' ? [...lines, last.line.subarray(0, Math.floor(last.line.length / 2))] : lines;
}

function encode(line: Line): Buffer {
  const text = JSON.stringify(line);
  return Buffer.from(`${checksum(Buffer.from(text))} ${text}\n`);
}

function decode(line: Buffer): Line | undefined {
  const text = line.subarray(9);
  if (line.length < 10 || line[8] !== 0x20 || line.subarray(0, 8).toString('latin1') !== checksum(text)) return undefined;
  return JSON.parse(text.toString('utf8')) as Line;
}

function checksum(text: Buffer): string {
  return crc32(text).toString(16).padStart(8, '0');
}

function damaged(file: string, problem: string): OperatorError {
  return new OperatorError('Invalid', `${file} is damaged: ${problem}`, {
    remedy: 'restore the directory from a copy, or start with an empty directory: the operator makes its resources again',
  });
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function readIfThere(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    ignoreMissing(error as NodeJS.ErrnoException);
    return Buffer.alloc(0);
  }
}

/** Makes a created or renamed file's name durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
