import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep, systemClock } from '../operator/base/clock';
import { identifyProcess, isRunning, type LiveProcess } from './live-process';

const POLL_MS = 200;

/**
 * Takes a lock file for this process. The file holds its owner; that of a process which is gone is taken over.
 * @returns the function that gives it back, or the live process that has it
 */
export function tryLock(path: string): { release: () => void } | { owner: LiveProcess } {
  mkdirSync(dirname(path), { recursive: true });
  const content = JSON.stringify(identifyProcess());
  while (!tryCreate(path, content)) {
    const seen = read(path);
    if (seen === undefined) continue; // given back this very moment
    const owner = parseOwner(seen);
    if (owner !== undefined && isRunning(owner)) return { owner };
    removeStale(path, seen);
  }
  const release = (): void => {
    process.off('exit', release);
    if (read(path) === content) rmSync(path, { force: true });
  };
  process.once('exit', release);
  return { release };
}

/**
 * Runs `work` while no other process runs under the same lock file.
 * Files made under it are renamed into place, so should two ever run at once, work is done twice and nothing is spoilt.
 * @param onWait called once with the id of the process that is waited for
 */
export async function withLock<T>(path: string, onWait: (pid: number) => void, work: () => Promise<T>): Promise<T> {
  let waited = false;
  for (;;) {
    const lock = tryLock(path);
    if ('release' in lock) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (!waited) onWait(lock.owner.pid);
    waited = true;
    await sleep(systemClock, POLL_MS);
  }
}

/** By a link, so that the lock is never seen without its content. */
function tryCreate(path: string, content: string): boolean {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  try {
    linkSync(temporary, path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Takes the file away first and looks then, so that a lock which somebody else has just renewed is put back. */
function removeStale(path: string, seen: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw thrown;
  }
  const taken = read(aside);
  if (taken !== undefined && taken !== seen) tryCreate(path, taken);
  rmSync(aside, { force: true });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function parseOwner(content: string): LiveProcess | undefined {
  try {
    const owner = JSON.parse(content) as Partial<LiveProcess> | null;
    return typeof owner?.pid === 'number' ? (owner as LiveProcess) : undefined;
  } catch {
    return undefined; // not written by us: as good as stale
  }
}
