import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { OperatorError } from '../../../../operator/base/errors';

const WAIT_MS = 5000;
const STEP_MS = 5;
/** What is done under the lock takes milliseconds: one this old was left by a process that died. */
const STALE_MS = 10_000;

/**
 * Runs `work` while no other process of this machine holds the lock at `path`. Blocks this process: for work of milliseconds.
 * @throws OperatorError Transient when the lock can't be had within `waitMs`
 */
export function withFolderLock<T>(path: string, work: () => T, waitMs: number = WAIT_MS): T {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; !tryLock(path); waited += STEP_MS) {
    if (waited >= waitMs) throw new OperatorError('Transient', `another process holds ${path}; remove that folder if there is none`);
    Atomics.wait(cell, 0, 0, STEP_MS);
  }
  try {
    return work();
  } finally {
    rmdirSync(path);
  }
}

function tryLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeStale(path);
    return false;
  }
}

function removeStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_MS) rmdirSync(path);
  } catch (error) {
    // Just given back, or another user's.
    if (!['ENOENT', 'EPERM', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
