import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { ObjectWriter } from '../../../operator/cloud/object-writer';
import { keyOf, type KubeObject, type ResourcePath, SECRETS } from '../../../operator/kube/object';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, NONE, type Scene, serviceOf, type StoredStack, withScene } from './scene';

const HOLD = { latencyMs: { min: 1500, max: 1500 } };

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

/** A CloudLoadBalancer that no Service asked for. */
function loadBalancerOf(name: string, provider = 'local'): object {
  const listeners = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }];
  return {
    apiVersion: 'cloud-operator.dev/v1alpha1',
    kind: 'CloudLoadBalancer',
    metadata: { name, namespace: 'default' },
    spec: { provider, listeners, local: {} },
  };
}

async function expectNothingLeft(name: string, namespace = 'default'): Promise<void> {
  await scene.gone(`Service ${namespace}/${name}`, () => scene.service(name, namespace));
  await scene.gone(`CloudLoadBalancer ${namespace}/${name}`, () => scene.loadBalancer(name, namespace));
  expect(await scene.counts(name, namespace)).toEqual(NONE);
  await scene.until('no CloudStack of it', async () =>
    (await scene.list<StoredStack>(CLOUD_STACKS)).every(({ status }) => status?.members?.includes(`${namespace}/${name}`) !== true),
  );
}

test.each(['addresses', 'loadbalancers'] as const)('a Service is deleted while one of its %s is being created', async (collection) => {
  const name = `early-${collection}`;
  await scene.faults({ match: { verb: 'create', collection }, times: 1, act: HOLD });
  await cluster.apply(serviceOf(name));
  await scene.acted(0);
  await cluster.kubectl(['delete', 'service', name, '--wait=false']);
  await expectNothingLeft(name);
});

test('a Service is deleted at once after it was made', async () => {
  await cluster.apply(serviceOf('blink'));
  await cluster.kubectl(['delete', 'service', 'blink', '--timeout=20s']);
  await expectNothingLeft('blink');
});

test.each(['foreground', 'background', 'orphan'])('a Service is deleted with --cascade=%s', async (cascade) => {
  const name = `cascade-${cascade}`;
  await cluster.apply(serviceOf(name));
  await scene.published(name);
  await cluster.kubectl(['delete', 'service', name, `--cascade=${cascade}`, '--timeout=20s']);
  await expectNothingLeft(name);
});

test.each(['loadbalancers', 'addresses'] as const)(
  'R-42 the state of a load balancer is lost while its %s are being deleted: nothing is left, and nobody waits',
  async (collection) => {
    const name = `stateless-${collection}`;
    await cluster.apply(serviceOf(name));
    await scene.published(name);
    const secret = await scene.stateSecretOf(name);
    await scene.faults({ match: { verb: 'delete', collection }, times: 1, act: HOLD });
    await cluster.kubectl(['delete', 'service', name, '--cascade=foreground', '--wait=false']);
    await scene.acted(0);
    await cluster.kube.remove(SECRETS, secret);
    await expectNothingLeft(name);
    expect(await cluster.kube.get(SECRETS, secret)).toBeUndefined();
  },
);

test('a namespace is deleted with Services in it', async () => {
  const names = ['a', 'b', 'c'];
  await cluster.kubectl(['create', 'namespace', 'shop']);
  await cluster.apply(...names.map((name) => serviceOf(name, { namespace: 'shop' })));
  for (const name of names) await scene.published(name, 'shop');
  await cluster.kubectl(['delete', 'namespace', 'shop', '--timeout=40s']);
  for (const name of names) await expectNothingLeft(name, 'shop');
});

test('a CloudLoadBalancer that a person made works, and goes when they delete it', async () => {
  await cluster.apply(loadBalancerOf('by-hand'));
  const { status } = await scene.ready('by-hand');
  expect(status?.address).toMatch(/^[0-9.]+$/);
  expect(await scene.targets('by-hand', 'http')).toHaveLength(1);
  await cluster.kubectl(['delete', 'clb', 'by-hand', '--timeout=20s']);
  await expectNothingLeft('by-hand');
});

test('a CloudLoadBalancer that somebody deletes under its Service is made anew', async () => {
  await cluster.apply(serviceOf('phoenix'));
  await scene.published('phoenix');
  const before = await scene.ready('phoenix');
  await cluster.kubectl(['delete', 'clb', 'phoenix', '--timeout=20s']);
  const after = await scene.until('another CloudLoadBalancer', async () => {
    const found = await scene.loadBalancer('phoenix');
    return found !== undefined && found.metadata.uid !== before.metadata.uid ? found : undefined;
  });
  expect(after.metadata.ownerReferences?.[0]?.uid).toBe(before.metadata.ownerReferences?.[0]?.uid);
  await scene.until('the Service to show its address', async () => {
    const address = (await scene.ready('phoenix')).status?.address;
    return addressOf(await scene.service('phoenix')) === address;
  });
  await scene.expectOneOfEach('phoenix');
});

test('a Service’s type flips there and back', async () => {
  await cluster.apply(serviceOf('flip'));
  await scene.published('flip');
  await cluster.kubectl(['patch', 'service', 'flip', '--type=merge', '-p', '{"spec":{"type":"ClusterIP"}}']);
  await scene.gone('the CloudLoadBalancer', () => scene.loadBalancer('flip'));
  await scene.until('the Service to be free', async () => {
    const service = await scene.service('flip');
    expect(service?.metadata.finalizers ?? []).toEqual([]);
    expect(service?.status?.loadBalancer?.ingress ?? []).toEqual([]);
    return true;
  });
  expect(await scene.counts('flip')).toEqual(NONE);
  const flips = ['LoadBalancer', 'ClusterIP', 'LoadBalancer'];
  for (const type of flips) await cluster.kubectl(['patch', 'service', 'flip', '--type=merge', '-p', JSON.stringify({ spec: { type } })]);
  await scene.expectOneOfEach('flip');
});

test('the name is taken by a CloudLoadBalancer of a person: it is not taken over, and the Service says so', async () => {
  await cluster.apply(loadBalancerOf('taken'));
  const before = await scene.ready('taken');
  await cluster.apply(serviceOf('taken'));
  const condition = await scene.until('NameTaken', async () =>
    (await scene.service('taken'))?.status?.conditions?.find(({ reason }) => reason === 'NameTaken'),
  );
  expect(condition).toMatchObject({
    type: 'cloud-operator.dev/Ready',
    status: 'False',
    message: expect.stringContaining('default/taken') as string,
  });
  await scene.until('a Warning', async () => (await scene.events('Service', 'taken')).some(({ type }) => type === 'Warning'));
  expect((await scene.loadBalancer('taken'))?.spec).toEqual(before.spec);

  await cluster.kubectl(['delete', 'clb', 'taken', '--timeout=20s']);
  await scene.expectOneOfEach('taken');
});

test('a Service that is made anew under the same name gets a load balancer of its own', async () => {
  await cluster.apply(serviceOf('again'));
  await scene.published('again');
  const before = (await scene.inCloud('again')).id;
  await cluster.kubectl(['delete', 'service', 'again', '--timeout=20s']);
  await cluster.apply(serviceOf('again'));
  await scene.published('again');
  expect((await scene.inCloud('again')).id).not.toBe(before);
  await scene.expectOneOfEach('again');
});

test('a finalizer that somebody takes off is put back', async () => {
  await cluster.apply(serviceOf('bare'));
  await scene.published('bare');
  await cluster.kubectl(['patch', 'clb', 'bare', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  await cluster.kubectl(['patch', 'service', 'bare', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  await scene.until('the finalizers', async () => {
    expect((await scene.loadBalancer('bare'))?.metadata.finalizers).toEqual(['cloud-operator.dev/cleanup']);
    expect((await scene.service('bare'))?.metadata.finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup']);
    return true;
  });
  await scene.expectOneOfEach('bare');
});

test('a CloudStack that somebody deletes is written anew, and nothing happens in the cloud', async () => {
  await cluster.apply(serviceOf('record'));
  await scene.published('record');
  const stack = await scene.stackOf('record');
  await scene.settled();
  await cluster.cloud.resetCalls();
  await cluster.kubectl(['delete', 'cst', stack.metadata.name]);
  await scene.until('the CloudStack', async () => {
    const found = await scene.stack(stack.metadata.name);
    expect(found?.metadata.uid).not.toBe(stack.metadata.uid);
    expect(found?.status).toMatchObject({ resourceCount: 3, members: ['default/record'], inputsHash: stack.status?.inputsHash });
    return true;
  });
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await scene.expectOneOfEach('record');
});

test('a CloudProvider that is in use stays until nothing uses it', async () => {
  await cluster.apply(serviceOf('user'));
  await scene.published('user');
  const { spec } = (await scene.provider()) ?? {};
  await cluster.kubectl(['delete', 'cloudprovider', 'local', '--wait=false']);
  const inUse = await scene.until('InUse', async () =>
    (await scene.provider())?.status?.conditions?.find(({ reason }) => reason === 'InUse'),
  );
  expect(inUse.message).toMatch(/it is being deleted, and waits for those that use it: 1 load balancer \(default\/user\), /);
  await cluster.apply(serviceOf('late'));
  await scene.until('the Service to say that it is being deleted', async () =>
    (await scene.service('late'))?.status?.conditions?.some(({ reason }) => reason === 'ProviderDeleting'),
  );
  await cluster.kubectl(['delete', 'service', 'late', '--timeout=20s']);
  expect(await scene.counts('user')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });

  await scene.deleteServices('user');
  await scene.gone('the CloudProvider', () => scene.provider());
  expect(await scene.list(CLOUD_LOAD_BALANCERS)).toEqual([]);

  await cluster.apply(serviceOf('early'));
  await scene.until('the Service to say that there is no provider', async () =>
    (await scene.service('early'))?.status?.conditions?.some(({ reason }) => reason === 'NoDefaultProvider'),
  );
  await cluster.kube.create(CLOUD_PROVIDERS, undefined, { metadata: { name: 'local' }, spec });
  await scene.expectOneOfEach('early');
});

test.each([
  ['is gone', []],
  ['waits for somebody else’s finalizer', ['example.com/hold']],
])(
  'an object that somebody deletes in the very moment gets no finalizer of ours, and %s: nothing is made for it',
  async (_what, finalizers) => {
    const { kube } = cluster;
    const maps: ResourcePath = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
    const read = await kube.create<KubeObject>(maps, 'default', { metadata: { name: `late-${finalizers.length}`, finalizers } });
    const key = keyOf(read.metadata);
    await kube.remove(maps, key);
    const adding = new ObjectWriter(kube, maps, Date.now).addFinalizer(read);
    await expect(adding).rejects.toMatchObject({ code: 'Conflict', message: `ConfigMap ${key} was deleted meanwhile` });
    if (finalizers.length > 0) await kube.patch(maps, key, 'merge', { metadata: { finalizers: null } });
  },
);
