import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

interface Logger {
  warn(fields: object, message: string): void;
}

/**
 * The workers of the operators of one user on this machine, one file each, so that the next operator finds and ends what a dead one has left. A worker is only
 * ended when pid and start time are those written down, and what has outlived it when it works in the worker's folder: so never somebody else's. Nothing here
 * throws: whatever is wrong with the disk, an operator leads without its ledger rather than not at all.
 */
export class ProcessLedger {
  private readonly world = pidWorld();

  /** @param directory made when absent; operators that share it look after each other's orphans */
  constructor(
    private readonly directory: string,
    private readonly logger: Logger,
  ) {
    if (this.world === '') logger.warn({ directory }, 'update processes are not written down: there is no /proc');
  }

  running(worker: number, folder: string): void {
    const operator = known(process.pid);
    const leader = known(worker);
    if (operator === undefined || leader === undefined || !this.isUsable()) return;
    const entry: Entry = { world: this.world, operator, worker: leader, folder };
    this.tried('written', () => {
      // Under its name when it is whole: who starts beside this operator would take half of it for nobody's.
      writeFileSync(`${this.path(worker)}.new`, JSON.stringify(entry), { mode: 0o600 });
      renameSync(`${this.path(worker)}.new`, this.path(worker));
    });
  }

  ended(worker: number): void {
    this.tried('written', () => rmSync(this.path(worker), { force: true }));
  }

  /** Ends what dead operators left; the workers of one that lives, leader or not, are its own. @returns how many workers, with all that they had started, were ended */
  endOrphans(): number {
    if (!this.isUsable()) return 0;
    let ended = 0;
    this.tried('read', () => {
      for (const { file, entry } of this.entries()) this.tried('cleared', () => (ended += this.settled(file, entry) ? 1 : 0));
    });
    return ended;
  }

  /** Asked each time: what cleans up temporary folders takes away one that was not written to for days. */
  private isUsable(): boolean {
    const { directory, world } = this;
    if (world === '' || !this.tried('made', () => mkdirSync(directory, { recursive: true, mode: 0o700 }))) return false;
    const ours = isOurs(directory);
    if (!ours) this.logger.warn({ directory }, 'update processes are not written down: the folder is not ours alone');
    return ours;
  }

  /** Ends what an entry speaks of, where its operator has died, and removes it. @returns whether anything of it was left */
  private settled(file: string, entry: Entry | undefined): boolean {
    const isOther = entry === undefined || entry.world !== this.world;
    if (!isOther && isAlive(entry.operator)) return false;
    const orphan = !isOther && this.end(entry);
    if (!isOther) removeWorkerFolder(entry.folder, this.logger);
    this.tried('cleared', () => rmSync(join(this.directory, file), { force: true }));
    return orphan;
  }

  /** Updates go on without the ledger, as where the disk is full or can only be read; only orphans could stay then. */
  private tried(what: string, act: () => void): boolean {
    try {
      act();
      return true;
    } catch (thrown) {
      const { directory } = this;
      this.logger.warn({ directory, error: (thrown as Error).message }, `the ledger of update processes can not be ${what}`);
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
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** undefined for a file that a dying operator has written in part: it names nobody for certain. */
function parsed(path: string): Entry | undefined {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as Entry | null) ?? undefined;
  } catch {
    return undefined;
  }
}
