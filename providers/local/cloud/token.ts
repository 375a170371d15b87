import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../../../operator/base/errors';
import { makeFolder } from '../../../operator/base/folder';

const SHORTEST = 16;

/**
 * Reads the token; makes one at the first start. Nobody else may read the file.
 * @throws OperatorError Invalid when the file is empty, short, or readable for others
 */
export async function readOrMakeToken(file: string): Promise<string> {
  makeFolder(dirname(file));
  await make(file);
  const [text, { mode }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
  if ((mode & 0o077) !== 0) {
    throw new OperatorError('Invalid', `${file} can be read by others`, { remedy: `chmod 600 ${file}` });
  }
  const token = text.trim();
  if (token.length < SHORTEST) {
    throw new OperatorError('Invalid', `${file} holds no token of at least ${SHORTEST} characters`, {
      remedy: 'delete the file: the next start makes a new one',
    });
  }
  return token;
}

/** Says whether an `Authorization` header carries `token`, in a time that tells nothing about it. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(sha256(given), sha256(token));
}

async function make(file: string): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(32).toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
