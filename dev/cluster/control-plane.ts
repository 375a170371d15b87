import { request } from 'node:https';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../operator/base/clock';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './components';
import { ADMIN, CONTROLLER_MANAGER, Credentials, type Identity } from './credentials';
import { freePort } from './free-port';
import { logTail } from './log-tail';
import { ProcessGuard, type GuardedProcess } from './process-guard';
import { startFailure } from './start-failure';

export type ControlPlaneTools = Record<'etcd' | 'kube-apiserver' | 'kube-controller-manager', string>;

export interface ControlPlaneOptions {
  /** Data, keys and kubeconfigs; made when absent, reused with its data when there. Must not be used by another running control plane. */
  directory: string;
  /** Paths of the binaries, from ensureTools. */
  tools: ControlPlaneTools;
  /** One log per process. */
  logDirectory: string;
  controllerManager: boolean;
  /** Default false: kube-controller-manager leaves Nodes alone, and they need no heartbeats. */
  nodeLifecycle?: boolean;
  /** This machine's address for kubelets on others, whose Pods kube-controller-manager then cares for. Absent = loopback, and no Pods. */
  kubeletsReach?: string;
  /** false: etcd keeps nothing over a power failure, but is faster. */
  fsync: boolean;
  /** Others who get a token; see `kubeconfigFor`. */
  identities?: Identity[];
  /** Whether the API server logs all requests, one JSON object in each line of `audit.log` beside the other logs. Default false. */
  audit?: boolean;
  /** The API server's port where it is free. */
  port?: number;
  /** Starts the processes; absent = a guard of its own, closed by `stop`. */
  guard?: ProcessGuard;
}

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;
/** Only etcd has something to lose; an API server that still starts doesn't listen to SIGTERM. */
const GRACE_MS = { etcd: 5_000, 'kube-apiserver': 2_000, 'kube-controller-manager': 2_000 };
const PORT_TRIES = 5;
/** Made by the API server after its start; the UID of kube-system is the cluster's id. */
const FIRST_NAMESPACES = ['kube-system', 'default'];

/** A real Kubernetes control plane on loopback: etcd, kube-apiserver with RBAC, and (if wanted) kube-controller-manager. */
export class ControlPlane {
  readonly kubeconfigPath: string;
  readonly caPath: string;
  private readonly processes: GuardedProcess[] = [];
  private apiServerPort = 0;

  private constructor(
    private readonly options: ControlPlaneOptions,
    private readonly credentials: Credentials,
    private readonly guard: ProcessGuard,
  ) {
    this.kubeconfigPath = join(options.directory, 'kubeconfig');
    this.caPath = credentials.caPath;
  }

  /**
   * Starts the processes and waits until the API server is ready.
   * @throws OperatorError naming the process that failed, with the end of its log
   */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    mkdirSync(options.logDirectory, { recursive: true });
    const identities = [ADMIN, CONTROLLER_MANAGER, ...(options.identities ?? [])];
    const guard = options.guard ?? ProcessGuard.open();
    const plane = new ControlPlane(options, new Credentials(options.directory, identities), guard);
    try {
      await plane.startAll();
      return plane;
    } catch (thrown) {
      await plane.stop();
      throw thrown;
    }
  }

  get url(): string {
    return `https://${this.address}:${this.apiServerPort}`;
  }

  private get address(): string {
    return this.options.kubeletsReach ?? '127.0.0.1';
  }

  get port(): number {
    return this.apiServerPort;
  }

  /** Content of the admin's kubeconfig. */
  get adminKubeconfig(): string {
    return readFileSync(this.kubeconfigPath, 'utf8');
  }

  get pids(): Record<string, number> {
    return Object.fromEntries(this.processes.map(({ name, pid }) => [name, pid]));
  }

  get running(): readonly GuardedProcess[] {
    return this.processes;
  }

  /** Bearer token of the admin or of one of the `identities`. */
  token(user: string = ADMIN.user): string {
    return this.credentials.token(user);
  }

  /** Writes a kubeconfig for one of the `identities` beside the admin's, and gives its path. */
  kubeconfigFor(user: string): string {
    const path = join(this.options.directory, `kubeconfig-${user.replace(/[^a-z0-9-]+/gi, '-')}`);
    this.credentials.writeKubeconfig(path, user, this.url);
    return path;
  }

  /** Ends the processes in the order that loses nothing; the data stay. Safe to call twice. */
  async stop(): Promise<void> {
    for (const running of this.processes.toReversed()) await running.stop();
    this.processes.length = 0;
    if (this.options.guard === undefined) await this.guard.close();
  }

  /** SIGKILL to the API server, from one moment to the next; resolves when another one is ready at its address. etcd goes on. */
  async replaceApiServer(): Promise<void> {
    const at = this.processes.findIndex(({ name }) => name === 'kube-apiserver');
    const [server] = this.processes.splice(at, 1);
    if (server === undefined) throw new Error('no API server runs');
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
    await this.startApiServer(this.apiServerPort);
  }

  private async startAll(): Promise<void> {
    const { directory, fsync, controllerManager } = this.options;
    await this.startProcess('etcd', etcdArguments(fsync));
    await this.startApiServer(this.options.port);
    this.credentials.writeKubeconfig(this.kubeconfigPath, ADMIN.user, this.url);
    if (!controllerManager) return;
    const kubeconfig = join(directory, 'kubeconfig-controller-manager');
    this.credentials.writeKubeconfig(kubeconfig, CONTROLLER_MANAGER.user, this.url);
    const podCA = this.options.kubeletsReach === undefined ? {} : { podCA: this.caPath };
    const managed = { kubeconfig, nodeLifecycle: this.options.nodeLifecycle ?? false, ...podCA };
    await this.startProcess('kube-controller-manager', controllerManagerArguments(managed));
  }

  /** Who asked for what, and the answer's code: no bodies. */
  private audit(): { policy: string; log: string } {
    const policy = join(this.options.directory, 'audit-policy.json');
    const rules = { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] };
    writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...rules }));
    return { policy, log: join(this.options.logDirectory, 'audit.log') };
  }

  /** @param port taken where it is free */
  private async startApiServer(port: number | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.apiServerPort = await freePort(attempt === 1 ? port : undefined);
      const options = {
        ...{
          address: this.address,
          port: this.apiServerPort,
          credentials: this.credentials,
          controllerManager: this.options.controllerManager,
        },
        ...(this.options.audit === true ? { audit: this.audit() } : {}),
      };
      const server = await this.startProcess('kube-apiserver', apiServerArguments(options));
      if (await this.waitUntilReady(server)) return;
      const tail = await logTail(server.log, 20);
      if (attempt === PORT_TRIES || !tail.some((line) => line.includes('address already in use')))
        throw await startFailure(server, READY_TIMEOUT_MS);
      this.processes.pop();
    }
  }

  /** @returns false when the API server ended; another process's end, or no readiness in time, is thrown */
  private async waitUntilReady(server: GuardedProcess): Promise<boolean> {
    const deadline = systemClock.monotonic() + READY_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (server.exit !== undefined) return false;
      const ended = this.processes.find((process) => process.exit !== undefined);
      if (ended !== undefined) throw await startFailure(ended, READY_TIMEOUT_MS);
      if (systemClock.monotonic() > deadline) throw await startFailure(server, READY_TIMEOUT_MS);
      await sleep(systemClock, READY_POLL_MS);
    }
    return true;
  }

  private async isReady(): Promise<boolean> {
    if (!existsSync(this.caPath)) return false;
    const paths = ['/readyz', ...FIRST_NAMESPACES.map((name) => `/api/v1/namespaces/${name}`)];
    for (const path of paths) if ((await this.statusOf(path)) !== 200) return false;
    return true;
  }

  private statusOf(path: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      const options = {
        host: this.address,
        port: this.apiServerPort,
        path,
        ca: readFileSync(this.caPath),
        headers: { authorization: `Bearer ${this.token()}` },
        timeout: 2_000,
        agent: false as const,
      };
      const call = request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on('timeout', () => call.destroy());
      call.on('error', () => resolve(undefined)); // not listening yet
      call.end();
    });
  }

  private async startProcess(name: keyof ControlPlaneTools, args: string[]): Promise<GuardedProcess> {
    const { directory, logDirectory, tools } = this.options;
    const command = { name, command: tools[name], args, cwd: directory, log: join(logDirectory, `${name}.log`), graceMs: GRACE_MS[name] };
    const process = await this.guard.start(command);
    this.processes.push(process);
    return process;
  }
}
