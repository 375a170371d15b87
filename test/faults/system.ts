import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CLOUD_PROVIDERS } from '../../crds';
import { ControlPlane } from '../../dev/cluster/control-plane';
import { DEV_TOOLS } from '../../dev/cluster/dev-cluster';
import { freePort } from '../../dev/cluster/free-port';
import { install } from '../../dev/cluster/installation';
import { startLocalCloud } from '../../dev/cluster/local-cloud';
import { OPERATOR_IDENTITY, OPERATOR_NAMESPACE } from '../../dev/cluster/operator';
import { devPathsIn, type DevPaths } from '../../dev/cluster/paths';
import { ProcessGuard, type GuardedProcess } from '../../dev/cluster/process-guard';
import { sleep, systemClock } from '../../operator/base/clock';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { openStateStore } from '../../operator/updates/state/open';
import type { StateStore } from '../../operator/updates/state/state-store';
import { LocalCloudAdmin } from '../../providers/local/cloud/admin-client';
import { LocalCloudClient } from '../../providers/local/client';
import { ensureTools } from '../../tools/ensure';
import { SmallDisk } from './disk';
import { Operator } from './operator';
import { signal } from './processes';
import { CLOUD_ENDPOINT, providerSettings } from './providers';
import type { ProviderName } from './world';

/** Small enough to be filled at once, large enough for a whole run. */
const CLOUD_DISK_MB = 48;
const CLOUD_RETRY_MS = 300;

interface SystemParts {
  paths: DevPaths;
  guard: ProcessGuard;
  controlPlane: ControlPlane;
  tools: Record<string, string>;
  cloudDisk: SmallDisk;
  cloudPort: number;
}

/** Control plane and local cloud for operators that are started, broken and started again. */
export class FaultSystem {
  readonly kube: KubeClient;
  readonly cloud: LocalCloudAdmin;
  /** The cloud's API, as people use it. */
  readonly resources: LocalCloudClient;
  /** The stacks' state, read as an administrator. */
  readonly states: StateStore;
  private readonly operators: Operator[] = [];
  private startingCloud: Promise<void> | undefined;
  private beforeEnd: () => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly parts: SystemParts,
    private cloudProcess: GuardedProcess,
  ) {
    const { paths, controlPlane } = parts;
    const token = readFileSync(paths.cloudToken, 'utf8').trim();
    this.kube = new KubeClient(loadKubeConfig({ kubeconfig: controlPlane.kubeconfigPath }), { qps: 0 });
    this.states = openStateStore({ kind: 'Cluster', namespace: OPERATOR_NAMESPACE }, this.kube);
    this.cloud = new LocalCloudAdmin(this.cloudURL, token);
    this.resources = new LocalCloudClient({ endpoint: this.cloudURL, token: () => Promise.resolve(token), caller: 'people' });
  }

  static async start(): Promise<FaultSystem> {
    const tools = await ensureTools(DEV_TOOLS);
    const paths = devPathsIn(mkdtempSync(join(tmpdir(), 'cloud-operator-faults-')));
    mkdirSync(paths.logs, { recursive: true });
    const guard = ProcessGuard.open();
    const cloudDisk = SmallDisk.mount(paths.cloud, CLOUD_DISK_MB);
    try {
      const controlPlane = await ControlPlane.start({
        directory: paths.controlPlane,
        tools,
        logDirectory: paths.logs,
        controllerManager: true,
        fsync: false,
        identities: [OPERATOR_IDENTITY],
        guard,
      });
      await install({ kubectl: tools.kubectl, kubeconfig: controlPlane.kubeconfigPath });
      const cloudPort = await freePort();
      const { process } = await startLocalCloud(guard, { paths, port: cloudPort, tier: 'none' });
      const system = new FaultSystem({ paths, guard, controlPlane, tools, cloudDisk, cloudPort }, process);
      await system.addProvider('second');
      return system;
    } catch (thrown) {
      await guard.close();
      cloudDisk.unmount();
      throw thrown;
    }
  }

  get paths(): DevPaths {
    return this.parts.paths;
  }

  get guard(): ProcessGuard {
    return this.parts.guard;
  }

  get controlPlane(): ControlPlane {
    return this.parts.controlPlane;
  }

  /** Paths of the programs, by name. */
  get tools(): Record<string, string> {
    return this.parts.tools;
  }

  /** Holds the local cloud's journal. */
  get cloudDisk(): SmallDisk {
    return this.parts.cloudDisk;
  }

  get cloudURL(): string {
    return `http://127.0.0.1:${this.parts.cloudPort}`;
  }

  get cloudPid(): number {
    return this.cloudProcess.pid;
  }

  /** Makes an operator with a way of its own to the API server and to the cloud; it isn't started yet. */
  async addOperator(name: string, flags: string[] = []): Promise<Operator> {
    const operator = await Operator.prepare(this, name, flags);
    this.operators.push(operator);
    return operator;
  }

  /** Who starts operators again is told to leave that before they are ended. */
  onStop(leave: () => Promise<void>): void {
    this.beforeEnd = leave;
  }

  /** Another CloudProvider on the same cloud. */
  private async addProvider(name: ProviderName): Promise<void> {
    const local = { endpoint: CLOUD_ENDPOINT, tokenFile: this.paths.cloudToken };
    const object = { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudProvider', metadata: { name } };
    await this.kube.create(CLOUD_PROVIDERS, undefined, { ...object, spec: { ...providerSettings(name), local } });
  }

  /** SIGKILL to the local cloud, which is started again at once. */
  async killCloud(): Promise<void> {
    // It may have ended by itself just now, as its disk is full.
    signal(this.cloudProcess.pid, 'SIGKILL');
    await this.cloudProcess.ended;
    await this.startCloud();
  }

  /** Starts the local cloud again where it has ended, for example because its disk was full. */
  async startCloud(): Promise<void> {
    this.startingCloud ??= this.cloudAgain().finally(() => (this.startingCloud = undefined));
    await this.startingCloud;
  }

  private async cloudAgain(): Promise<void> {
    while (this.cloudProcess.exit !== undefined) {
      // Its disk may be full just now.
      const started = await startLocalCloud(this.guard, { paths: this.paths, port: this.parts.cloudPort, tier: 'none' }).catch(
        () => undefined,
      );
      if (started === undefined) await sleep(systemClock, CLOUD_RETRY_MS);
      else this.cloudProcess = started.process;
    }
  }

  /** A kubeconfig of the operator's identity that goes through another port. */
  kubeconfigVia(port: number, path: string): string {
    const text = readFileSync(this.controlPlane.kubeconfigFor(OPERATOR_IDENTITY.user), 'utf8');
    writeFileSync(path, text.replace(this.controlPlane.url, `https://127.0.0.1:${port}`), { mode: 0o600 });
    return path;
  }

  /** What the API server shows to its callers; a proxy in front of it shows the same. */
  tls(): { ca: Buffer; cert: Buffer; key: Buffer } {
    const cert = readFileSync(this.controlPlane.caPath);
    return { ca: cert, cert, key: readFileSync(join(dirname(this.controlPlane.caPath), 'apiserver.key')) };
  }

  /** Ends everything. @param keep leaves the folder with the logs */
  async stop(keep = false): Promise<void> {
    await this.beforeEnd();
    for (const operator of this.operators) await operator.close();
    await Promise.all([this.kube.close(), this.cloud.close(), this.resources.close()]);
    await this.cloudProcess.stop();
    await this.controlPlane.stop();
    await this.guard.close();
    this.cloudDisk.unmount();
    if (!keep) rmSync(this.paths.root, { recursive: true, force: true });
  }
}
