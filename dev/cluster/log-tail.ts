import { open } from 'node:fs/promises';

const TAIL_BYTES = 16 * 1024;

/** The last lines of a log file, for the message of a failure; empty when the file isn't there. */
export async function logTail(path: string, lines: number): Promise<string[]> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
      const text = buffer.subarray(0, bytesRead).toString('utf8');
      return text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-lines);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}
