import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The system takes paths of unix sockets up to 107 bytes; macOS 103. */
const LONGEST_PATH = 103;
/** `/<instance id>.pods`, generously. */
const LONGEST_NAME = 48;

/** The folder of a cloud's unix sockets: in its own folder, or in the temporary one where that path would be too long. */
export class SocketFolder {
  readonly path: string;

  constructor(directory: string) {
    const own = join(directory, 'sockets');
    const short = join(tmpdir(), `localcloud-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`);
    this.path = Buffer.byteLength(own) + LONGEST_NAME <= LONGEST_PATH ? own : short;
  }

  /** Makes it anew and empty: what is in it is of a process that has ended. */
  create(): void {
    this.remove();
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Path of a socket; names that are too long are shortened to a digest. */
  socket(name: string): string {
    const file = name.length < LONGEST_NAME ? name : createHash('sha256').update(name).digest('hex').slice(0, 32);
    return join(this.path, file);
  }
}
