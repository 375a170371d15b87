import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../dev/cluster/free-port';
import { startOperator } from '../../dev/cluster/operator';
import { devPathsIn } from '../../dev/cluster/paths';
import { minimalEnvironment, type Exit, type GuardedProcess } from '../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../operator/entry';
import { SmallDisk } from './disk';
import { processes, signal, type Running } from './processes';
import { CLOUD_ENDPOINT, providerSettings, SOCKET } from './providers';
import { FaultProxy, type Tap } from './proxy';
import type { FaultSystem } from './system';

const TEMPORARY_DISK_MB = 32;

export interface OperatorWays {
  /** Its ways to the API server and to the cloud. */
  api: FaultProxy;
  cloud: FaultProxy;
  /** Holds its temporary files: workers and engines work there. */
  temporary: SmallDisk;
  root: string;
}

/** One operator process with its workers, and its ways to the API server and the cloud, which can be tapped and broken. */
export class Operator {
  /** Sees all requests of this operator and its workers; passes them on by default. */
  tap: Tap = () => 'pass';
  /** The same for watches, before they begin. */
  watchTap: Tap = () => 'pass';
  private process: GuardedProcess | undefined;

  private constructor(
    private readonly system: FaultSystem,
    readonly name: string,
    private readonly flags: string[],
    private readonly ways: OperatorWays,
  ) {}

  static async prepare(system: FaultSystem, name: string, flags: string[]): Promise<Operator> {
    const root = join(system.paths.root, name);
    mkdirSync(join(root, 'logs'), { recursive: true });
    const tap: Tap = (exchange, moment) => operator.tap(exchange, moment);
    const watchTap: Tap = (exchange, moment) => operator.watchTap(exchange, moment);
    const operator: Operator = new Operator(system, name, flags, {
      api: await FaultProxy.start({ side: 'api', target: system.controlPlane.url, tls: system.tls(), tap, watchTap }),
      cloud: await FaultProxy.start({ side: 'cloud', target: system.cloudURL, socket: join(root, SOCKET), tap }),
      temporary: SmallDisk.mount(join(root, 'tmp'), TEMPORARY_DISK_MB),
      root,
    });
    return operator;
  }

  get api(): FaultProxy {
    return this.ways.api;
  }

  get cloud(): FaultProxy {
    return this.ways.cloud;
  }

  get temporary(): SmallDisk {
    return this.ways.temporary;
  }

  get pid(): number {
    if (this.process === undefined) throw new Error(`operator ${this.name} does not run`);
    return this.process.pid;
  }

  get running(): boolean {
    return this.process !== undefined && this.process.exit === undefined;
  }

  /** Resolves when the process that runs now has ended. */
  get ended(): Promise<Exit> {
    if (this.process === undefined) throw new Error(`operator ${this.name} does not run`);
    return this.process.ended;
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    const environment = {
      ...minimalEnvironment(),
      TMPDIR: this.temporary.path,
      NODE_OPTIONS: `--import ${join(PROJECT_ROOT, 'test', 'faults', 'clock-preload.mjs')}`,
      FAULTS_CLOCK: this.clockFile,
    };
    this.process = await startOperator(this.system.guard, {
      paths: devPathsIn(this.ways.root),
      kubeconfig: this.system.kubeconfigVia(this.api.port, join(this.ways.root, 'kubeconfig')),
      pulumi: this.system.tools.pulumi ?? '',
      cloud: { endpoint: CLOUD_ENDPOINT, tokenFile: this.system.paths.cloudToken },
      provider: providerSettings('local'),
      // A new one each time: while it was down, somebody else may have got the old one.
      port: await freePort(),
      logLevel: 'info',
      flags: this.flags,
      environment,
    });
  }

  /** Its workers and their engines, also those whose operator has ended: known by the folder in which they work. */
  children(): Running[] {
    return processes().filter(({ commandLine, cwd }) => commandLine.includes(this.temporary.path) || cwd.startsWith(this.temporary.path));
  }

  workers(): number[] {
    return this.children()
      .filter(({ commandLine }) => commandLine.includes('updates/worker/main'))
      .map(({ pid }) => pid);
  }

  engines(): number[] {
    const workers = new Set(this.workers());
    return this.children()
      .filter(({ parent, pid }) => workers.has(parent) || !workers.has(pid))
      .map(({ pid }) => pid);
  }

  /** SIGKILL; resolves when it has ended. */
  async kill(): Promise<void> {
    if (!this.running) return;
    signal(this.pid, 'SIGKILL');
    await this.ended;
  }

  /** Sets the wall clock of the process off by so many milliseconds. */
  setClock(offsetMs: number): void {
    writeFileSync(this.clockFile, String(offsetMs));
    if (this.running) signal(this.pid, 'SIGUSR2');
  }

  log(): string {
    return readFileSync(join(this.ways.root, 'logs', 'operator.log'), 'utf8');
  }

  async close(): Promise<void> {
    if (this.running) await this.process?.stop();
    // One that is stopped does not see that its operator is gone.
    this.workers().forEach((pid) => signal(-pid, 'SIGKILL'));
    await Promise.all([this.api.stop(), this.cloud.stop()]);
    this.temporary.unmount();
  }

  private get clockFile(): string {
    return join(this.ways.root, 'clock');
  }
}
