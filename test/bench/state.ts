import { request } from 'node:https';
import { readFileSync } from 'node:fs';
import { KubeClient } from '../../operator/kube/client';
import { NAMESPACES, SECRETS, type KubeObject } from '../../operator/kube/object';
import { DirectoryStateStore } from '../../operator/updates/state/directory-state-store';
import { SecretStateStore } from '../../operator/updates/state/secret-state-store';
import type { StateStore } from '../../operator/updates/state/state-store';
import { startTestCluster, type TestCluster } from '../harness/cluster';
import { Etcd } from '../harness/etcd';
import { ApiProxy } from '../integration/state/api-proxy';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { UpdatesHarness } from '../integration/updates/harness';
import { percentile, say, sayAtMost } from './report';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const STACKS = Number(process.env.BENCH_STACKS ?? 10_000);
/** Writers of stacks' state beside each other. */
const WRITERS = 20;

/** What state in the cluster costs: writes of an update, bytes of a Secret, time beside the directory store. */
export async function state(): Promise<void> {
  const cluster = await startTestCluster({ controllerManager: false });
  const direct = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
  const proxy = new ApiProxy(cluster);
  await proxy.start();
  const counted = new KubeClient(proxy.kubeConfig(), { qps: 0 });
  const harness = new UpdatesHarness();
  try {
    await direct.create(NAMESPACES, undefined, { metadata: { name: 'state' } });
    await harness.start({ store: new SecretStateStore({ api: counted, namespace: 'state' }) });
    await harness.run('figures', inputs(0));
    const created = proxy.writes.filter((write) => write.endsWith('stack-figures')).length;
    proxy.writes.length = 0;
    await harness.run('figures', inputs(1));
    const changed = proxy.writes.length;
    proxy.writes.length = 0;
    await harness.run('figures', inputs(1));
    sayAtMost('writes of the Secret to create 4 resources', created, 2 * 4 + 7);
    sayAtMost('… to change 1 of them', changed, 2 * 1 + 7);
    sayAtMost('… for a skipped update', proxy.writes.length, 0);
    say(`bytes of the Secret in etcd: ${await storedBytes(cluster, '/api/v1/namespaces/state/secrets/stack-figures')}`);
    await many(direct, new Etcd(cluster.directory));
    await times(harness, {
      directory: new DirectoryStateStore(harness.directory),
      cluster: new SecretStateStore({ api: direct, namespace: 'state' }),
    });
  } finally {
    await harness.stop();
    await Promise.all([counted.close(), direct.close()]);
    await proxy.stop();
    await cluster.stop();
  }
}

/** What so many stacks take in etcd, each with the state that the first one has, old versions aside. */
async function many(kube: KubeClient, etcd: Etcd): Promise<void> {
  const { metadata, ...rest } = (await kube.get<KubeObject>(SECRETS, 'state/stack-figures'))!;
  const before = await etcd.bytesInUse();
  let made = 0;
  const write = async (): Promise<void> => {
    while (made < STACKS) {
      const name = `${metadata.name}-${made++}`;
      await kube.create(SECRETS, 'state', { ...rest, metadata: { name, labels: metadata.labels, annotations: metadata.annotations } });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  const bytes = (await etcd.bytesInUse()) - before;
  sayAtMost(`${STACKS} such stacks in etcd`, bytes / 2 ** 20, (150 * STACKS) / 10_000, ' MB');
}

/** The same update with one store and the other, in turns. */
async function times(harness: UpdatesHarness, stores: Record<string, StateStore>): Promise<void> {
  const engines = Object.entries(stores).map(([name, store]) => ({ name, engine: harness.newEngine({ store }), taken: [] as number[] }));
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const { name, engine, taken } of engines) {
      const startedAt = performance.now();
      await engine.run(harness.update(`timed-${name}`, inputs(round)), harness.hooks(`timed-${name}`));
      if (round >= 2) taken.push(performance.now() - startedAt);
    }
  }
  for (const { name, taken } of engines) {
    say(
      `one changed resource of four, ${name} store: p50 ${percentile(taken, 0.5).toFixed(0)} ms, p95 ${percentile(taken, 0.95).toFixed(0)} ms`,
    );
  }
}

function inputs(round: number): Parameters<UpdatesHarness['run']>[1] {
  const labels = { owner: 'default/web', ownerUID: '6f7c9a3e-52a4-4c0e-b7c2-0d9a6b8f1e11' };
  const thing = (name: string, size: number, on?: string) => ({ name, size, labels, ...(on === undefined ? {} : { on }) });
  return { things: [thing('address', 1), thing('pool', 1), thing('balancer', round, 'pool'), thing('rule', 1, 'balancer')] };
}

/** Length of the object as etcd has it: its protobuf form. */
function storedBytes(cluster: TestCluster, path: string): Promise<number> {
  const headers = { accept: 'application/vnd.kubernetes.protobuf', authorization: `Bearer ${cluster.token}` };
  return new Promise((resolve, reject) => {
    request(`${cluster.url}${path}`, { ca: readFileSync(cluster.caPath), headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).once('end', () => resolve(bytes));
    })
      .once('error', reject)
      .end();
  });
}
