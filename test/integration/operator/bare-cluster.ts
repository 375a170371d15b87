import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../dev/cluster/free-port';
import { startLocalCloud } from '../../../dev/cluster/local-cloud';
import { writeCloudConfig } from '../../../dev/cluster/operator';
import { devPathsIn, type DevPaths } from '../../../dev/cluster/paths';
import { minimalEnvironment, ProcessGuard, type GuardedProcess } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NODES } from '../../../operator/kube/object';
import { TAINT_UNINITIALIZED } from '../../../operator/kube/well-known';
import { LocalCloudClient } from '../../../providers/local/client';
import { ensureTools } from '../../../tools/ensure';
import { startTestCluster, type TestCluster, type TestClusterOptions } from '../../harness/cluster';

/** A cluster into which nothing of ours was installed, and a local cloud beside it: what is there when the operator begins, tests say. */
export class BareCluster {
  private constructor(
    readonly test: TestCluster,
    readonly kube: KubeClient,
    readonly cloud: LocalCloudClient,
    private readonly parts: { guard: ProcessGuard; paths: DevPaths; pulumi: string; local: { endpoint: string; tokenFile: string } },
  ) {}

  static async start(options: Pick<TestClusterOptions, 'identities'> = {}): Promise<BareCluster> {
    const { pulumi = '' } = await ensureTools(['pulumi']);
    const paths = devPathsIn(mkdtempSync(join(tmpdir(), 'cloud-operator-bare-')));
    mkdirSync(paths.logs, { recursive: true });
    const guard = ProcessGuard.open();
    const cluster = await startTestCluster({ ...options, controllerManager: false });
    const kube = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
    const { endpoint, tokenFile } = await startLocalCloud(guard, { paths, port: await freePort(), tier: 'none' });
    const token = readFileSync(tokenFile, 'utf8').trim();
    const cloud = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'test' });
    return new BareCluster(cluster, kube, cloud, { guard, paths, pulumi, local: { endpoint, tokenFile } });
  }

  /** How the local cloud is reached: spec.local of a CloudProvider. */
  get local(): { endpoint: string; tokenFile: string } {
    return this.parts.local;
  }

  /** With `--cloud-provider=local` and a file for it. @param command of the program, with its flags @param provider settings in that file beside the local cloud's own */
  startOperator(command: string[], provider: Record<string, unknown> = {}): Promise<GuardedProcess> {
    const { guard, paths, pulumi } = this.parts;
    writeCloudConfig({ paths, cloud: this.local, provider });
    return guard.start({
      ...{ name: 'operator', command: process.execPath, cwd: paths.root, log: this.logFile, graceMs: 15_000 },
      args: [compiled('operator/cli/main'), ...command, '--cloud-provider=local', `--cloud-config=${paths.operatorConfig}`],
      environment: { ...minimalEnvironment(), CLOUD_OPERATOR_PULUMI: pulumi },
    });
  }

  operatorLog(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** A machine, and the Node that its kubelet would register. */
  async addNode(name: string, labels?: Record<string, string>): Promise<void> {
    await this.cloud.create('instances', { name }, `test-${name}`, {});
    await this.kube.create(NODES, undefined, {
      metadata: { name, ...(labels !== undefined && { labels }) },
      spec: { taints: [{ key: TAINT_UNINITIALIZED, value: 'true', effect: 'NoSchedule' }] },
    });
  }

  async stop(): Promise<void> {
    await this.parts.guard.close();
    await Promise.all([this.kube.close(), this.cloud.close()]);
    await this.test.stop();
    rmSync(this.parts.paths.root, { recursive: true, force: true });
  }

  private get logFile(): string {
    return join(this.parts.paths.logs, 'operator.log');
  }
}
