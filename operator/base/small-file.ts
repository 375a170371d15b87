import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { OperatorError } from './errors';

const KIB = 1024;
/** Far more than any configuration or credential; far less than what hurts. */
const MAX_KIB = 1024;

export interface SmallFileLimits {
  /** Largest size in KiB; absent = 1024. */
  maxKiB?: number;
  /** Refuse devices, pipes and sockets: for paths that come from an object of the cluster, not from the one who starts the process. */
  regular?: boolean;
}

/**
 * Reads a configuration or credential file, and never more of it than the limit: `/dev/zero` has no end.
 * @returns its text
 * @throws OperatorError Invalid that begins with the path and says what is wrong; never with anything of the content
 */
export function readSmallFile(path: string, { maxKiB = MAX_KIB, regular = false }: SmallFileLimits = {}): string {
  try {
    // Without O_NONBLOCK the opening of a pipe waits for its other end.
    const file = openSync(path, constants.O_RDONLY | (regular ? constants.O_NONBLOCK : 0));
    try {
      if (regular && !fstatSync(file).isFile()) throw new OperatorError('Invalid', `${path} is not a regular file`);
      return readUpTo(file, maxKiB * KIB, `${path} is larger than ${maxKiB} KiB`);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (thrown instanceof OperatorError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw new OperatorError('Invalid', `${path} ${code === 'ENOENT' ? 'does not exist' : `can't be read (${code ?? message})`}`, {
      cause: thrown,
    });
  }
}

function readUpTo(file: number, limit: number, tooLarge: string): string {
  const bytes = Buffer.allocUnsafe(limit + 1);
  let length = 0;
  for (let got = -1; got !== 0 && length <= limit; length += got) got = readSync(file, bytes, length, bytes.length - length, null);
  if (length > limit) throw new OperatorError('Invalid', tooLarge);
  return bytes.toString('utf8', 0, length);
}
