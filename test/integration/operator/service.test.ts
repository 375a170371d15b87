import { CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { SERVICES } from '../../../operator/kube/object';
import { localProvider } from '../../../providers/local';
import { kstatusOf } from '../../harness/kstatus';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, serviceOf, withScene } from './scene';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

/** Reasons of an object's Events in the order in which they came. */
async function reasons(kind: string, name: string): Promise<string[]> {
  return (await scene.events(kind, name)).map(({ reason }) => reason);
}

test('a Service gets a load balancer, an address and a condition, and loses everything when it is deleted', async () => {
  await cluster.apply(
    serviceOf('web', {
      ports: [
        { name: 'http', port: 80 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    }),
  );
  await cluster.kubectl(['wait', '--for=condition=Ready', 'clb/web', '--timeout=20s', '--namespace=default']);
  const address = await scene.published('web');
  const service = await scene.service('web');
  const loadBalancer = await scene.ready('web');

  expect(service?.status?.loadBalancer?.ingress).toEqual([{ ip: address, ipMode: 'Proxy' }]);
  expect(service?.metadata.finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup']);
  expect(service?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'cloud-operator.dev/Ready', status: 'True', reason: 'Ready', message: `serving at ${address}` }),
  );
  await scene.until('EnsuredLoadBalancer', async () => (await reasons('Service', 'web')).includes('EnsuredLoadBalancer'));
  expect(await reasons('Service', 'web')).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);

  expect(loadBalancer.metadata.finalizers).toEqual(['cloud-operator.dev/cleanup']);
  expect(loadBalancer.metadata.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'Service', name: 'web', uid: service?.metadata.uid, controller: true, blockOwnerDeletion: true },
  ]);
  expect(loadBalancer.spec).toMatchObject({ provider: 'local', trafficPolicy: 'Cluster' });
  expect(loadBalancer.spec.listeners.map(({ name, protocol, port }) => `${name} ${protocol} ${port}`).sort()).toEqual([
    'dns UDP 53',
    'http TCP 80',
  ]);
  expect(loadBalancer.status).toMatchObject({ address, objectUID: loadBalancer.metadata.uid, ingress: [{ ip: address, ipMode: 'Proxy' }] });
  expect(kstatusOf(loadBalancer)).toBe('Current');

  const cloud = await scene.inCloud('web');
  expect(cloud.listeners.map(({ name, port }) => `${name} ${port}`).sort()).toEqual(['dns 53', 'http 80']);
  expect(cloud.tags).toMatchObject({ ownerUID: service?.metadata.uid, stack: loadBalancer.status?.stack });
  expect(await scene.counts()).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });

  await cluster.kubectl(['delete', 'service', 'web', '--namespace=default', '--timeout=20s']);
  await scene.gone('CloudLoadBalancer web', () => scene.loadBalancer('web'));
  await scene.gone('its CloudStack', () => scene.stack(loadBalancer.status?.stack ?? ''));
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
  await scene.until('DeletedLoadBalancer', async () => (await reasons('Service', 'web')).includes('DeletedLoadBalancer'));
  expect((await reasons('Service', 'web')).slice(2)).toEqual(['DeletingLoadBalancer', 'DeletedLoadBalancer']);
});

test('a CloudStack shows what it holds, who has run the update and with which program, and how it came about', async () => {
  const before = Date.now();
  await cluster.apply(serviceOf('stacked'));
  await scene.published('stacked');
  const stack = await scene.until('the attempt to be recorded', async () => {
    const found = await scene.stackOf('stacked');
    return found.status?.attempts?.[0]?.result === 'Succeeded' ? found : undefined;
  });

  expect(stack.spec).toEqual({ provider: 'local', kind: 'LoadBalancer', project: 'cloud-operator' });
  const { programVersion } = localProvider;
  const holder = /"identity":"([^"]+)"/.exec(cluster.operatorLog())?.[1];
  expect(holder).toBeDefined();
  expect(stack.status).toMatchObject({ members: ['default/stacked'], resourceCount: 3, epoch: 1, holder, programVersion });
  expect(stack.status?.resources?.map(({ type }) => type).sort()).toEqual([
    'local:index:Address',
    'local:index:LoadBalancer',
    'local:index:TargetPool',
  ]);
  const ids = (await scene.content()).loadbalancers.filter(({ tags }) => tags.owner === 'default/stacked').map(({ id }) => id);
  expect(stack.status?.resources?.filter(({ type }) => type === 'local:index:LoadBalancer').map(({ id }) => id)).toEqual(ids);
  expect(stack.status?.attempts).toEqual([
    expect.objectContaining({
      ...{ kind: 'Update', result: 'Succeeded', changes: expect.stringMatching(/^\+3 ~0 -0 =/) as string },
      operations: expect.arrayContaining(
        ['Address', 'LoadBalancer', 'TargetPool'].map(
          (type) => expect.objectContaining({ op: 'create', type: `local:index:${type}` }) as object,
        ),
      ) as object,
    }),
  ]);
  const [{ startedAt = '', durationMs, cloudCalls } = {}] = stack.status?.attempts ?? [];
  const started = Date.parse(startedAt);
  expect(started).toBeGreaterThanOrEqual(before);
  expect(durationMs).toBeGreaterThan(0);
  expect(started + Number(durationMs)).toBeLessThanOrEqual(Date.now());
  expect(cloudCalls).toBe(3);
  expect(kstatusOf(stack)).toBe('Current');
  await scene.deleteServices('stacked');
});

test('kubectl shows the columns that people look for', async () => {
  await cluster.apply(serviceOf('columns'));
  const address = await scene.published('columns');
  const stack = await scene.stackOf('columns');

  expect(row(await cluster.kubectl(['get', 'clb', 'columns', '-n', 'default']))).toMatchObject({
    NAME: 'columns',
    PROVIDER: 'local',
    ADDRESS: address,
    PORTS: '80/TCP',
    READY: 'True',
    REASON: 'Ready',
  });
  await scene.until('the CloudStack to be Ready', async () =>
    (await scene.stack(stack.metadata.name))?.status?.lastAttempt?.includes('Succeeded'),
  );
  expect(row(await cluster.kubectl(['get', 'cst', stack.metadata.name]))).toMatchObject({
    PROVIDER: 'local',
    KIND: 'LoadBalancer',
    RESOURCES: '3',
    READY: 'True',
    'LAST ATTEMPT': expect.stringMatching(/^Update Succeeded in \d+\.\d s, \+3 ~0 -0 =\d+$/) as string,
  });
  expect(row(await cluster.kubectl(['get', 'cp', 'local']))).toMatchObject({ CLOUD: 'local', DEFAULT: 'true', READY: 'True', NODES: '1' });
  expect(await cluster.kubectl(['get', 'cloud', '-A', '-o', 'name'])).toContain('cloudloadbalancer.cloud-operator.dev/columns');
  await scene.deleteServices('columns');
});

test('a port is added and removed in place: the same address, the other listener untouched', async () => {
  const http = { name: 'http', port: 80 };
  await cluster.apply(serviceOf('ports', { ports: [http] }));
  const address = await scene.published('ports');
  const before = await scene.inCloud('ports');

  await cluster.apply(serviceOf('ports', { ports: [http, { name: 'https', port: 443 }] }));
  await scene.until('two listeners', async () => (await scene.inCloud('ports')).listeners.length === 2);
  expect(await scene.published('ports')).toBe(address);
  const widened = await scene.inCloud('ports');
  expect(widened.id).toBe(before.id);
  expect(widened.addressIDs).toEqual(before.addressIDs);
  expect(widened.listeners.find(({ name }) => name === 'http')).toEqual(before.listeners[0]);
  expect(await scene.counts()).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });
  expect(kstatusOf(await scene.ready('ports'))).toBe('Current');

  await cluster.apply(serviceOf('ports', { ports: [http] }));
  await scene.until('one listener', async () => (await scene.inCloud('ports')).listeners.length === 1);
  expect(await scene.published('ports')).toBe(address);
  expect((await scene.inCloud('ports')).listeners).toEqual(before.listeners);
  await scene.until('one pool', async () => (await scene.counts()).pools === 1);
  await scene.deleteServices('ports');
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
});

test('nothing is left in the cluster once all Services are gone', async () => {
  expect(await scene.list(SERVICES)).toEqual([
    expect.objectContaining({ metadata: expect.objectContaining({ name: 'kubernetes' }) as object }),
  ]);
  await scene.until('no CloudStacks', async () => (await scene.list(CLOUD_STACKS)).length === 0);
});

/** Header → value of the only row that kubectl printed. */
function row(output: string): Record<string, string> {
  const [header = '', line = ''] = output.trimEnd().split('\n');
  const columns = [...header.matchAll(/\S+( \S+)*\s*/g)].map((match) => ({
    name: match[0].trim(),
    at: match.index,
    to: match.index + match[0].length,
  }));
  return Object.fromEntries(
    columns.map(({ name, at, to }, index) => [name, line.slice(at, index === columns.length - 1 ? undefined : to).trim()]),
  );
}

test('a CloudProvider may say the engine of Services that name none; what a Service says goes before it', async () => {
  const say = (engine: string | null): Promise<unknown> =>
    cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { local: { engine } } });
  await say('Passthrough');
  await cluster.apply(serviceOf('by-cloud'), serviceOf('by-itself', { annotations: { 'local.cloud-operator.dev/engine': 'Node' } }));
  for (const [name, engine] of [
    ['by-cloud', 'Passthrough'],
    ['by-itself', 'Node'],
  ] as const) {
    await scene.until(`the engine of ${name}`, async () => (await scene.loadBalancer(name))?.spec.local?.engine === engine);
  }
  await scene.deleteServices('by-cloud', 'by-itself');
  await say(null);
});
