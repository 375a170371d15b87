import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sleep, systemClock } from '../../operator/base/clock';
import { OperatorError } from '../../operator/base/errors';
import { logTail } from './log-tail';

export interface LogsOptions {
  directory: string;
  /** The remedy where there are none. */
  startIt: string;
  /** Names of processes; none = those that one looks for first, `all` = all. */
  names: string[];
  /** How many of the last lines of each. */
  tail: number;
  /** Goes on with new lines until it is aborted. */
  follow?: AbortSignal;
  print: (line: string) => void;
}

/** The control plane says much and means little. */
const FIRST = ['operator', 'local-cloud'];
const POLL_MS = 250;
const CHUNK_BYTES = 1024 * 1024;

interface Followed {
  prefix: string;
  path: string;
  offset: number;
  /** The beginning of a line whose end isn't written yet. */
  rest: string;
}

/**
 * Prints the logs of a development cluster's processes, each line with the name of its process in front.
 * @throws OperatorError NotFound when there are none, or none of that name
 */
export async function printLogs({ directory, startIt, names, tail, follow, print }: LogsOptions): Promise<void> {
  const paths = await logsIn(directory, names, startIt);
  const width = Math.max(...paths.map((path) => nameOf(path).length));
  const followed: Followed[] = [];
  for (const path of paths) {
    const prefix = `${nameOf(path).padEnd(width)} | `;
    const { size } = await stat(path);
    if (tail > 0) for (const line of await logTail(path, tail)) print(prefix + line);
    followed.push({ prefix, path, offset: size, rest: '' });
  }
  while (follow !== undefined && !follow.aborted) {
    for (const log of followed) await printNew(log, print);
    await sleep(systemClock, POLL_MS, follow).catch(() => undefined); // aborted: the loop ends
  }
}

async function printNew(log: Followed, print: (line: string) => void): Promise<void> {
  const { size } = await stat(log.path);
  if (size < log.offset) log.offset = 0; // turned
  if (size === log.offset) return;
  const file = await open(log.path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK_BYTES, size - log.offset)), 0, undefined, log.offset);
    log.offset += bytesRead;
    const lines = (log.rest + buffer.subarray(0, bytesRead).toString('utf8')).split('\n');
    log.rest = lines.pop() ?? '';
    for (const line of lines) print(log.prefix + line);
  } finally {
    await file.close();
  }
}

async function logsIn(directory: string, names: string[], startIt: string): Promise<string[]> {
  const files = (await readdir(directory).catch(() => [])).filter((file) => file.endsWith('.log')).sort();
  if (files.length === 0) throw new OperatorError('NotFound', `there are no logs in ${directory}`, { remedy: startIt });
  const known = files.map(nameOf);
  const unknown = names.find((name) => name !== 'all' && !known.includes(name));
  if (unknown !== undefined)
    throw new OperatorError('Invalid', `there is no log of "${unknown}"`, { remedy: `use ${known.join(', ')}, all` });
  const first = FIRST.filter((name) => known.includes(name));
  const wanted = names.includes('all') || (names.length === 0 && first.length === 0) ? known : names.length === 0 ? first : names;
  return files.filter((file) => wanted.includes(nameOf(file))).map((file) => join(directory, file));
}

function nameOf(path: string): string {
  return basename(path, '.log');
}
