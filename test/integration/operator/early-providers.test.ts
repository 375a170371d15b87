import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION, CLOUD_PROVIDERS } from '../../../crds';
import { freePort } from '../../../dev/cluster/free-port';
import { startLocalCloud } from '../../../dev/cluster/local-cloud';
import { writeCloudConfig } from '../../../dev/cluster/operator';
import { devPathsIn, type DevPaths } from '../../../dev/cluster/paths';
import { minimalEnvironment, ProcessGuard } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NODES, type Node } from '../../../operator/kube/object';
import { LocalCloudClient } from '../../../providers/local/client';
import { ensureTools } from '../../../tools/ensure';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

/**
 * The operator starts in a cluster whose CloudStacks it will never see: their kind is missing. What its CloudProviders say holds all the same:
 * `local` is only observed, other than the flags say, and has the Nodes of the pool `watched`; `other` looks after those of the pool `own`.
 */

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

let cluster: TestCluster;
let kube: KubeClient;
let cloud: LocalCloudClient;
let guard: ProcessGuard;
let paths: DevPaths;

beforeAll(async () => {
  const { pulumi } = await ensureTools(['pulumi']);
  paths = devPathsIn(mkdtempSync(join(tmpdir(), 'cloud-operator-early-')));
  mkdirSync(paths.logs, { recursive: true });
  guard = ProcessGuard.open();
  cluster = await startTestCluster({ controllerManager: false });
  kube = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
  const { endpoint, tokenFile } = await startLocalCloud(guard, { paths, port: await freePort(), tier: 'none' });
  const token = readFileSync(tokenFile, 'utf8').trim();
  cloud = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'test' });
  const kinds = ['cloudproviders', 'cloudloadbalancers', 'cloudroutes', 'cloudinstances'];
  const files = kinds.map((plural) => `--filename=${join(__dirname, '../../../crds/generated', `${plural}.yaml`)}`);
  await cluster.kubectl(['apply', '--server-side', ...files]);
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd', ...kinds.map((plural) => `${plural}.cloud-operator.dev`)]);
  const local = { endpoint, tokenFile };
  for (const [name, spec] of Object.entries({
    local: { local, managementPolicy: 'Observe', nodeSelector: { pool: 'watched' } },
    other: { local, nodeSelector: { pool: 'own' } },
  }))
    await kube.create(CLOUD_PROVIDERS, undefined, { apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name }, spec });
  await addNode('n1', 'watched');
  await addNode('n2', 'own');
  writeCloudConfig({ paths, cloud: local, provider: {} });
  await guard.start({
    ...{ name: 'operator', command: process.execPath, cwd: paths.root, log: join(paths.logs, 'operator.log'), graceMs: 15_000 },
    args: [
      ...[compiled('operator/cli/main'), 'run', `--kubeconfig=${cluster.kubeconfigPath}`, '--leader-elect=false', '--install-crds=false'],
      ...['--cloud-provider=local', `--cloud-config=${paths.operatorConfig}`, `--port=${await freePort()}`],
      ...['--cluster-cidr=10.244.0.0/16', '--allocate-node-cidrs'],
    ],
    environment: { ...minimalEnvironment(), CLOUD_OPERATOR_PULUMI: pulumi },
  });
}, CLUSTER_START_MS);

afterAll(async () => {
  await guard?.close();
  await Promise.all([kube?.close(), cloud?.close()]);
  await cluster?.stop();
  rmSync(paths.root, { recursive: true, force: true });
});

async function addNode(name: string, pool: string): Promise<void> {
  await cloud.create('instances', { name }, `test-${name}`, {});
  await kube.create(NODES, undefined, {
    metadata: { name, labels: { pool } },
    spec: { taints: [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' }] },
  });
}

function looked(name: string): Promise<Node> {
  return waitFor(
    async () => {
      const node = await kube.get<Node>(NODES, name);
      const tainted = node?.spec.taints?.some(({ key }) => key === UNINITIALIZED) ?? false;
      return !tainted && node?.spec.podCIDRs !== undefined && node;
    },
    { what: `Node ${name} to be initialized, and to have podCIDRs`, timeoutMs: 30_000, pollMs: 100 },
  );
}

test('what CloudProviders say of their Nodes holds from the start, and when it changes, although a kind is missing', async () => {
  const before = await kube.get<Node>(NODES, 'n1');
  await looked('n2');
  expect(await kube.get<Node>(NODES, 'n1')).toEqual(before);
  await kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { managementPolicy: 'Default' } });
  await looked('n1');
});
