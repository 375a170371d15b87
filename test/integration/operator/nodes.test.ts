import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../dev/cluster/free-port';
import { OPERATOR_NAMESPACE } from '../../../dev/cluster/operator';
import { NODES, type KubeObject, type ResourcePath } from '../../../operator/kube/object';
import type { FaultRule } from '../../../providers/local/api';
import { manifests, type ManifestObject } from '../../../synth/manifests';
import { CertificateAuthority } from '../../harness/certificate-authority';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { isTainted, Scene } from './scene';

const SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown';
const LIST_INSTANCES = { verb: 'list', collection: 'instances' } as const;

const VOLUMES: ResourcePath = { group: '', version: 'v1', plural: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false };

let cluster: OperatorCluster;
let webhookPort: number;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ started: false });
  webhookPort = await freePort();
  writeWebhookCertificate();
  await cluster.startOperator([...['--node-monitor-period=300ms', '--node-deletion-grace=1s'], ...webhookFlags()]);
  scene = new Scene(cluster);
  // Not more than half of all Nodes are deleted within five minutes.
  for (let index = 0; index < 30; index++) {
    await cluster.kube.create(NODES, undefined, { metadata: { name: `crowd-${index}` }, spec: { providerID: `other:///${index}` } });
  }
}, OPERATOR_CLUSTER_START_MS);

afterAll(() => cluster?.stop());

afterEach(async () => {
  await scene.faults();
});

test('three new Nodes are initialized from a few listings, and mirrored', async () => {
  const spec = { zone: 'zone-b', type: 'local.large' };
  const names = ['n1', 'n2', 'n3'];
  for (const name of names) await cluster.resources.create('instances', { name, ...spec }, `test-${name}`, {});
  await cluster.cloud.resetCalls();
  await Promise.all(names.map((name) => scene.addNodeObject(name)));
  const instances = await cluster.resources.list('instances');
  for (const name of names) {
    const node = await scene.initialized(name);
    const instance = instances.find((one) => one.name === name);
    expect(node.spec.providerID).toBe(instance?.providerID);
    expect(node.metadata.labels).toMatchObject({
      'node.kubernetes.io/instance-type': 'local.large',
      'topology.kubernetes.io/zone': 'zone-b',
      'topology.kubernetes.io/region': 'local',
    });
    await scene.until('its addresses', async () => {
      const addresses = (await scene.node(name))?.status?.addresses ?? [];
      expect(addresses).toContainEqual({ type: 'InternalIP', address: instance?.addresses[0]?.ip });
      return true;
    });
    const mirror = await scene.until('its CloudInstance', async () => {
      const found = await scene.instance(name);
      return found?.status?.state === undefined ? undefined : found;
    });
    expect(mirror.spec).toEqual({ provider: 'local', nodeName: name, providerID: instance?.providerID });
    expect(mirror.status).toMatchObject({ id: instance?.id, state: 'Running', type: 'local.large', zone: 'zone-b', region: 'local' });
    await scene.until('the Event', async () => (await scene.events('Node', name)).some(({ reason }) => reason === 'Synced'));
  }
  await scene.until('the CloudProvider to count them', async () => (await scene.provider())?.status?.nodes === 3);
  const { calls } = await cluster.operatorCalls();
  expect(calls).toEqual([expect.objectContaining(LIST_INSTANCES)]);
  expect(calls[0]?.count).toBeLessThanOrEqual(4);
});

const webhookFlags = (): string[] => [
  ...['--webhooks=*', '--feature-gates=CloudControllerManagerWebhook=true', `--webhook-cert-dir=${join(cluster.directory, 'webhook')}`],
  ...['--webhook-bind-address=127.0.0.1', `--webhook-secure-port=${webhookPort}`],
];

const webhooksCA = new CertificateAuthority('webhooks');
const WEBHOOKS = { namespace: OPERATOR_NAMESPACE, name: 'cloud-operator-webhooks' };

/** What the Pods have from the Secret. */
function writeWebhookCertificate(): void {
  const folder = join(cluster.directory, 'webhook');
  const { cert, key } = webhooksCA.server(`${WEBHOOKS.name}.${WEBHOOKS.namespace}.svc`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'cloud-controller-manager-webhook.crt'), cert);
  writeFileSync(join(folder, 'cloud-controller-manager-webhook.key'), key, { mode: 0o600 });
}

interface WebhookConfiguration {
  metadata: { annotations?: Record<string, string> };
  webhooks: { clientConfig: { service: { port: number }; caBundle?: string }; failurePolicy: string }[];
}

/** What an installation applies. */
function webhookObjects(trust: { caBundle: string } | 'cert-manager'): ManifestObject[] {
  const webhooks = { names: ['persistent-volume-label' as const], trust, port: webhookPort };
  const all = manifests({ namespace: WEBHOOKS.namespace, webhooks }).map(({ object }) => object);
  return all.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'webhooks');
}

/**
 * Applies the objects of an installation. There are no Pods here, so the Service is another name for this machine; the API server still asks for
 * the Service's own name, and believes only the CA of the configuration.
 */
async function registerWebhook(trust: Parameters<typeof webhookObjects>[0], change: (made: WebhookConfiguration) => void): Promise<void> {
  const local = { apiVersion: 'v1', kind: 'Service', metadata: WEBHOOKS, spec: { type: 'ExternalName', externalName: 'localhost' } };
  const objects = webhookObjects(trust).map((object) => {
    if (object.kind !== 'MutatingWebhookConfiguration') return object.kind === 'Service' ? local : object;
    const made = structuredClone(object) as unknown as WebhookConfiguration;
    for (const { clientConfig } of made.webhooks) clientConfig.service.port = webhookPort;
    change(made);
    return made;
  });
  await cluster.apply(...objects);
}

/** A volume that the webhook has seen. A configuration takes effect within a second or two. */
async function labelledVolume(): Promise<KubeObject & { spec: { nodeAffinity: unknown } }> {
  return scene.until('labels on a new volume', async () => {
    const name = `data-${Math.round(performance.now())}`;
    const made = await cluster.kube.create<KubeObject & { spec: { nodeAffinity: unknown } }>(VOLUMES, undefined, volume(name, 'disk-1'));
    return made.metadata.labels === undefined ? undefined : made;
  });
}

function volume(name: string, host: string): object {
  const onHost = { key: 'kubernetes.io/hostname', operator: 'In', values: [host] };
  return {
    metadata: { name },
    spec: {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'local', local: { path: '/data' } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onHost] }] } },
    },
  };
}

test('the API server asks the webhook about new volumes, which get the zone of their machine; it is Fail-closed while the cloud is away', async () => {
  await cluster.resources.create('instances', { name: 'disk-1', zone: 'zone-b' }, 'test-disk-1', {});
  await registerWebhook({ caBundle: webhooksCA.cert }, ({ webhooks }) => webhooks.forEach((webhook) => (webhook.failurePolicy = 'Fail')));
  const labelled = await labelledVolume();
  expect(labelled.metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'zone-b', 'topology.kubernetes.io/region': 'local' });
  expect(labelled.spec.nodeAffinity).toEqual({
    required: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'kubernetes.io/hostname', operator: 'In', values: ['disk-1'] },
            { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['zone-b'] },
            { key: 'topology.kubernetes.io/region', operator: 'In', values: ['local'] },
          ],
        },
      ],
    },
  });
  const elsewhere = await cluster.kube.create(VOLUMES, undefined, volume('elsewhere', 'no-machine-of-ours'));
  expect(elsewhere.metadata.labels).toBeUndefined();
  await scene.faults({ match: LIST_INSTANCES, act: { status: 403, code: 'Forbidden' } });
  await expect(cluster.kube.create(VOLUMES, undefined, volume('unknown', 'disk-1'))).rejects.toThrow(/persistent-volume-label/);
  const metrics = await (await fetch(`${cluster.operatorURL}/metrics`)).text();
  expect(metrics).toMatch(/^cloud_provider_webhook_request_total\{code="200",webhook="persistent-volume-label"\} [1-9]/m);
  expect(metrics).toMatch(/^cloud_provider_webhook_request_total\{code="500",webhook="persistent-volume-label"\} [1-9]/m);
  await cluster.kubectl(['delete', 'mutatingwebhookconfiguration', 'cloud-operator']);
});

test('with cert-manager: its objects are taken as they are written, and the webhook is asked once the CA has been brought', async () => {
  for (const [kind, plural] of [
    ['Issuer', 'issuers'],
    ['Certificate', 'certificates'],
  ] as const)
    await cluster.apply(certManagerCRD(kind, plural));
  await cluster.kubectl(['wait', '--for=condition=established', 'crd/issuers.cert-manager.io', 'crd/certificates.cert-manager.io']);
  // As cert-manager's own injector does it, by the annotation.
  await registerWebhook('cert-manager', ({ metadata, webhooks }) => {
    expect(metadata.annotations?.['cert-manager.io/inject-ca-from']).toBe(`${WEBHOOKS.namespace}/${WEBHOOKS.name}`);
    for (const { clientConfig } of webhooks) clientConfig.caBundle = Buffer.from(webhooksCA.cert).toString('base64');
  });
  const { spec } = JSON.parse(await cluster.kubectl(['-n', WEBHOOKS.namespace, 'get', 'certificate', WEBHOOKS.name, '-o', 'json'])) as {
    spec: object;
  };
  const dnsNames = ['svc', 'svc.cluster.local'].map((domain) => `${WEBHOOKS.name}.${WEBHOOKS.namespace}.${domain}`);
  expect(spec).toEqual({ secretName: WEBHOOKS.name, dnsNames, issuerRef: { kind: 'Issuer', name: WEBHOOKS.name } });
  expect((await labelledVolume()).metadata.labels).toMatchObject({ 'topology.kubernetes.io/zone': 'zone-b' });
  await cluster.kubectl(['delete', 'mutatingwebhookconfiguration', 'cloud-operator']);
});

/** A stand-in: a kind of cert-manager's that takes anything. */
function certManagerCRD(kind: string, plural: string): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.cert-manager.io` } },
    spec: {
      ...{ group: 'cert-manager.io', scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

test('a stopped machine taints its Node, which stays; when it runs again the taint goes', async () => {
  const { id } = await scene.addNode('stopping');
  await scene.initialized('stopping');
  await cluster.cloud.drift({ kind: 'power', id, power: 'stopped' });
  await scene.setReady('stopping', false);
  await scene.until('the shutdown taint', async () => (await scene.node('stopping'))?.spec.taints?.some(({ key }) => key === SHUTDOWN));
  await scene.until('the mirror to say so', async () => (await scene.instance('stopping'))?.status?.state === 'Stopped');
  await cluster.cloud.drift({ kind: 'power', id, power: 'running' });
  await scene.setReady('stopping', true);
  await scene.until(
    'no shutdown taint',
    async () => (await scene.node('stopping'))?.spec.taints?.some(({ key }) => key === SHUTDOWN) !== true,
  );
  await cluster.kubectl(['delete', 'node', 'stopping']);
});

test('a Node whose machine is gone is deleted, after the grace, with an Event', async () => {
  const { id } = await scene.addNode('leaving');
  await scene.initialized('leaving');
  await cluster.cloud.drift({ kind: 'power', id, power: 'terminated' });
  const goneAt = performance.now();
  await scene.setReady('leaving', false);
  await scene.gone('the Node', () => scene.node('leaving'));
  expect(performance.now() - goneAt).toBeGreaterThan(1_000);
  await scene.until('DeletingNode', async () => (await scene.events('Node', 'leaving')).some(({ reason }) => reason === 'DeletingNode'));
});

test('a Node that is Ready stays even when its machine is said to be gone', async () => {
  const { id } = await scene.addNode('alive');
  await scene.initialized('alive');
  await cluster.cloud.drift({ kind: 'power', id, power: 'terminated' });
  const { id: other } = await scene.addNode('dead');
  await scene.initialized('dead');
  await cluster.cloud.drift({ kind: 'power', id: other, power: 'terminated' });
  await scene.setReady('dead', false);
  await scene.gone('the Node that is not Ready', () => scene.node('dead'));
  expect(await scene.node('alive')).toBeDefined();
  await cluster.kubectl(['delete', 'node', 'alive']);
});

/** A Node's machine ends while the cloud answers all listings like that: for longer than the grace, and seen `answers` times. */
async function loseDuring(act: FaultRule['act'], answers: number): Promise<string> {
  const name = `kept-${Object.values(act).join('-').toLowerCase()}`;
  const { id } = await scene.addNode(name);
  await scene.initialized(name);
  await scene.faults({ match: LIST_INSTANCES, act });
  await cluster.cloud.drift({ kind: 'power', id, power: 'terminated' });
  const since = performance.now();
  await scene.setReady(name, false);
  await scene.acted(0, answers);
  await scene.until('more than the grace to be over', async () => Promise.resolve(performance.now() - since > 2_500));
  expect(await scene.node(name)).toBeDefined();
  return name;
}

test.each<[string, FaultRule['act']]>([
  ['answers 500', { status: 500, code: 'Internal' }],
  ['says that the list is not found', { status: 404, code: 'NotFound' }],
  ['throttles', { status: 429, code: 'Throttled', retryAfterMs: 100 }],
  ['loses its answers', { loseResponse: true }],
])('no Node is deleted while the cloud %s', async (_what, act) => {
  const name = await loseDuring(act, 3);
  await scene.faults();
  await scene.gone('the Node, once the cloud answers', () => scene.node(name), 60_000);
});

test('a Node that no cloud claims keeps its taint, and an Event says why', async () => {
  await scene.addNodeObject('nobodys');
  const event = await scene.until('the Event', async () => (await scene.events('Node', 'nobodys')).find(({ type }) => type === 'Warning'));
  expect(event).toMatchObject({ reason: 'InstanceUnclaimed' });
  expect(event.message).toMatch(/no CloudProvider has an instance named nobodys \(asked: local\)/);
  const node = await scene.node('nobodys');
  expect(node && isTainted(node)).toBe(true);

  await cluster.resources.create('instances', { name: 'nobodys' }, 'test-nobodys', {});
  await scene.initialized('nobodys');
});

test('a Node of another cloud is left alone', async () => {
  await scene.addNodeObject('foreign', { providerID: 'aws:///eu-central-1a/i-0123456789', ready: false });
  const event = await scene.until('the Event', async () => (await scene.events('Node', 'foreign')).find(({ type }) => type === 'Warning'));
  expect(event.message).toContain('no CloudProvider knows providerID "aws:///eu-central-1a/i-0123456789"');
  const { id } = await scene.addNode('witness');
  await scene.initialized('witness');
  await cluster.cloud.drift({ kind: 'power', id, power: 'terminated' });
  await scene.setReady('witness', false);
  await scene.gone('a Node of ours', () => scene.node('witness'));
  expect(await scene.node('foreign')).toBeDefined();
});

test('a Node that two clouds claim keeps its taint, and an Event says why; once one of them is gone, it is the other’s', async () => {
  const { spec } = (await scene.provider()) ?? {};
  const second = {
    apiVersion: 'cloud-operator.dev/v1alpha1',
    kind: 'CloudProvider',
    metadata: { name: 'second' },
    spec: { local: spec?.local },
  };
  await cluster.apply(second);
  await scene.until('the second cloud to answer', async () =>
    (await scene.provider('second'))?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  );
  await scene.addNode('shared');
  await scene.until('the Event', async () =>
    (await scene.events('Node', 'shared')).some(
      ({ reason, message }) => reason === 'InstanceAmbiguous' && /CloudProviders .*second.* have an instance for Node shared/.test(message),
    ),
  );
  const node = await scene.node('shared');
  expect(node && isTainted(node)).toBe(true);
  await cluster.kubectl(['delete', 'cloudprovider', 'second', '--timeout=20s']);
  await scene.initialized('shared');
  await scene.until('its CloudInstance', async () => (await scene.instance('shared'))?.spec.provider === 'local');
});

test('malformed Nodes keep their taint, each is told why on itself and tried seldom, and the others go on', async () => {
  const provided = { 'alpha.kubernetes.io/provided-node-ip': '203.0.113.77' };
  const cases: { name: string; providerID?: string; annotations?: Record<string, string>; reason: string; message: RegExp }[] = [
    { name: 'odd-text', providerID: 'nonsense', reason: 'InstanceUnclaimed', message: /no CloudProvider knows providerID "nonsense"/ },
    { name: 'odd-scheme', providerID: 'aws:///z/i-1', reason: 'InstanceUnclaimed', message: /no CloudProvider knows providerID "aws:/ },
    { name: 'odd-empty', providerID: 'local://', reason: 'InstanceNotFound', message: /"local" has no machine/ },
    { name: 'odd-path', providerID: 'local:///a/b/c/d', reason: 'InstanceNotFound', message: /"local" has no machine/ },
    { name: 'odd-gone', providerID: 'local:///zone-a/i-none', reason: 'InstanceNotFound', message: /"local" has no machine/ },
    { name: 'odd-address', annotations: provided, reason: 'NodeNotInitialized', message: /provided node ip.*203\.0\.113\.77/ },
  ];
  const pid = cluster.operatorPid;
  for (const { name, providerID, annotations } of cases) {
    await cluster.resources.create('instances', { name }, `test-${name}`, {});
    await scene.addNodeObject(name, { ...(providerID === undefined ? {} : { providerID }), annotations: annotations ?? {} });
  }
  await scene.addNode('even');
  await scene.initialized('even');
  for (const { name, reason, message } of cases) {
    await scene.until(`why ${name} keeps its taint`, async () => {
      const events = await scene.events('Node', name);
      if (events.some((event) => event.reason === reason && message.test(event.message))) return true;
      throw new Error(JSON.stringify(events.map((event) => event.message)));
    });
    const node = await scene.node(name);
    expect(node && isTainted(node)).toBe(true);
  }
  await scene.settled();
  expect(cluster.operatorPid).toBe(pid);
  await cluster.kubectl(['delete', 'node', ...cases.map(({ name }) => name)]);
});

// The garbage collector learns of a new kind within 30 s.
test('the CloudInstance goes with its Node, whoever deleted that', async () => {
  for (const name of ['stopping', 'leaving']) await scene.gone(`the CloudInstance of ${name}`, () => scene.instance(name), 60_000);
}, 120_000);

// Last: what was refused is tried again at growing intervals only, so that what follows would wait.
test.each<[string, FaultRule['act']]>([
  ['permission', { status: 403, code: 'Forbidden' }],
  ['credentials', { status: 401, code: 'Unauthorized' }],
])('no Node is deleted while the cloud refuses the %s', async (_what, act) => {
  await loseDuring(act, 1);
});
