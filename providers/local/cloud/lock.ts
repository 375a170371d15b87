import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../../operator/base/errors';

/**
 * One process per directory: the file `lock` names it by process id and start time. The lock of a process that has died is taken over.
 * @returns gives the lock back
 * @throws OperatorError Conflict when another process holds it
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const file = join(directory, 'lock');
  const mine = `${process.pid} ${await startTime(process.pid)}\n`;
  const draft = join(directory, `lock.${process.pid}`);
  await writeFile(draft, mine, { mode: 0o600 });
  try {
    if (!(await tryLink(draft, file))) {
      await takeOver(file, directory);
      if (!(await tryLink(draft, file))) throw held(directory, 'a process that started at the same time');
    }
  } finally {
    await unlink(draft);
  }
  return async () => {
    if ((await readIfThere(file)) === mine) await unlink(file);
  };
}

/** Moves a dead process's lock away. Somebody who did so a moment earlier may hold the lock by now: then theirs is put back. */
async function takeOver(file: string, directory: string): Promise<void> {
  const found = await readIfThere(file);
  if (found === undefined) return;
  const [pid = '', start = ''] = found.trim().split(' ');
  if ((await startTime(Number(pid))) === start && start !== '') throw held(directory, `process ${pid}`);
  const moved = join(directory, `lock.stale.${process.pid}`);
  await rename(file, moved).catch(ignoreMissing);
  const content = await readIfThere(moved);
  if (content !== undefined && content !== found) {
    await tryLink(moved, file);
    await unlink(moved);
    throw held(directory, `process ${content.split(' ')[0]}`);
  }
  await unlink(moved).catch(ignoreMissing);
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** When the process started, in the kernel's words; `alive` where the kernel has none to offer, '' when there is no such process. */
async function startTime(pid: number): Promise<string> {
  const status = await readIfThere(`/proc/${pid}/stat`);
  // The command's name, in brackets, may hold spaces; start time is the 20th field after it.
  const field = status?.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  if (field !== undefined) return field;
  return isAlive(pid) ? 'alive' : '';
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function held(directory: string, holder: string): OperatorError {
  return new OperatorError('Conflict', `${directory} is in use by ${holder}`, {
    remedy: 'stop that local cloud first, or choose another directory',
  });
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    ignoreMissing(error as NodeJS.ErrnoException);
    return undefined;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
}
