import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiled } from '../../../operator/entry';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

/** What an answer may hold; tests look at the rest with toMatchObject. */
export interface Body {
  resource: Item;
  operation: { id: string };
  items: Item[];
  nextPageToken?: string;
  retryAfterMs?: number;
  rules: object[];
}

export interface Item {
  id: string;
  name: string;
  state: string;
  ip?: string;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Sent as it is instead of `body`. */
  raw?: string;
}

interface Ready {
  endpoint: string;
  tier: string;
  reason: string;
}

interface Parts {
  directory: string;
  child: ChildProcessWithoutNullStreams;
  ready: Ready;
  token: string;
  stderr: () => string;
}

/** A local cloud in a process of its own. */
export class CloudProcess {
  private constructor(private readonly parts: Parts) {}

  get directory(): string {
    return this.parts.directory;
  }

  get child(): ChildProcessWithoutNullStreams {
    return this.parts.child;
  }

  get ready(): Ready {
    return this.parts.ready;
  }

  /** Everything that it has logged. */
  stderr(): string {
    return this.parts.stderr();
  }

  /** Resolves when it is ready; rejects with what it wrote when it ends before. */
  static async start(directory: string, extra: Record<string, unknown> = {}): Promise<CloudProcess> {
    const file = join(directory, 'config.json');
    const tokenFile = join(directory, 'token');
    const config = { directory: join(directory, 'state'), listen: { port: 0 }, tokenFile, tier: 'none', exitWithParent: true, ...extra };
    await writeFile(file, JSON.stringify(config));
    const child = spawn(process.execPath, [compiled('providers/local/cloud/main'), '--config', file]);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).once('line', resolve);
      child.once('close', (code) => reject(new Error(`exit code ${code}: ${stderr}`)));
    });
    const token = (await readFile(tokenFile, 'utf8')).trim();
    return new CloudProcess({ directory, child, ready: JSON.parse(line) as Ready, token, stderr: () => stderr });
  }

  call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { endpoint } = this.ready;
    const where = endpoint.startsWith('unix:') ? { socketPath: endpoint.slice(5), path } : { ...addressOf(endpoint), path };
    const headers = { authorization: `Bearer ${this.parts.token}`, 'x-caller': 'test', ...options.headers };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ ...where, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const json = response.headers['content-type'] === 'application/json';
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: (json ? JSON.parse(text) : text) as Body });
        });
      });
      request.on('error', reject);
      request.end(options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body)));
    });
  }

  create(collection: string, body: object): Promise<Answer> {
    return this.call('POST', `/v1/${collection}`, { body });
  }

  async list(collection: string, query = ''): Promise<Item[]> {
    return (await this.call('GET', `/v1/${collection}${query}`)).body.items;
  }

  faults(...rules: object[]): Promise<Answer> {
    return this.call('PUT', '/_faults', { body: { rules } });
  }

  /** Sends the signal and gives the exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    const ended = this.ended();
    this.child.kill(signal);
    return ended;
  }

  async ended(): Promise<number | string | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    return this.child.exitCode ?? this.child.signalCode;
  }
}

/** Folders and processes of one test file, cleaned up together. */
export class Processes {
  private readonly directories: string[] = [];
  private readonly started: CloudProcess[] = [];

  async directory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'local-cloud-process-'));
    this.directories.push(directory);
    return directory;
  }

  async start(directory?: string, extra: Record<string, unknown> = {}): Promise<CloudProcess> {
    const cloud = await CloudProcess.start(directory ?? (await this.directory()), extra);
    this.started.push(cloud);
    return cloud;
  }

  async cleanUp(): Promise<void> {
    for (const cloud of this.started.splice(0)) await cloud.end('SIGKILL');
    for (const directory of this.directories.splice(0)) await rm(directory, { recursive: true });
  }
}

function addressOf(endpoint: string): { host: string; port: string } {
  const { hostname, port } = new URL(endpoint);
  return { host: hostname, port };
}
