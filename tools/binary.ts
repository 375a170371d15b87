import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool } from './catalogue';
import { versionCommand } from './python';
import { versionIn, versionProblem } from './version';

const run = promisify(execFile);

/** Starting a 120 MB binary from a cold disk takes its time. */
const VERSION_TIMEOUT_MS = 20_000;

export type Inspection = { version: string } | { problem: string };

/** What is remembered of a binary that was run once, so that it need not be run again: a changed file has another size or time. */
interface Stamp {
  path: string;
  size: number;
  mtimeMs: number;
  /** Changes with permissions too. */
  ctimeMs: number;
  version: string;
}

/**
 * Runs a binary to learn its version, or takes it from the stamp of an earlier run.
 * @param stamps folder of the stamps
 * @returns the version, or in words why this binary will not do
 */
export async function inspectBinary(tool: Tool, path: string, stamps: string): Promise<Inspection> {
  let file: Stats;
  try {
    file = await stat(path);
  } catch (thrown) {
    return { problem: describeFileError(thrown) };
  }
  if (!file.isFile()) return { problem: 'it is not a file' };
  const { size, mtimeMs, ctimeMs } = file;
  const stampPath = join(stamps, `${createHash('sha256').update(path).digest('hex').slice(0, 24)}.json`);
  const stamp = await readStamp(stampPath);
  const known = stamp?.path === path && stamp.size === size && stamp.mtimeMs === mtimeMs && stamp.ctimeMs === ctimeMs;
  const version = known ? stamp.version : await askVersion(tool, path);
  if (typeof version !== 'string') return version;
  if (!known) await writeStamp(stampPath, { path, size, mtimeMs, ctimeMs, version });
  const problem = versionProblem(tool, version);
  return problem === undefined ? { version } : { problem };
}

async function askVersion(tool: Tool, path: string): Promise<string | { problem: string }> {
  try {
    const { build, versionArguments } = tool;
    const [command, args] = build.kind === 'Python' ? await versionCommand(path, build) : [path, versionArguments];
    const { stdout, stderr } = await run(command, args, { timeout: VERSION_TIMEOUT_MS, env: versionEnvironment() });
    return versionIn(`${stdout}\n${stderr}`) ?? { problem: `\`${args.join(' ')}\` prints no version` };
  } catch (thrown) {
    return { problem: `it does not run: ${describeRunError(thrown)}` };
  }
}

function versionEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PULUMI_SKIP_UPDATE_CHECK: 'true' };
}

function describeRunError(thrown: unknown): string {
  const error = thrown as NodeJS.ErrnoException & { killed?: boolean; signal?: string; stderr?: string; code?: string | number };
  if (error.killed === true) return `no answer within ${VERSION_TIMEOUT_MS / 1000} s`;
  if (typeof error.code === 'string') return describeFileError(thrown);
  if (typeof error.signal === 'string') return `killed by ${error.signal}`;
  const said = error.stderr?.trim().split('\n')[0] ?? '';
  return `exit code ${String(error.code)}${said === '' ? '' : ` (${said.slice(0, 200)})`}`;
}

function describeFileError(thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException).code ?? 'unknown error';
  const words: Record<string, string> = {
    ENOENT: 'there is no such file',
    EACCES: 'it may not be executed (permission denied)',
    ENOEXEC: 'it is not a program for this machine',
    UNKNOWN: 'it is not a program for this machine',
  };
  return words[code] ?? code;
}

async function readStamp(path: string): Promise<Stamp | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Stamp;
  } catch {
    return undefined; // absent or half-written: the binary is run again, which is all that a stamp saves
  }
}

async function writeStamp(path: string, stamp: Stamp): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  try {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(temporary, JSON.stringify(stamp));
    await rename(temporary, path);
  } catch (thrown) {
    // A read-only cache folder is no reason to refuse a good binary; it is only run once more next time.
    process.emitWarning(`${path} could not be written: ${(thrown as Error).message}`);
  }
}
