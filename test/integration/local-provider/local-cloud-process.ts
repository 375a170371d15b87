import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiled } from '../../../operator/entry';
import type { CallCounts, Collection, DriftRequest, FaultRule, FaultStatus, Instance, Resource } from '../../../providers/local/api';

/** A local cloud as a process of its own, without a data plane. */
export class LocalCloudProcess {
  private constructor(
    readonly endpoint: string,
    readonly tokenFile: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(): Promise<LocalCloudProcess> {
    const directory = mkdtempSync(join(tmpdir(), 'local-provider-'));
    const tokenFile = join(directory, 'token');
    const config = join(directory, 'config.json');
    const settings = {
      directory: join(directory, 'data'),
      listen: { port: 0 },
      tokenFile,
      tier: 'none',
      logLevel: 'warn',
      exitWithParent: true,
    };
    writeFileSync(config, JSON.stringify(settings));
    const child = spawn(process.execPath, [compiled('providers/local/cloud/main'), '--config', config], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const end = async (): Promise<void> => {
      child.stdin.end();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    };
    const ready = new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`the local cloud ended with code ${code} before it was ready`)));
    });
    const { endpoint } = JSON.parse(await ready) as { endpoint: string };
    return new LocalCloudProcess(endpoint, tokenFile, end);
  }

  stop(): Promise<void> {
    return this.end();
  }

  calls(): Promise<CallCounts> {
    return this.request('GET', '/_calls');
  }

  async resetCalls(): Promise<void> {
    await this.request('DELETE', '/_calls');
  }

  faults(...rules: FaultRule[]): Promise<FaultStatus> {
    return this.request('PUT', '/_faults', { rules });
  }

  async drift(request: DriftRequest): Promise<void> {
    await this.request('POST', '/_drift', request);
  }

  async list<T extends Resource>(collection: Collection): Promise<T[]> {
    return (await this.request<{ items: T[] }>('GET', `/v1/${collection}?pageSize=1000`)).items;
  }

  async createInstance(name: string, clusterID?: string): Promise<Instance> {
    const body = { name, tags: clusterID === undefined ? {} : { clusterID } };
    return (await this.request<{ resource: Instance }>('POST', '/v1/instances', body)).resource;
  }

  private async request<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${readFileSync(this.tokenFile, 'utf8').trim()}`, 'x-caller': 'test' };
    const answer = await fetch(this.endpoint + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }
}
