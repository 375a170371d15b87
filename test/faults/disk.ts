import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(64 * 1024);

/** A small file system of its own, that can be filled. Needs root; where that is missing it is a plain folder that never gets full. */
export class SmallDisk {
  private constructor(
    readonly path: string,
    readonly canFill: boolean,
  ) {}

  static mount(path: string, megabytes: number): SmallDisk {
    mkdirSync(path, { recursive: true });
    if (process.getuid?.() !== 0) return new SmallDisk(path, false);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path], { stdio: 'pipe' });
      return new SmallDisk(path, true);
    } catch {
      return new SmallDisk(path, false); // root of a container without the right to mount
    }
  }

  /** Leaves not a byte. */
  fill(): void {
    if (!this.canFill) return;
    const file = openSync(this.ballast, 'w');
    for (let size = BLOCK.length; size >= 1; size = Math.floor(size / 8)) while (fits(file, size)) continue;
    closeSync(file);
  }

  clear(): void {
    rmSync(this.ballast, { force: true });
  }

  /** Lets nobody write any more, or lets them write again. */
  setReadOnly(readOnly: boolean): void {
    if (this.canFill) execFileSync('mount', ['-o', `remount,${readOnly ? 'ro' : 'rw'}`, this.path], { stdio: 'pipe' });
  }

  unmount(): void {
    if (this.canFill) execFileSync('umount', ['--lazy', this.path], { stdio: 'pipe' });
  }

  private get ballast(): string {
    return join(this.path, 'ballast');
  }
}

function fits(file: number, size: number): boolean {
  try {
    return writeSync(file, BLOCK, 0, size) > 0;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
    return false;
  }
}
