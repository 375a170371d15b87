import { execFile } from 'node:child_process';
import { readFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ControlPlane } from '../../dev/cluster/control-plane';
import type { Identity } from '../../dev/cluster/credentials';
import { freePort } from '../../dev/cluster/free-port';
import { install } from '../../dev/cluster/installation';
import { startLocalCloud, type RunningLocalCloud } from '../../dev/cluster/local-cloud';
import { OPERATOR_IDENTITY, startOperator } from '../../dev/cluster/operator';
import { devPathsIn, type DevPaths } from '../../dev/cluster/paths';
import { ProcessGuard } from '../../dev/cluster/process-guard';
import { sleep, systemClock } from '../../operator/base/clock';
import { OperatorError } from '../../operator/base/errors';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { NODES, type KubeObject } from '../../operator/kube/object';
import { LocalCloudClient } from '../../providers/local/client';
import type { ToolName } from '../../tools/catalogue';
import { Cgroups } from './cgroups';
import { ClusterDNS } from './cluster-dns';
import { makeImages } from './images';
import { CLUSTER_CIDR, Network, OUTSIDE } from './network';
import { Node } from './node';

export const E2E_TOOLS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kubectl',
  'pulumi',
  'kubelet',
  'kube-proxy',
  'kube-scheduler',
  'agnhost',
  'kubernetes-e2e',
] as const satisfies readonly ToolName[];

export interface E2eClusterOptions {
  /** Holds everything. */
  directory: string;
  /** From ensureTools(E2E_TOOLS). */
  tools: Record<(typeof E2E_TOOLS)[number], string>;
  nodes: number;
  /** kube-proxy's mode. */
  proxyMode: string;
  /** Folder of the CNI plugins. */
  cniPlugins: string;
  report: (line: string) => void;
}

const SCHEDULER: Identity = { user: 'system:kube-scheduler', groups: [] };
const PROXY: Identity = { user: 'system:kube-proxy', groups: [] };
const ROUTE_FLAGS = ['--allocate-node-cidrs', '--configure-cloud-routes', `--cluster-cidr=${CLUSTER_CIDR}`];
const READY_TIMEOUT_MS = 180_000;
const POLL_MS = 500;
const GRACE_MS = 2_000;

type NodeObject = KubeObject & {
  spec: { providerID?: string; taints?: { key: string }[] };
  status?: { conditions?: { type: string; status: string; message?: string }[] };
};

/** A cluster of real kubelets, each on a machine of its own, with this project's operator as its only cloud-controller-manager. */
export class E2eCluster {
  private readonly guard = ProcessGuard.open();
  private readonly paths: DevPaths;
  private readonly cgroups = Cgroups.make(`cloud-operator-e2e-${process.pid}`);
  private readonly nodes: Node[] = [];
  private plane: ControlPlane | undefined;
  private kube: KubeClient | undefined;
  private dns: ClusterDNS | undefined;

  private constructor(private readonly options: E2eClusterOptions) {
    this.paths = devPathsIn(options.directory);
  }

  /**
   * Starts it in about a minute, in this process's network namespace, which must be empty.
   * @throws OperatorError naming what isn't ready, with the end of its log; nothing is left running then
   */
  static async start(options: E2eClusterOptions): Promise<E2eCluster> {
    const cluster = new E2eCluster(options);
    try {
      await cluster.startAll();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  get kubeconfig(): string {
    return this.controlPlane.kubeconfigPath;
  }

  get logs(): string {
    return this.paths.logs;
  }

  /** Ends everything; what is in `directory` stays. */
  async stop(): Promise<void> {
    this.dns?.stop();
    await this.kube?.close();
    for (const node of this.nodes) await node.stop();
    await this.plane?.stop();
    await this.guard.close();
    await this.cgroups.remove();
  }

  private get controlPlane(): ControlPlane {
    if (this.plane === undefined) throw new OperatorError('NotFound', 'the control plane is not up');
    return this.plane;
  }

  private async startAll(): Promise<void> {
    const { report, directory, tools } = this.options;
    mkdirSync(this.paths.logs, { recursive: true });
    report('making the images of the Pods');
    const images = await makeImages({ agnhost: tools.agnhost, directory: join(directory, 'images') });
    report('starting the network, the control plane and the local cloud');
    const network = await Network.start(this.guard, this.paths.logs);
    this.plane = await this.startControlPlane();
    this.kube = new KubeClient(loadKubeConfig({ kubeconfig: this.kubeconfig }), { qps: 0 });
    this.dns = await ClusterDNS.start(this.kube, OUTSIDE);
    await this.startScheduler();
    const cloud = await startLocalCloud(this.guard, {
      ...{ paths: this.paths, port: await freePort(), tier: 'netns', namespace: network.router.network },
    });
    await install({ kubectl: tools.kubectl, kubeconfig: this.kubeconfig });
    report('starting the operator');
    await this.startOperator(cloud);
    report(`starting ${this.options.nodes} nodes: containerd, kubelet and kube-proxy on each`);
    await this.startNodes(network, images);
    await this.register(cloud);
    report('waiting until the operator has initialized them, and they are ready');
    await this.nodesReady();
  }

  private startControlPlane(): Promise<ControlPlane> {
    const kubelets = this.names().map((name) => ({ user: `system:node:${name}`, groups: ['system:nodes'] }));
    return ControlPlane.start({
      directory: this.paths.controlPlane,
      tools: this.options.tools,
      logDirectory: this.paths.logs,
      controllerManager: true,
      nodeLifecycle: true,
      kubeletsReach: OUTSIDE,
      fsync: false,
      identities: [OPERATOR_IDENTITY, SCHEDULER, PROXY, ...kubelets],
      guard: this.guard,
    });
  }

  private async startScheduler(): Promise<void> {
    const kubeconfig = this.controlPlane.kubeconfigFor(SCHEDULER.user);
    await this.guard.start({
      name: 'kube-scheduler',
      command: this.options.tools['kube-scheduler'],
      args: [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
      cwd: this.paths.root,
      log: join(this.paths.logs, 'kube-scheduler.log'),
      graceMs: GRACE_MS,
    });
  }

  private async startOperator(cloud: RunningLocalCloud): Promise<void> {
    await startOperator(this.guard, {
      paths: this.paths,
      kubeconfig: this.controlPlane.kubeconfigFor(OPERATOR_IDENTITY.user),
      pulumi: this.options.tools.pulumi,
      cloud,
      // Upstream's tests set no annotation of ours.
      provider: { local: { engine: 'Passthrough' } },
      port: await freePort(),
      logLevel: 'info',
      flags: ROUTE_FLAGS,
    });
  }

  private async startNodes(network: Network, images: string): Promise<void> {
    const { tools, proxyMode, cniPlugins, directory } = this.options;
    // Without the Node authorizer; the rest of a kubelet's rights are upstream's.
    const binding = ['create', 'clusterrolebinding', 'kubelets', '--clusterrole=system:node', '--group=system:nodes'];
    await promisify(execFile)(tools.kubectl, ['--kubeconfig', this.kubeconfig, ...binding]);
    for (const [index, name] of this.names().entries()) {
      const node = await Node.start(this.guard, {
        ...{ name, number: index + 1, network, logs: this.paths.logs, tools, images, proxyMode, cniPlugins, dns: OUTSIDE },
        cgroup: this.cgroups.addFor(name),
        cgroupVersion1: Cgroups.version1,
        directory: join(directory, name),
        kubeconfigs: {
          kubelet: this.controlPlane.kubeconfigFor(`system:node:${name}`),
          proxy: this.controlPlane.kubeconfigFor(PROXY.user),
        },
      });
      this.nodes.push(node);
    }
  }

  /** As `cloud-operator local-cloud register` does. */
  private async register({ endpoint, tokenFile }: RunningLocalCloud): Promise<void> {
    const token = readFileSync(tokenFile, 'utf8').trim();
    const client = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'e2e' });
    for (const { name, address } of this.nodes) {
      await client.create('instances', { name, addresses: [address], zone: 'local-a' }, name, {});
    }
    await client.close();
  }

  private async nodesReady(): Promise<void> {
    const deadline = systemClock.monotonic() + READY_TIMEOUT_MS;
    for (;;) {
      const found = (await this.kube?.list<NodeObject>(NODES)) ?? [];
      const problems = this.names().map((name) =>
        problemOf(
          name,
          found.find(({ metadata }) => metadata.name === name),
        ),
      );
      if (problems.every((problem) => problem === undefined)) return;
      if (systemClock.monotonic() > deadline) throw new OperatorError('Unknown', problems.filter(Boolean).join('; '));
      await sleep(systemClock, POLL_MS);
    }
  }

  private names(): string[] {
    return Array.from({ length: this.options.nodes }, (_, index) => `worker-${index + 1}`);
  }
}

function problemOf(name: string, node: NodeObject | undefined): string | undefined {
  if (node === undefined) return `${name}: its kubelet has not made its Node`;
  if (node.spec.providerID === undefined) return `${name}: the operator has not initialized it`;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return `${name}: ${ready?.message ?? 'not ready'}`;
  const taints = node.spec.taints ?? [];
  return taints.length === 0 ? undefined : `${name} is tainted: ${taints.map(({ key }) => key).join(', ')}`;
}
