import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { APPROVAL_POLICY, CLOUD_PROVIDERS, type Condition, KINDS, SERVICE_READY_CONDITION } from '../../../crds';
import { freePort } from '../../../dev/cluster/free-port';
import { serviceAccount } from '../../../dev/cluster/credentials';
import { OPERATOR_NAMESPACE } from '../../../dev/cluster/operator';
import type { GuardedProcess } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import type { StoredProvider } from '../../../operator/cloud/providers/provider-reconciler';
import type { KubeClient } from '../../../operator/kube/client';
import { EVENTS, NODES, SERVICES, type KubeCondition, type KubeObject, type Node, type Service } from '../../../operator/kube/object';
import { TAINT_UNINITIALIZED } from '../../../operator/kube/well-known';
import type { LocalCloudClient } from '../../../providers/local/client';
import { CLUSTER_START_MS, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';
import { BareCluster } from './bare-cluster';

/**
 * A new cluster, as an existing manifest of a cloud-controller-manager finds it whose image is now ours: no kind of ours, no CloudProvider, and
 * exactly the rights that upstream's has (contract 7.8). Then one manifest is added. The same process goes on to the end.
 */

const ACCOUNT = { namespace: 'kube-system', name: 'cloud-controller-manager' };
const IDENTITY = serviceAccount(ACCOUNT.namespace, ACCOUNT.name);

const EVENTS_VERBS = ['create', 'patch', 'update'];
const UPSTREAM = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'system:cloud-controller-manager' },
  rules: [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'update', 'delete', 'patch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch', 'update'] },
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['services/status'], verbs: ['patch', 'update'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: EVENTS_VERBS },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get', 'create'] },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  ],
};
const BINDING = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'system:cloud-controller-manager' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: UPSTREAM.metadata.name },
  subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
};
const FLAGS = [
  ...['--node-monitor-period=1s', '--node-deletion-grace=0'],
  // The rights for it are another role's, which is missing too at first.
  '--authentication-tolerate-lookup-failure',
];
const KIND_NAMES = KINDS.map(({ plural }) => plural).sort();
/** What ours needs beyond upstream's, in the words of the log. */
const MISSING = [
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map(
    (plural) => `${plural}.admissionregistration.k8s.io "${APPROVAL_POLICY}" (get)`,
  ),
  ...KIND_NAMES.flatMap((plural) => [
    `${plural}.cloud-operator.dev/status (patch)`,
    `${plural}.cloud-operator.dev (${plural === 'cloudproviders' ? 'create, get, list, patch, watch' : 'create, delete, get, list, patch, watch'})`,
    `customresourcedefinitions.apiextensions.k8s.io "${plural}.cloud-operator.dev" (get)`,
  ]),
  'namespaces "kube-system" (get)',
  'namespaces (list, watch)',
  'services/finalizers (update)',
  `secrets in ${OPERATOR_NAMESPACE} (create, delete, get, list, patch)`,
  'configmaps "extension-apiserver-authentication" in kube-system (get) for --authentication-kubeconfig',
  'tokenreviews.authentication.k8s.io (create) for --authentication-kubeconfig',
  'subjectaccessreviews.authorization.k8s.io (create) for --authorization-kubeconfig',
].sort();
/** Generous, for a busy machine. */
const SOON_MS = 60_000;
jest.setTimeout(150_000);

let bare: BareCluster;
let cluster: TestCluster;
let kube: KubeClient;
let cloud: LocalCloudClient;
let operator: GuardedProcess;

beforeAll(async () => {
  bare = await BareCluster.start({ identities: [IDENTITY] });
  ({ test: cluster, kube, cloud } = bare);
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [UPSTREAM, BINDING] }));
  await addNode('n1');
  await kube.create<Service>(SERVICES, 'default', {
    metadata: { name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: 'web' } },
  });
  const kubeconfigs = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
    (flag) => `--${flag}=${cluster.controlPlane.kubeconfigFor(IDENTITY.user)}`,
  );
  operator = await bare.startOperator(
    ['controller-manager', ...kubeconfigs, '--bind-address=127.0.0.1', `--secure-port=${await freePort()}`, ...FLAGS],
    { driftInterval: '1h', routePeriod: '1h' },
  );
}, CLUSTER_START_MS);

afterAll(() => bare?.stop());

async function addNode(name: string): Promise<void> {
  await bare.addNode(name);
  const condition = { type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime: new Date().toISOString() };
  await kube.patch(NODES, name, 'strategic', { status: { conditions: [condition] } }, { subresource: 'status' });
}

const until = <T>(what: string, condition: () => Promise<T | undefined | false>): Promise<T> =>
  waitFor(condition, { what, timeoutMs: SOON_MS, pollMs: 100 });

function initialized(name: string): Promise<Node> {
  return until(`Node ${name} to be initialized`, async () => {
    const node = await kube.get<Node>(NODES, name);
    return (node?.spec.providerID ?? '') !== '' && !node?.spec.taints?.some(({ key }) => key === TAINT_UNINITIALIZED) && node;
  });
}

/** The Service's Ready, as soon as its reason is that one. */
function ready(reason: string): Promise<KubeCondition> {
  return until(`the Service to be ${reason}`, async () => {
    const service = await kube.get<Service>(SERVICES, 'default/web');
    const condition = service?.status?.conditions?.find(({ type }) => type === SERVICE_READY_CONDITION);
    if (condition?.reason === reason) return condition;
    throw new Error(`it is ${JSON.stringify(service?.status)}`);
  });
}

test('with upstream’s rights alone, and without our kinds, Nodes are initialized and deleted', async () => {
  const node = await initialized('n1');
  expect(node.metadata.labels?.['topology.kubernetes.io/zone']).toBeDefined();
  await until('its addresses', async () =>
    (await kube.get<Node>(NODES, 'n1'))?.status?.addresses?.some(({ type }) => type === 'InternalIP'),
  );
  await addNode('n2');
  await initialized('n2');
  const [instance] = (await cloud.list('instances')).filter(({ name }) => name === 'n2');
  await cloud.remove('instances', instance?.id ?? '', {});
  await kube.patch(NODES, 'n2', 'strategic', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, { subresource: 'status' });
  await until('Node n2 to be deleted', async () => (await kube.get<Node>(NODES, 'n2')) === undefined);
});

test('each missing rule is named in the log, and in the Service’s condition', async () => {
  const condition = await ready('PermissionMissing');
  const named = [...bare.operatorLog().matchAll(/"msg":"missing RBAC rule: ((?:[^"\\]|\\.)*)"/g)].map(
    ([, rule]) => JSON.parse(`"${rule}"`) as string,
  );
  expect(named.sort()).toEqual(MISSING);
  for (const rule of MISSING) expect(condition.message).toContain(rule);
  expect(condition.status).toBe('False');
});

const NODE_DELETION = 'nodes (delete)';

interface Role {
  kind: string;
  rules?: { resources: string[]; verbs: string[] }[];
}

/** The same without the right to delete Nodes. */
function withoutNodeDeletion<T extends Role>(object: T): T {
  const rules = object.rules?.map((rule) =>
    rule.resources.includes('nodes') ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') } : rule,
  );
  return rules === undefined ? object : { ...object, rules };
}

const applyAll = (items: object[]): Promise<string> =>
  cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

test('when our kinds and their rights come, as one manifest, everything works, in the same process; what one loop lacks is told on the CloudProvider', async () => {
  const command = [compiled('operator/cli/main'), 'manifests', '--service-account', `${ACCOUNT.namespace}/${ACCOUNT.name}`, '--', ...FLAGS];
  const { stdout: manifest } = await promisify(execFile)(process.execPath, command, { maxBuffer: 16 * 1024 * 1024 });
  const objects = parseAllDocuments(manifest).flatMap((document) => (document.toJS() as Role | null) ?? []);
  await applyAll([...objects, UPSTREAM].map(withoutNodeDeletion));
  await ready('Ready');
  const service = await kube.get<Service>(SERVICES, 'default/web');
  expect(service?.status?.loadBalancer?.ingress).toHaveLength(1);
  expect(await kube.get(CLOUD_PROVIDERS, 'local')).toBeDefined();
  const [pool] = await cloud.list('pools');
  expect(pool).toBeDefined();
  const warning = (): Promise<Condition | undefined> =>
    kube
      .get<StoredProvider>(CLOUD_PROVIDERS, 'local')
      .then((provider) => provider?.status?.conditions?.find(({ type }) => type === 'Warning'));
  const told = await until('the CloudProvider to say what is missing', async () => {
    const condition = await warning();
    return condition?.message.endsWith(`: ${NODE_DELETION}`) === true && condition;
  });
  expect(told).toMatchObject({ status: 'True', reason: 'PermissionMissing' });
  await until('the Event', async () =>
    (await kube.list<KubeObject & { reason: string; message: string }>(EVENTS)).some(
      ({ reason, message }) => reason === 'PermissionMissing' && message.endsWith(`: ${NODE_DELETION}`),
    ),
  );
  await applyAll([...objects, UPSTREAM]);
  await until('nothing to be said any more', async () => (await warning()) === undefined);
  expect(operator.exit).toBeUndefined();
  await until('the log to say so', () => Promise.resolve(bare.operatorLog().includes('no RBAC rule is missing any more')));
  expect(await operator.stop()).toEqual({ code: 0, signal: null });
});
