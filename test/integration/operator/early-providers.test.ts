import { join } from 'node:path';
import { API_VERSION, CLOUD_PROVIDERS } from '../../../crds';
import { freePort } from '../../../dev/cluster/free-port';
import { NODES, type Node } from '../../../operator/kube/object';
import { TAINT_UNINITIALIZED } from '../../../operator/kube/well-known';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';
import { BareCluster } from './bare-cluster';

/**
 * The operator starts in a cluster whose CloudStacks it will never see: their kind is missing. What its CloudProviders say holds all the same:
 * `local` is only observed, other than the flags say, and has the Nodes of the pool `watched`; `other` looks after those of the pool `own`.
 */

let cluster: BareCluster;

beforeAll(async () => {
  cluster = await BareCluster.start();
  const { kube, local, test: bare } = cluster;
  const kinds = ['cloudproviders', 'cloudloadbalancers', 'cloudroutes', 'cloudinstances'];
  const files = kinds.map((plural) => `--filename=${join(__dirname, '../../../crds/generated', `${plural}.yaml`)}`);
  await bare.kubectl(['apply', '--server-side', ...files]);
  await bare.kubectl(['wait', '--for=condition=Established', 'crd', ...kinds.map((plural) => `${plural}.cloud-operator.dev`)]);
  for (const [name, spec] of Object.entries({
    local: { local, managementPolicy: 'Observe', nodeSelector: { pool: 'watched' } },
    other: { local, nodeSelector: { pool: 'own' } },
  }))
    await kube.create(CLOUD_PROVIDERS, undefined, { apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name }, spec });
  await cluster.addNode('n1', { pool: 'watched' });
  await cluster.addNode('n2', { pool: 'own' });
  await cluster.startOperator([
    ...['run', `--kubeconfig=${bare.kubeconfigPath}`, '--leader-elect=false', '--install-crds=false', `--port=${await freePort()}`],
    ...['--cluster-cidr=10.244.0.0/16', '--allocate-node-cidrs'],
  ]);
}, CLUSTER_START_MS);

afterAll(() => cluster?.stop());

function looked(name: string): Promise<Node> {
  return waitFor(
    async () => {
      const node = await cluster.kube.get<Node>(NODES, name);
      const tainted = node?.spec.taints?.some(({ key }) => key === TAINT_UNINITIALIZED) ?? false;
      return !tainted && node?.spec.podCIDRs !== undefined && node;
    },
    { what: `Node ${name} to be initialized, and to have podCIDRs`, timeoutMs: 30_000, pollMs: 100 },
  );
}

test('what CloudProviders say of their Nodes holds from the start, and when it changes, although a kind is missing', async () => {
  const before = await cluster.kube.get<Node>(NODES, 'n1');
  await looked('n2');
  expect(await cluster.kube.get<Node>(NODES, 'n1')).toEqual(before);
  await cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { managementPolicy: 'Default' } });
  await looked('n1');
});
