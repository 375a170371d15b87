import { manifests, type ManifestFile, type ManifestObject, type ManifestOptions } from '../../../synth/manifests';
import { settingsOf } from '../../../synth/options';
import { permissions } from '../../../operator/permissions';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { CertificateAuthority } from '../../harness/certificate-authority';
import { waitFor } from '../../harness/wait-for';
import { pathOf, RawApi, type Answer } from './raw-api';

const ENFORCE = 'pod-security.kubernetes.io/enforce';
const OPERATOR_NAMESPACE = 'cloud-operator-system';
const USER = `system:serviceaccount:${OPERATOR_NAMESPACE}:cloud-operator`;
const GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${OPERATOR_NAMESPACE}`, 'system:authenticated'];

let cluster: TestCluster;
let api: RawApi;
const objects: ManifestObject[] = manifests().map(({ object }) => object);

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false });
  api = new RawApi(cluster);
  for (const object of objects) {
    const { status } = await api.apply(pathOf(object), object, 'argocd-controller');
    expect({ object: pathOf(object), status }).toEqual({ object: pathOf(object), status: 201 });
  }
  // What the API server says of them is a change, too.
  for (const crd of objects.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
    await waitFor(async () => isEstablished(await api.get(pathOf(crd))), { timeoutMs: 20_000, what: `${pathOf(crd)} to be established` });
  }
}, CLUSTER_START_MS);

function isEstablished({ body }: Answer): boolean {
  return body.status.conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

afterAll(async () => {
  api?.close();
  await cluster?.stop();
});

interface Access {
  group: string;
  resource: string;
  verb: string;
  namespace?: string;
  name?: string;
}

async function mayDo({ group, resource, verb, namespace, name }: Access): Promise<boolean> {
  const [plural, subresource] = resource.split('/');
  const resourceAttributes = { group, resource: plural, subresource, verb, namespace, name };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: USER, groups: GROUPS, resourceAttributes },
  };
  const { status, body } = await api.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
  expect(status).toBe(201);
  return body.status.allowed === true;
}

describe('the manifests on a real API server', () => {
  it.each(['argocd-controller', 'kustomize-controller'])('do not move when %s applies them again', async (manager) => {
    const versions: (string | undefined)[][] = [];
    for (let round = 0; round < 2; round++) {
      const answers = [];
      for (const object of objects) answers.push(await api.apply(pathOf(object), object, manager));
      versions.push(answers.map(({ body }) => body.metadata.resourceVersion));
    }
    expect(versions[1]).toEqual(versions[0]);
  });

  it('are taken from another tool too, without a conflict about what the API server has filled in', async () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const args = ['apply', '--server-side', '--dry-run=server', '--field-manager=another', '-f', '-'];
    await expect(cluster.kubectl(args, list)).resolves.toContain('validatingadmissionpolicy');
  });

  it('lose nothing that was written', async () => {
    for (const object of objects) expect((await api.get(pathOf(object))).body).toMatchObject(object);
  });

  it('pass kubectl’s strict validation', async () => {
    const documents = manifests({ provider: { kind: 'local', config: 'local: {}\n' } }).map(({ yaml }) => yaml);
    const output = await cluster.kubectl(
      ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-'],
      documents.join('---\n'),
    );
    expect(output.trim().split('\n')).toHaveLength(documents.length);
  });
});

describe('webhooks on a real API server', () => {
  it('are taken as they are written, a second time without a change', async () => {
    const webhooks = {
      names: ['persistent-volume-label' as const],
      trust: { caBundle: new CertificateAuthority('ours').cert },
      port: 10260,
    };
    const documents = manifests({ webhooks }).filter(
      ({ object }) => object.metadata.labels?.['app.kubernetes.io/component'] === 'webhooks',
    );
    expect(documents.map(({ object }) => object.kind)).toEqual(['Service', 'MutatingWebhookConfiguration']);
    const input = documents.map(({ yaml }) => yaml).join('---\n');
    const applied = (): Promise<string> => cluster.kubectl(['apply', '--server-side', '--validate=strict', '-o', 'yaml', '-f', '-'], input);
    expect(await applied()).toBe(await applied());
    for (const { object } of documents) expect((await api.get(pathOf(object))).body).toMatchObject(object);
    await cluster.kubectl(['delete', '-f', '-'], input);
  });
});

describe('the operator’s rights', () => {
  const table = permissions(settingsOf({}));
  const wanted: Access[] = table.flatMap(({ group, resources, verbs, names, namespace }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        (names ?? [undefined]).map((name) => ({ group, resource, verb, ...(namespace && { namespace }), ...(name && { name }) })),
      ),
    ),
  );

  beforeAll(async () => {
    // the authorizer reads roles from a cache of its own
    await waitFor(() => mayDo({ group: '', resource: 'nodes', verb: 'patch' }), { timeoutMs: 10_000, what: 'the roles to be in force' });
  });

  it('allow every row of the table', async () => {
    const denied = [];
    for (const access of wanted) if (!(await mayDo(access))) denied.push(access);
    expect(denied).toEqual([]);
  });

  it('allow nothing else, of all that the API server offers', async () => {
    const inTable = new Set(wanted.map(({ group, resource, verb, namespace, name }) => [group, resource, verb, namespace, name].join(' ')));
    const surplus = [];
    for (const access of await everything()) {
      for (const namespace of [undefined, 'kube-system', OPERATOR_NAMESPACE]) {
        const clusterWide = inTable.has([access.group, access.resource, access.verb, undefined, undefined].join(' '));
        const here = inTable.has([access.group, access.resource, access.verb, namespace, undefined].join(' '));
        if (!clusterWide && !here && (await mayDo({ ...access, ...(namespace && { namespace }) }))) surplus.push({ ...access, namespace });
      }
    }
    // everybody may ask what they may do
    expect(surplus.filter(({ resource }) => !/^self(subject(access|rules)|subject)reviews$/.test(resource))).toEqual([]);
  }, 120_000);

  it.each<[string, Access]>([
    ['read a Secret of another namespace', { group: '', resource: 'secrets', verb: 'get', namespace: 'default', name: 'x' }],
    ['list Secrets of another namespace', { group: '', resource: 'secrets', verb: 'list', namespace: 'kube-system' }],
    ['watch Secrets, even its own', { group: '', resource: 'secrets', verb: 'watch', namespace: OPERATOR_NAMESPACE }],
    ['write a Secret of another namespace', { group: '', resource: 'secrets', verb: 'patch', namespace: 'default', name: 'x' }],
    ['delete a Service', { group: '', resource: 'services', verb: 'delete', namespace: 'default', name: 'x' }],
    ['change a Service’s spec', { group: '', resource: 'services', verb: 'patch', namespace: 'default', name: 'x' }],
    ['delete a CloudProvider', { group: 'cloud-operator.dev', resource: 'cloudproviders', verb: 'delete', name: 'x' }],
    [
      'change a CRD',
      { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'patch', name: 'cloudroutes.cloud-operator.dev' },
    ],
    ['read another CRD', { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'get', name: 'x.example.com' }],
    ['take another lease', { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', namespace: 'kube-system', name: 'x' }],
    ['take a lease elsewhere', { group: 'coordination.k8s.io', resource: 'leases', verb: 'create', namespace: 'default' }],
    ['read another Namespace', { group: '', resource: 'namespaces', verb: 'get', name: 'default' }],
    ['run Pods', { group: '', resource: 'pods', verb: 'create', namespace: OPERATOR_NAMESPACE }],
    ['give itself rights', { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'escalate', name: 'cloud-operator' }],
    ['be somebody else', { group: '', resource: 'users', verb: 'impersonate', name: 'admin' }],
  ])('do not let it %s', async (_title, access) => {
    expect(await mayDo(access)).toBe(false);
  });

  describe('in place of a cloud-controller-manager', () => {
    const leaderElection = { namespace: 'kube-system', name: 'cloud-controller-manager', migration: 'second' };
    const settings = { flags: ['--v=2'], health: { host: '127.0.0.1', port: 10258 }, serviceAccountCredentials: false };
    const variant = (workload: 'Deployment' | 'DaemonSet'): ManifestFile[] =>
      manifests({ leaderElection, controllerManager: { workload, ...settings } });
    const delegated: Access[] = [
      { group: 'authentication.k8s.io', resource: 'tokenreviews', verb: 'create' },
      { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verb: 'create' },
      { group: '', resource: 'configmaps', verb: 'get', namespace: 'kube-system', name: 'extension-apiserver-authentication' },
      { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', namespace: 'kube-system', name: 'second' },
    ];

    it.each(['Deployment', 'DaemonSet'] as const)('pass kubectl’s strict validation as a %s', async (workload) => {
      const documents = variant(workload).map(({ yaml }) => yaml);
      const output = await cluster.kubectl(
        ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-'],
        documents.join('---\n'),
      );
      expect(output).toContain(`${workload.toLowerCase()}.apps/cloud-operator`);
    });

    it('are what its HTTPS server and the second lease need, and no more', async () => {
      const allowed = async (): Promise<boolean[]> => Promise.all(delegated.map(mayDo));
      expect(await allowed()).toEqual([false, false, false, false]);
      for (const { object } of variant('DaemonSet')) {
        const { status } = await api.apply(pathOf(object), object, 'argocd-controller');
        expect({ object: pathOf(object), ok: status === 200 || status === 201 }).toEqual({ object: pathOf(object), ok: true });
      }
      const inForce = async (): Promise<boolean> => (await allowed()).every(Boolean);
      await waitFor(inForce, { timeoutMs: 10_000, what: 'the delegated rights to be in force' });
      const other = { group: '', resource: 'configmaps', verb: 'get', namespace: 'kube-system', name: 'another' };
      const third = { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', namespace: 'kube-system', name: 'third' };
      expect(await Promise.all([other, third].map(mayDo))).toEqual([false, false]);
    });
  });

  /** Every resource and verb of the API server's own discovery. */
  async function everything(): Promise<Access[]> {
    const { groups } = (await api.get('/apis')).body;
    const versions = [
      { group: '', path: '/api/v1' },
      ...groups.map(({ name, preferredVersion }) => ({ group: name, path: `/apis/${preferredVersion.groupVersion}` })),
    ];
    const lists = await Promise.all(
      versions.map(async ({ group, path }) =>
        (await api.get(path)).body.resources.flatMap(({ name, verbs }) => verbs.map((verb) => ({ group, resource: name, verb }))),
      ),
    );
    const found = lists.flat();
    expect(found.length).toBeGreaterThan(200);
    return found;
  }
});

// Last: it binds the roles to others.
describe('every shape of an installation on a real API server', () => {
  const controllerManager = { flags: [], health: { host: '127.0.0.1', port: 10258 }, serviceAccountCredentials: true };
  const shapes: [name: string, options: ManifestOptions][] = [
    ['a DaemonSet', { workload: 'DaemonSet', stateNamespace: 'cloud-operator-state' }],
    ['a static Pod', { workload: 'StaticPod' }],
    ['a Deployment on the Pods’ network', { network: 'Pod', replicas: 3, apiServer: { host: '192.0.2.1', port: 6443 } }],
    ['a Deployment with monitoring', { monitoring: true }],
    ['a controller-manager', { controllerManager: { ...controllerManager, workload: 'DaemonSet' } }],
  ];

  it.each(shapes)('%s is taken as it is written, a second time without a change', async (_, options) => {
    const written = manifests(options).filter(({ part, object }) => part !== 'crds' && !object.apiVersion.startsWith('monitoring.'));
    const versions: string[][] = [[], []];
    for (const round of versions) {
      for (const { object } of written) {
        const { status, body } = await api.apply(pathOf(object), object, 'argocd-controller');
        expect({ object: pathOf(object), ok: status === 200 || status === 201, status }).toMatchObject({ ok: true });
        expect(body).toMatchObject(object);
        round.push(body.metadata.resourceVersion);
      }
    }
    expect(versions[1]).toEqual(versions[0]);
  });

  /** What the API server's own pod security says to the Pods, in a namespace of the strictest level. */
  async function refusalOf(options: ManifestOptions): Promise<string | undefined> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels: { [ENFORCE]: 'restricted' } } };
    await api.apply('/api/v1/namespaces/strict', namespace, 'test');
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'cloud-operator', namespace: 'strict' } };
    await api.apply(pathOf(account), account, 'test');
    const { object } = manifests(options).find((file) => ['Deployment', 'DaemonSet', 'Pod'].includes(file.object.kind))!;
    const { template, ...pod } = object.spec as { template?: { spec: object } };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'cloud-operator' }, spec: template?.spec ?? pod };
    const answer = await api.create('/api/v1/namespaces/strict/pods?dryRun=All', body);
    return answer.status === 201 ? undefined : (answer.body as unknown as { message: string }).message;
  }

  it('is as strict about its Pods as its network allows', async () => {
    const provider = { kind: 'local', config: 'local: {}\n' };
    const extension = { file: 'spare.ts', text: 'export default {};' };
    expect(await refusalOf({ network: 'Pod', provider, extension })).toBeUndefined();
    const violations = (message: string | undefined): string[] =>
      (/violates PodSecurity "restricted:latest": (.*)$/.exec(message ?? '')?.[1] ?? '')
        .split(/, (?=[A-Za-z ]+ \()/)
        .map((violation) => violation.replace(/ \(.*$/, ''));
    // The probes ask at the Node's loopback.
    const host = ['host namespaces', 'probe or lifecycle host'];
    const scheduled = ['host namespaces', 'hostPort', 'probe or lifecycle host'];
    expect(violations(await refusalOf({ provider, extension }))).toEqual(scheduled);
    expect(violations(await refusalOf({ workload: 'DaemonSet' }))).toEqual(scheduled);
    const file = ['hostPath volumes', 'restricted volume types'];
    const refused = violations(await refusalOf({ workload: 'StaticPod' }));
    expect(refused).toEqual(expect.arrayContaining(host));
    expect(refused.filter((violation) => ![...host, ...file].includes(violation))).toEqual([]);
  });
});
