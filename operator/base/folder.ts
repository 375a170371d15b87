import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it that are missing; one that is there is left as it is. Node's own `recursive` never returns where the system says that
 * a folder's parent is missing although it is there, as in /proc.
 * @param mode of each folder that is made
 * @throws the error of the system call that failed
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || existsSync(above)) throw thrown;
    makeFolder(above, mode);
    makeFolder(path, mode);
  }
}
