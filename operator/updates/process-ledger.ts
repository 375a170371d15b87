import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killSession, sessionOf } from './process-session';
import { pidWorld, statOf } from './process-stat';
import { removeWorkerFolder } from './worker-folder';

interface KnownProcess {
  pid: number;
  startTime: number;
}

interface Entry {
  world: string;
  operator: KnownProcess;
  worker: KnownProcess;
  /** The worker's own, removed with it. */
  folder: string;
}

/**
 * The workers of the operators of one user on this machine, one file each, so that the next operator finds and ends what a dead one has left. A worker is only
 * ended when pid and start time are those written down, and what has outlived it when it works in the worker's folder: so never somebody else's.
 */
export class ProcessLedger {
  private readonly world = pidWorld();
  private readonly usable: boolean;

  /** @param directory made when absent; operators that share it look after each other's orphans */
  constructor(
    private readonly directory: string,
    private readonly logger: { warn(fields: object, message: string): void },
  ) {
    this.usable = this.world !== '' && this.written(() => mkdirSync(directory, { recursive: true, mode: 0o700 })) && isOurs(directory);
    if (!this.usable)
      logger.warn({ directory }, 'update processes are not written down: the folder is not ours alone, or there is no /proc');
  }

  running(worker: number, folder: string): void {
    const operator = known(process.pid);
    const leader = known(worker);
    if (!this.usable || operator === undefined || leader === undefined) return;
    const entry: Entry = { world: this.world, operator, worker: leader, folder };
    this.written(() => writeFileSync(this.path(worker), JSON.stringify(entry), { mode: 0o600 }));
  }

  ended(worker: number): void {
    this.written(() => rmSync(this.path(worker), { force: true }));
  }

  /** Ends what dead operators left. @returns how many workers, with all that they had started, were ended */
  endOrphans(): number {
    if (!this.usable) return 0;
    return this.entries().filter(({ file, entry }) => {
      const isOther = entry === undefined || entry.world !== this.world;
      if (!isOther && isAlive(entry.operator)) return false;
      const orphan = !isOther && this.end(entry);
      if (!isOther) removeWorkerFolder(entry.folder, this.logger);
      rmSync(join(this.directory, file), { force: true });
      return orphan;
    }).length;
  }

  /** Updates go on without the ledger, as where the disk is full; only orphans would stay then. */
  private written(write: () => void): boolean {
    try {
      write();
      return true;
    } catch (thrown) {
      this.logger.warn(
        { directory: this.directory, error: (thrown as Error).message },
        'the ledger of update processes can not be written',
      );
      return false;
    }
  }

  private end({ worker, folder, operator }: Entry): boolean {
    if (!isAlive(worker) && !sessionOf(worker.pid).some((pid) => worksIn(folder, pid))) return false;
    this.logger.warn({ worker: worker.pid, operator: operator.pid }, 'ending the update processes of an operator that has died');
    killSession(worker.pid);
    return true;
  }

  private entries(): { file: string; entry: Entry | undefined }[] {
    const files = readdirSync(this.directory).filter((file) => /^[0-9]+\.json$/.test(file));
    return files.map((file) => ({ file, entry: parsed(join(this.directory, file)) }));
  }

  private path(worker: number): string {
    return join(this.directory, `${worker}.json`);
  }
}

/** Where the operators of this user write their ledger, unless they are told otherwise. */
export function ledgerDirectory(): string {
  return join(tmpdir(), `cloud-operator-${process.getuid?.() ?? 0}`);
}

function known(pid: number): KnownProcess | undefined {
  const stat = statOf(pid);
  return stat === undefined ? undefined : { pid, startTime: stat.startTime };
}

function isAlive({ pid, startTime }: KnownProcess): boolean {
  return statOf(pid)?.startTime === startTime;
}

/** An engine or a plugin; the folder may be gone by now. */
function worksIn(folder: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

/** What others could write there would be an order to us to end a process. */
function isOurs(directory: string): boolean {
  const stat = lstatSync(directory);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** undefined for a file that a dying operator has written in part: it names nobody for certain. */
function parsed(path: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}
