import { rmSync } from 'node:fs';

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
