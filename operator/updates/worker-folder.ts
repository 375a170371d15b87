import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a worker and its engine need (WorkerFolders). */
const PARTS = ['home', 'work', 'tmp'];

/**
 * Makes the folder of a worker with all that must be there before it starts: what is wrong with the temporary folder shall be told by who starts it, as
 * a worker that can't begin just ends.
 * @throws what the file system says, with the path; nothing is left then
 */
export function makeWorkerFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'cloud-operator-worker-')));
  try {
    for (const part of PARTS) mkdirSync(join(folder, part), { mode: 0o700 });
    return folder;
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true });
    throw thrown;
  }
}

/**
 * Removes the folder of a worker that has ended. An engine that was killed with it may still write for a moment; what stays then is in nobody's way, and
 * no reason to end the operator.
 */
export function removeWorkerFolder(folder: string, logger: { warn(fields: object, message: string): void }): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
  } catch (thrown) {
    logger.warn({ folder, error: (thrown as Error).message }, 'the folder of a worker process that has ended can not be removed');
  }
}
