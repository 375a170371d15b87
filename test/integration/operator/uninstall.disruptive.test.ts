import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ANNOTATIONS, CLOUD_PROVIDERS, GROUP, KINDS } from '../../../crds';
import { OPERATOR_NAMESPACE } from '../../../dev/cluster/operator';
import { PROJECT_ROOT } from '../../../operator/entry';
import { SECRETS } from '../../../operator/kube/object';
import { manifests } from '../../../synth/manifests';
import { ensureTools } from '../../../tools/ensure';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { snippetsOf } from '../../harness/snippets';
import { addressOf, NONE, type Scene, serviceOf, withScene } from './scene';

/** after what was missing is back, every deletion ends within a minute, without a hand on a finalizer. */
const ENDS_MS = 60_000;
const RBAC = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
/** The test cluster has no machines for Pods: the harness runs the operator. */
const WITHOUT_PODS = ['Deployment', 'PodDisruptionBudget'];

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

const written = manifests({ namespace: OPERATOR_NAMESPACE }).filter(({ object }) => !WITHOUT_PODS.includes(object.kind));

async function applyAll(): Promise<void> {
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=cloud-operator-dev', '-f', '-'];
  await cluster.kubectl(args, written.map(({ yaml }) => yaml).join('---\n'));
}

/** @returns its address, and the id of its load balancer in the cloud */
async function served(name: string, namespace = 'default'): Promise<{ address: string; id: string }> {
  await cluster.apply(serviceOf(name, { namespace }));
  const address = await scene.published(name, namespace);
  return { address, id: (await scene.inCloud(name, namespace)).id };
}

/** As a person does who reads the page: in a shell, with kubectl in the PATH. */
async function run(commands: string): Promise<void> {
  const { kubectl = '' } = await ensureTools(['kubectl']);
  const env = { ...process.env, PATH: `${dirname(kubectl)}:${process.env.PATH}`, KUBECONFIG: cluster.kubeconfigPath };
  await promisify(execFile)('sh', ['-euc', commands], { env });
}

async function ends(name: string, namespace = 'default'): Promise<void> {
  await scene.gone(`Service ${namespace}/${name}`, () => scene.service(name, namespace), ENDS_MS);
  await scene.gone(`CloudLoadBalancer ${namespace}/${name}`, () => scene.loadBalancer(name, namespace), ENDS_MS);
  expect(await scene.counts(name, namespace)).toEqual(NONE);
}

/** It is being deleted, and still has all that it had in the cloud. */
async function expectWaiting(name: string, id: string): Promise<void> {
  expect((await scene.service(name))?.metadata.deletionTimestamp).toBeDefined();
  expect((await scene.inCloud(name)).id).toBe(id);
  expect(await scene.counts(name)).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
}

test('R-40 the objects first, while the operator runs: the cloud is empty before the operator goes', async () => {
  await served('good');
  await cluster.kubectl(['delete', 'service', 'good', '--timeout=60s']);
  await ends('good');
});

test('R-40 the Deployment first: what is deleted then waits, and ends once the operator is back', async () => {
  const { id } = await served('left');
  await cluster.stopOperator();
  await cluster.kubectl(['delete', 'service', 'left', '--cascade=foreground', '--wait=false']);
  await cluster.kubectl(['delete', 'clb', 'left', '--wait=false', '--ignore-not-found']);
  await expectWaiting('left', id);
  await cluster.startOperator();
  await ends('left');
});

test('R-40 its rights first, while it runs: what is deleted then waits, and ends once they are back, in the same process', async () => {
  const { id } = await served('barred');
  const pid = cluster.operatorPid;
  const rights = written.filter(({ object }) => RBAC.includes(object.kind)).map(({ yaml }) => yaml);
  await cluster.kubectl(['delete', '-f', '-'], rights.join('---\n'));
  await cluster.kubectl(['delete', 'service', 'barred', '--wait=false']);
  await scene.until('the log to say what is refused', () => Promise.resolve(/forbidden/i.test(cluster.operatorLog())), ENDS_MS);
  await expectWaiting('barred', id);
  await applyAll();
  await ends('barred');
  expect(cluster.operatorPid).toBe(pid);
});

test('a Namespace with everything in it: Services, and load balancers that people wrote', async () => {
  await cluster.kubectl(['create', 'namespace', 'whole']);
  await served('web', 'whole');
  const listeners = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30090 }];
  const spec = { provider: 'local', listeners, local: {} };
  await cluster.apply({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'CloudLoadBalancer',
    metadata: { name: 'by-hand', namespace: 'whole' },
    spec,
  });
  await scene.ready('by-hand', { namespace: 'whole' });
  await cluster.kubectl(['delete', 'namespace', 'whole', '--timeout=90s']);
  for (const name of ['web', 'by-hand']) expect(await scene.counts(name, 'whole')).toEqual(NONE);
});

test('the Secret of a CloudProvider before its users: they wait and say so, and end once it is back', async () => {
  const token = await cluster.tokenText();
  const secret = (): Promise<unknown> =>
    cluster.kube.create(SECRETS, OPERATOR_NAMESPACE, { metadata: { name: 'spare' }, stringData: { token: token.trim() } });
  await secret();
  const local = { endpoint: cluster.cloudEndpoint, tokenSecretRef: { name: 'spare' } };
  await cluster.kube.create(CLOUD_PROVIDERS, undefined, { metadata: { name: 'spare' }, spec: { driftInterval: '1h', local } });
  await cluster.apply(serviceOf('kept', { annotations: { [`${GROUP}/provider`]: 'spare' } }));
  await scene.published('kept');
  const { id } = await scene.inCloud('kept');
  await cluster.kube.remove(SECRETS, `${OPERATOR_NAMESPACE}/spare`);
  // A new process has nothing in its memory.
  await cluster.stopOperator();
  await cluster.startOperator();
  await cluster.kubectl(['delete', 'service', 'kept', '--wait=false']);
  await cluster.kubectl(['delete', 'cloudprovider', 'spare', '--wait=false']);
  await scene.until('the CloudLoadBalancer to name the Secret', async () =>
    (await scene.loadBalancer('kept'))?.status?.conditions?.find(({ message }) =>
      message.includes(`Secret "spare" in namespace ${OPERATOR_NAMESPACE}`),
    ),
  );
  await expectWaiting('kept', id);
  expect(await scene.provider('spare')).toBeDefined();
  await secret();
  await ends('kept');
  await scene.gone('the CloudProvider', () => scene.provider('spare'), ENDS_MS);
});

test('the operator’s namespace first, with the state in it: a new installation takes up what serves', async () => {
  const { address, id } = await served('stateless');
  await cluster.stopOperator();
  await cluster.kubectl(['delete', 'namespace', OPERATOR_NAMESPACE, '--timeout=60s']);
  expect(addressOf(await scene.service('stateless'))).toBe(address);
  await applyAll();
  await cluster.startOperator();
  await scene.until(
    'the operator to have looked after it',
    async () => (await scene.stackOf('stateless')).status?.members?.includes('default/stateless') && (await scene.ready('stateless')),
    ENDS_MS,
  );
  await scene.settled();
  expect((await scene.inCloud('stateless')).id).toBe(id);
  expect(addressOf(await scene.service('stateless'))).toBe(address);
  await cluster.kubectl(['delete', 'service', 'stateless', '--wait=false']);
  await ends('stateless');
});

test('the CRDs first: nothing goes in the cloud; after the documented way out the old stack is kept until it is released, and told of', async () => {
  const { address, id } = await served('kindless');
  const { metadata } = await scene.stackOf('kindless');
  await cluster.cloud.resetCalls();
  const crds = KINDS.map(({ plural }) => `${plural}.${GROUP}`);
  await cluster.kubectl(['delete', 'crd', ...crds, '--wait=false']);
  await scene.condition('kindless', 'Reconciling', 'KindDeleted');
  await scene.settled();
  expect((await cluster.operatorCalls()).writes).toBe(0);

  await cluster.stopOperator();
  const [wayOut = ''] = snippetsOf(readFileSync(join(PROJECT_ROOT, 'docs/operate/uninstall.md'), 'utf8'), 'sh');
  await run(wayOut);
  await cluster.kubectl(['wait', '--for=delete', '--timeout=60s', ...crds.map((name) => `crd/${name}`)]);
  expect(addressOf(await scene.service('kindless'))).toBe(address);
  expect((await scene.inCloud('kindless')).id).toBe(id);

  await applyAll();
  await cluster.startOperator();
  // Its objects are new ones: what there was belongs to nobody until a person decides.
  const told = await scene.until(
    'the CloudLoadBalancer to name the former stack',
    async () =>
      (await scene.loadBalancer('kindless'))?.status?.conditions?.find(({ message }) => message.includes(`stack ${metadata.name}`)),
    ENDS_MS,
  );
  expect(told.message).toContain('docs/operate/adopt.md');
  expect((await scene.inCloud('kindless')).id).toBe(id);
  // Its state is all that is left of it in the cluster: a sweep finds it in the cloud, and a person may have it deleted.
  await cluster.kubectl(['annotate', 'cloudprovider', 'local', '--overwrite', `${ANNOTATIONS.sweep}=${Date.now()}`]);
  const former = await scene.until(
    'the former stack to be a leftover',
    async () => {
      const found = await scene.stack(metadata.name);
      return found?.status?.incarnation === undefined ? undefined : found;
    },
    ENDS_MS,
  );
  await cluster.kubectl(['annotate', 'cloudstack', metadata.name, '--overwrite', `${ANNOTATIONS.release}=${former.status?.incarnation}`]);
  await scene.gone('the former stack', () => scene.stack(metadata.name), ENDS_MS);
  await scene.ready('kindless', { timeoutMs: ENDS_MS });
  expect((await scene.inCloud('kindless')).id).not.toBe(id);
  await cluster.kubectl(['delete', 'service', 'kindless', '--wait=false']);
  await ends('kindless');
});
