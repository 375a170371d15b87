import { CLOUD_STACKS } from '../../crds';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEV_TOOLS, DevCluster } from '../../dev/cluster/dev-cluster';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { LocalCloudAdmin } from '../../providers/local/cloud/admin-client';
import { ensureTools } from '../../tools/ensure';
import { SERVICES, type KubeObject, type Service } from '../../operator/kube/object';
import { rssMB } from './processes';
import { percentile, say, sayAtMost } from './report';

/** The figures of docs/figures.md: `npm run bench`. A cloud that answers at once, and no other load on the machine, please. */
const COUNT = Number(process.env.BENCH_SERVICES ?? 50);
const QUIET_MS = 3000;

interface Parts {
  cluster: DevCluster;
  kube: KubeClient;
  cloud: LocalCloudAdmin;
}

export async function service(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-bench-'));
  const tools = await ensureTools(DEV_TOOLS);
  const cluster = await DevCluster.start({ directory, tools, tier: 'none', operator: true, fsync: true, logLevel: 'info', report: say });
  try {
    const kube = new KubeClient(loadKubeConfig({ kubeconfig: cluster.controlPlane.kubeconfigPath }));
    const cloud = new LocalCloudAdmin(cluster.cloud.endpoint, readFileSync(cluster.cloud.tokenFile, 'utf8').trim());
    const parts = { cluster, kube, cloud };
    await serviceToAddress(parts);
    say(`memory of the operator process right after: ${operatorMB(cluster)} MB`);
    await unchanged(parts);
    sayAtMost('memory of the operator process at rest', operatorMB(cluster), 250, ' MB');
    await cloud.close();
    await kube.close();
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Services one after another: from the answer to their creation until the address stands in their status. */
async function serviceToAddress({ kube }: Parts): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < COUNT; i++) {
    const body = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `bench-${i}` },
      spec: { type: 'LoadBalancer', selector: { app: 'x' }, ports: [{ name: 'http', port: 80 }] },
    };
    const startedAt = performance.now();
    await kube.create(SERVICES, 'default', body);
    while (((await kube.get<Service>(SERVICES, `default/bench-${i}`))?.status?.loadBalancer?.ingress ?? []).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    times.push(performance.now() - startedAt);
  }
  const at = (share: number): number => percentile(times, share) / 1000;
  sayAtMost(`Service → address, ${COUNT} one after another, p50`, at(0.5), 1, ' s');
  sayAtMost('… p99', at(0.99), 2.5, ' s');
}

/** A restart over unchanged objects: what it writes to the cloud, and what it runs. */
async function unchanged({ cluster, kube, cloud }: Parts): Promise<void> {
  const before = await attempts(kube);
  await cluster.stopOperator();
  await cloud.resetCalls();
  const startedAt = performance.now();
  await cluster.startOperator();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const { total, writes } = await cloud.calls();
  const updates = (await attempts(kube)) - before;
  say(`restart over ${COUNT} unchanged Services: ready after ${seconds} s; ${total - writes} reads`);
  sayAtMost('… cloud writes', writes, 0);
  sayAtMost('… Pulumi updates', updates, 0);
}

async function attempts(kube: KubeClient): Promise<number> {
  const stacks = await kube.list<KubeObject & { status?: { attempts?: unknown[] } }>(CLOUD_STACKS);
  return stacks.reduce((sum, { status }) => sum + (status?.attempts?.length ?? 0), 0);
}

function operatorMB(cluster: DevCluster): number {
  return rssMB(cluster.processes.find(({ name }) => name === 'operator')?.pid ?? 0);
}
