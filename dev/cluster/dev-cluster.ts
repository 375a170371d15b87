import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { OperatorError } from '../../operator/base/errors';
import { identifyProcess } from '../../tools/live-process';
import type { ToolName } from '../../tools/catalogue';
import { ControlPlane } from './control-plane';
import { freePort } from './free-port';
import { install } from './installation';
import { startLocalCloud, type RunningLocalCloud, type Tier } from './local-cloud';
import { removeNodes, startNodes } from './nodes';
import { OPERATOR_IDENTITY, startOperator, writeCloudConfig } from './operator';
import { devPathsIn, type DevPaths } from './paths';
import { ProcessGuard, type GuardedProcess } from './process-guard';
import { Respawn } from './respawn';
import type { ProcessState } from './state';

export interface DevClusterOptions {
  /** Holds everything; made when absent, reused with its data when there. */
  directory: string;
  /** From ensureTools(DEV_TOOLS). */
  tools: Record<ToolName, string>;
  tier: Tier;
  /** false: people start their own. */
  operator: boolean;
  logLevel: string;
  /** Absolute path of the operator's extension in code. */
  extension?: string;
  /** How many Nodes it keeps, in a process of their own; those of an earlier start that are more are removed. Absent: they are not its business. */
  nodes?: number;
  /** Whether kube-controller-manager judges Nodes by their heartbeats; default: where there are Nodes. */
  nodeLifecycle?: boolean;
  /** More fields of the CloudProvider's spec, for example driftInterval. */
  provider?: Record<string, unknown>;
  /** Default true; see ControlPlaneOptions. */
  fsync?: boolean;
  /** Default false; see ControlPlaneOptions. */
  audit?: boolean;
  /** Told what is being done, and when a process ends or comes back. */
  report: (line: string) => void;
  /** Breaks the start off. */
  signal?: AbortSignal;
}

/** Everything that a development cluster needs. */
export const DEV_TOOLS: readonly ToolName[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'pulumi'];

interface Ports {
  apiServer: number;
  cloud: number;
  operator: number;
}

/**
 * A whole development cluster: control plane, local cloud, Nodes, and the operator under the rights of its ServiceAccount.
 * All of it ends with this process, however it ends. Local cloud, Nodes and operator are started again when they crash.
 */
export class DevCluster {
  readonly paths: DevPaths;
  private readonly guard = ProcessGuard.open();
  private plane: ControlPlane | undefined;
  private running: RunningLocalCloud | undefined;
  private cloudProcess: Respawn | undefined;
  private operatorProcess: Respawn | undefined;
  private nodesProcess: Respawn | undefined;
  private ports: Ports | undefined;
  private stopping = false;

  private constructor(private readonly options: DevClusterOptions) {
    this.paths = devPathsIn(options.directory);
  }

  /** @throws OperatorError naming the process that isn't ready, with the end of its log; nothing is left running then */
  static async start(options: DevClusterOptions): Promise<DevCluster> {
    const cluster = new DevCluster(options);
    const breakOff = (): void => void cluster.stop(); // what waits for readiness sees its process end
    options.signal?.addEventListener('abort', breakOff, { once: true });
    try {
      await cluster.startAll();
      options.signal?.throwIfAborted();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw options.signal?.aborted === true ? new OperatorError('Canceled', 'the start was broken off') : thrown;
    } finally {
      options.signal?.removeEventListener('abort', breakOff);
    }
  }

  get controlPlane(): ControlPlane {
    if (this.plane === undefined) throw new OperatorError('NotFound', 'the control plane is not up');
    return this.plane;
  }

  get cloud(): RunningLocalCloud {
    if (this.running === undefined) throw new OperatorError('NotFound', 'the local cloud is not up');
    return this.running;
  }

  /** Base URL of the operator's health and metrics; undefined while there is none. */
  get operatorURL(): string | undefined {
    return this.operatorProcess === undefined ? undefined : `http://127.0.0.1:${this.ports?.operator}`;
  }

  get processes(): ProcessState[] {
    const all = [...(this.plane?.running ?? []), this.cloudProcess?.process, this.nodesProcess?.process, this.operatorProcess?.process];
    return all.flatMap((process) =>
      process === undefined ? [] : [{ name: process.name, log: process.log, ...identifyProcess(process.pid) }],
    );
  }

  /** Resolves when a process of the control plane has ended by itself: without it the rest is of no use. */
  async controlPlaneFailed(): Promise<string> {
    const ended = await Promise.race(this.controlPlane.running.map(async (process) => ({ process, exit: await process.ended })));
    if (this.stopping) return new Promise(() => undefined);
    return `${ended.process.name} ended with ${ended.exit.signal ?? `exit code ${ended.exit.code}`}; see ${ended.process.log}`;
  }

  /** Starts the operator; nothing happens when it runs. */
  async startOperator(): Promise<void> {
    if (this.operatorProcess !== undefined) return;
    this.options.report('starting the operator');
    const start = (): Promise<GuardedProcess> => this.startOperatorProcess();
    this.operatorProcess = new Respawn(await start(), { start, onChange: this.options.report });
  }

  /** Ends the operator as a rollout would, with time to finish what it does. */
  async stopOperator(): Promise<void> {
    await this.operatorProcess?.stop();
    this.operatorProcess = undefined;
  }

  /** Ends everything in the order that loses nothing; data stay. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.stopOperator();
    await this.nodesProcess?.stop();
    await this.cloudProcess?.stop();
    await this.plane?.stop();
    await this.guard.close();
  }

  private async startAll(): Promise<void> {
    mkdirSync(this.paths.logs, { recursive: true, mode: 0o700 });
    this.ports = await this.choosePorts();
    this.options.report('starting etcd, kube-apiserver, kube-controller-manager and the local cloud');
    const started = await Promise.allSettled([this.startControlPlane(this.ports.apiServer), this.startCloud(this.ports.cloud)]);
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    this.ports.apiServer = this.controlPlane.port;
    writeFileSync(this.paths.ports, JSON.stringify(this.ports));
    // For an operator that a person runs; ours writes it too.
    writeCloudConfig({ paths: this.paths, cloud: this.cloud, provider: this.options.provider ?? {} });
    await Promise.all([this.startNodes(), this.installAll()]);
  }

  /** Those of the last time where they are free. */
  private async choosePorts(): Promise<Ports> {
    const earlier = existsSync(this.paths.ports) ? (JSON.parse(readFileSync(this.paths.ports, 'utf8')) as Partial<Ports>) : {};
    return {
      apiServer: await freePort(earlier.apiServer),
      cloud: await freePort(earlier.cloud),
      operator: await freePort(earlier.operator),
    };
  }

  private async startControlPlane(port: number): Promise<void> {
    this.plane = await ControlPlane.start({
      directory: this.paths.controlPlane,
      tools: this.options.tools,
      logDirectory: this.paths.logs,
      controllerManager: true,
      nodeLifecycle: this.options.nodeLifecycle ?? (this.options.nodes ?? 0) > 0,
      fsync: this.options.fsync ?? true,
      identities: [OPERATOR_IDENTITY],
      audit: this.options.audit ?? false,
      port,
      guard: this.guard,
    });
  }

  private async startCloud(port: number): Promise<void> {
    const start = async (): Promise<GuardedProcess> => {
      this.running = await startLocalCloud(this.guard, { paths: this.paths, port, tier: this.options.tier });
      return this.running.process;
    };
    this.cloudProcess = new Respawn(await start(), { start, onChange: this.options.report });
  }

  /** The kinds are there for a person's own operator too. */
  private async installAll(): Promise<void> {
    await install({ kubectl: this.options.tools.kubectl, kubeconfig: this.controlPlane.kubeconfigPath });
    if (this.options.operator) await this.startOperator();
  }

  private async startNodes(): Promise<void> {
    const { nodes: count, report } = this.options;
    if (count === undefined) return;
    const fleet = { paths: this.paths, kubeconfig: this.controlPlane.kubeconfigPath, count };
    if (count === 0) return removeNodes({ ...fleet, cloud: this.cloud });
    report(`starting ${count} node${count === 1 ? '' : 's'}`);
    const start = (): Promise<GuardedProcess> => startNodes(this.guard, { ...fleet, cloud: this.cloud });
    this.nodesProcess = new Respawn(await start(), { start, onChange: report });
  }

  private startOperatorProcess(): Promise<GuardedProcess> {
    const { extension } = this.options;
    return startOperator(this.guard, {
      paths: this.paths,
      kubeconfig: this.controlPlane.kubeconfigFor(OPERATOR_IDENTITY.user),
      pulumi: this.options.tools.pulumi,
      cloud: this.cloud,
      provider: this.options.provider ?? {},
      port: this.ports?.operator ?? 0,
      logLevel: this.options.logLevel,
      ...(extension === undefined ? {} : { flags: [`--extension=${extension}`] }),
    });
  }
}
