import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { EnvHttpProxyAgent, Response } from 'undici';
import { OperatorError, toOperatorError } from '../operator/base/errors';
import type { Release, Tool } from './catalogue';
import { startHeartbeat } from './heartbeat';

export interface DownloadOptions {
  /** Puts another server in the place of an official host: `{'dl.k8s.io': 'http://127.0.0.1:8080'}`. */
  hosts?: Record<string, string>;
  report: (line: string) => void;
}

/** Where there is no way out, nobody should wait for long before the next way is tried. */
const CONNECT_TIMEOUT_MS = 3_000;
const STALL_TIMEOUT_MS = 20_000;

/**
 * Downloads the official release of a tool to `target`, checked against its published SHA-256.
 * @throws OperatorError Transient when the host can't be reached, Invalid when the checksum differs, NotFound when there is no such file
 */
export async function downloadTool(tool: Tool, release: Release, target: string, options: DownloadOptions): Promise<void> {
  const base = options.hosts?.[release.host] ?? `https://${release.host}`;
  const { EnvHttpProxyAgent } = await import('undici'); // only here: most runs never need an HTTP client
  const agent = new EnvHttpProxyAgent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: STALL_TIMEOUT_MS,
    bodyTimeout: STALL_TIMEOUT_MS,
  });
  const folder = await mkdtemp(join(dirname(target), '.download-'));
  try {
    const checksum = await fetchChecksum(base, release, agent);
    const file = join(folder, basename(release.path));
    await fetchFile(base + release.path, file, { tool, agent, report: options.report });
    await verify(file, checksum, base + release.path);
    await install(file, release, folder, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await agent.close();
  }
}

async function fetchChecksum(base: string, release: Release, agent: EnvHttpProxyAgent): Promise<string> {
  const url = base + release.checksumPath;
  const text = await (await get(url, agent)).text().catch((thrown: unknown) => {
    throw unreachable(url, thrown);
  });
  const checksum = checksumIn(text, basename(release.path));
  if (checksum === undefined) throw new OperatorError('Invalid', `${url} has no SHA-256 of ${basename(release.path)}`);
  return checksum;
}

/** Reads a checksum file: either the sum alone, or lines of `<sum>  <file name>`. */
export function checksumIn(text: string, fileName: string): string | undefined {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+\*?/));
  const sum = rows.find(([, name]) => name === fileName)?.[0] ?? (rows.length === 1 && rows[0]?.length === 1 ? rows[0][0] : undefined);
  return sum !== undefined && /^[0-9a-f]{64}$/i.test(sum) ? sum.toLowerCase() : undefined;
}

interface FetchFileOptions {
  tool: Tool;
  agent: EnvHttpProxyAgent;
  report: (line: string) => void;
}

async function fetchFile(url: string, file: string, { tool, agent, report }: FetchFileOptions): Promise<void> {
  const response = await get(url, agent);
  const total = Number(response.headers.get('content-length') ?? 0);
  report(`${tool.name} ${tool.version} (${tool.purpose}): downloading ${url}${total > 0 ? `, ${megabytes(total)}` : ''}`);
  if (response.body === null) throw new OperatorError('Transient', `${url} came without content`);
  let received = 0;
  const stop = startHeartbeat(report, (elapsed) => `${tool.name}: ${megabytes(received)} downloaded, ${elapsed} elapsed`);
  const body = Readable.fromWeb(response.body);
  body.on('data', (chunk: Buffer) => (received += chunk.length));
  try {
    await pipeline(body, createWriteStream(file));
  } catch (thrown) {
    throw unreachable(url, thrown);
  } finally {
    stop();
  }
}

async function get(url: string, agent: EnvHttpProxyAgent): Promise<Response> {
  const { fetch } = await import('undici');
  let response: Response;
  try {
    response = await fetch(url, { dispatcher: agent });
  } catch (thrown) {
    throw unreachable(url, thrown);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw new OperatorError(response.status === 404 ? 'NotFound' : 'Transient', `${url} answered ${response.status}`);
}

/** fetch says only "fetch failed"; what happened is in the cause. */
function unreachable(url: string, thrown: unknown): OperatorError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const { code } = cause as NodeJS.ErrnoException;
  return new OperatorError('Transient', `${new URL(url).host} can't be reached: ${code ?? toOperatorError(cause).message}`, {
    cause: thrown,
  });
}

async function verify(file: string, expected: string, url: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual === expected) return;
  throw new OperatorError('Invalid', `${url} is refused: its SHA-256 is ${actual}, the published one is ${expected}`);
}

async function install(file: string, release: Release, folder: string, target: string): Promise<void> {
  let binary = file;
  if (release.member !== undefined) {
    await promisify(execFile)('tar', ['-xzf', file, '-C', folder, release.member]);
    binary = join(folder, release.member);
  }
  await chmod(binary, 0o755);
  await rename(binary, target);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}
