import { setTimeout as after } from 'node:timers/promises';
import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { SERVICES, type KubeObject, type ResourcePath, type Service } from '../../../operator/kube/object';
import { documentedMetrics } from '../../../operator/server/reference';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, isSettled, Scene, serviceOf, type StoredStack } from './scene';
import { WatchedCLI } from './watched-cli';

const NAMES = ['s1', 's2', 's3', 's4', 's5'];
const NODES = ['n1', 'n2', 'n3'];

const cli = new WatchedCLI();
let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ provider: { driftInterval: '1s', routePeriod: '1s' }, pulumi: cli.path });
  scene = new Scene(cluster);
  for (const [index, name] of NODES.entries()) await scene.addNode(name, { podCIDR: `10.244.${index + 1}.0/24` });
  for (const name of NODES) await scene.initialized(name);
  await addSecondProvider();
  await cluster.apply(
    ...NAMES.map((name) => serviceOf(name, name === 's5' ? { annotations: { 'cloud-operator.dev/provider': 'second' } } : {})),
  );
  for (const name of NAMES) await scene.published(name);
  await scene.until('three routes', async () => (await scene.content()).routes.length === NODES.length);
  await scene.settled();
}, OPERATOR_CLUSTER_START_MS);

afterAll(async () => {
  await cluster?.stop();
  cli.remove();
});

/** One that no flag names: after a restart only its object makes it known. */
async function addSecondProvider(): Promise<void> {
  const { spec } = await scene.until('the CloudProvider', () => scene.provider());
  const second = { ...spec, default: false, nodeSelector: { pool: 'second' } };
  await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudProvider', metadata: { name: 'second' }, spec: second });
}

/** Name → attempts, of all CloudStacks. */
async function attempts(): Promise<Record<string, unknown>> {
  const stacks = await scene.list<StoredStack>(CLOUD_STACKS);
  return Object.fromEntries(stacks.map(({ metadata, status }) => [metadata.name, status?.attempts]));
}

/** Runs `work`, waits for quiet, and gives the cloud writes that it led to. No update may have run, and no process of the CLI for anything else. */
async function writesOf(work: () => Promise<unknown>): Promise<number> {
  const [before, started] = [await attempts(), cli.starts().length];
  expect(Object.keys(before)).toHaveLength(NAMES.length + 1);
  await cluster.cloud.resetCalls();
  await work();
  await scene.settled();
  expect(await attempts()).toEqual(before);
  expect(cli.commands(started)).toEqual([]);
  return (await cluster.operatorCalls()).writes;
}

test('one changed load balancer is one process of the CLI; a pass that finds nothing to do is none', async () => {
  const started = cli.starts().length;
  await cluster.apply(serviceOf('s4', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }));
  await scene.until('the change to be in the cloud', async () => (await scene.inCloud('s4')).sourceRanges.includes('10.0.0.0/8'));
  await scene.ready('s4');
  await scene.settled();
  expect(cli.commands(started)).toEqual(['up']);
  const writes = await writesOf(async () => {
    await scene.askFor('s4');
    await scene.until('the pass that was asked for', async () => {
      const asked = await scene.loadBalancer('s4');
      return asked?.status?.lastHandledReconcile === asked?.metadata.annotations?.['cloud-operator.dev/reconcile'];
    });
  });
  expect(writes).toBe(0);
});

test('what does not matter about a Service reaches neither the CloudLoadBalancer nor the cloud', async () => {
  const before = await scene.loadBalancer('s1');
  const writes = await writesOf(async () => {
    await cluster.kubectl(['label', 'service', 's1', 'team=web']);
    await cluster.kubectl(['annotate', 'service', 's1', 'example.com/note=hello']);
    await cluster.kubectl(['patch', 'service', 's1', '--type=merge', '-p', '{"spec":{"selector":{"app":"other"}}}']);
  });
  expect(writes).toBe(0);
  expect(await scene.loadBalancer('s1')).toEqual(before);
});

test('a restarted operator writes nothing, neither to the cloud nor to the API server', async () => {
  const versions = await scene.versions();
  const writes = await writesOf(async () => {
    await cluster.stopOperator();
    await cluster.startOperator();
    await scene.until('the new operator to have compared the cloud', async () => (await cluster.operatorCalls()).total >= 10);
  });
  expect(writes).toBe(0);
  expect(await scene.versions()).toEqual(versions);
});

test('a killed operator that comes back writes nothing either', async () => {
  const versions = await scene.versions();
  const writes = await writesOf(async () => {
    await cluster.killOperator();
    await cluster.startOperator();
    await scene.until('the new operator to have compared the cloud', async () => (await cluster.operatorCalls()).total >= 10);
  });
  expect(writes).toBe(0);
  expect(await scene.versions()).toEqual(versions);
});

test('when all is quiet, nothing is written, and the cloud is only read by the periodic comparison', async () => {
  await scene.settled();
  const [versions, writes] = [await scene.versions(), await scene.apiWrites()];
  await cluster.cloud.resetCalls();
  await after(5_000); // what is tested is that nothing happens meanwhile
  expect(await scene.versions()).toEqual(versions);
  expect(await scene.apiWrites()).toEqual(writes);
  const { calls } = await cluster.operatorCalls();
  expect(calls.filter(({ verb }) => verb !== 'list')).toEqual([]);
  const lists = Object.fromEntries(calls.map(({ collection, count }) => [collection, count]));
  // Two loops, each about once a second with a jitter of a half, and members once with the load balancers'.
  expect(lists).toMatchObject({ loadbalancers: expect.any(Number) as number, routes: expect.any(Number) as number });
  for (const [collection, count] of Object.entries(lists)) {
    expect([collection, count <= 30]).toEqual([collection, true]);
  }
});

test('a wiped status of a Service is restored at once', async () => {
  const address = addressOf(await scene.service('s2'));
  const writes = await writesOf(async () => {
    const body = { status: { loadBalancer: { ingress: null } } };
    const wiped = await cluster.kube.patch(SERVICES, 'default/s2', 'merge', body, { subresource: 'status' });
    expect(wiped).toMatchObject({ status: { loadBalancer: {} } });
    await scene.until('the address to be back', async () => addressOf(await scene.service('s2')) === address, 5_000);
  });
  expect(address).toBeDefined();
  expect(writes).toBe(0);
});

test.each([
  ['another address', { address: '203.0.113.66', ingress: [{ ip: '203.0.113.66', ipMode: 'VIP' }] }],
  ['another object’s UID', { objectUID: 'a-uid-of-somebody-else' }],
  ['another cluster’s id', { clusterID: 'a-cluster-elsewhere' }],
  ['another incarnation', { incarnation: 'another-life' }],
])('a status edited by hand is not trusted: %s', async (_what, fields) => {
  const { status } = await scene.ready('s3');
  const address = addressOf(await scene.service('s3'));
  const seen = await scene.history<Service>('Service', 'default/s3');
  const writes = await writesOf(async () => {
    await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/s3', 'merge', { status: fields }, { subresource: 'status' });
    await scene.until('the status to be corrected', async () => {
      const found = await scene.ready('s3');
      expect(found.status).toEqual(status);
      return true;
    });
  });
  expect(writes).toBe(0);
  expect((await seen.stop()).map(addressOf).filter((shown) => shown !== address)).toEqual([]);
  expect(addressOf(await scene.service('s3'))).toBe(address);
});

test('a status that was deleted is rebuilt from the stored state', async () => {
  const { status } = await scene.ready('s4');
  const address = addressOf(await scene.service('s4'));
  const writes = await writesOf(async () => {
    await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/s4', 'merge', { status: null }, { subresource: 'status' });
    await scene.until('the status to be back', async () => {
      const found = await scene.loadBalancer('s4');
      expect(found?.status?.ingress).toEqual(status?.ingress);
      return found !== undefined && isSettled(found);
    });
  });
  expect(writes).toBe(0);
  expect(addressOf(await scene.service('s4'))).toBe(address);
});

/** Everything that anybody could take a status at its word for, with something else in it. */
const FORGERIES: { resource: ResourcePath; key: (stack: string) => string; status: Record<string, unknown> }[] = [
  { resource: CLOUD_PROVIDERS, key: () => 'local', status: { clusterID: 'a-cluster-elsewhere', nodes: 99 } },
  {
    resource: CLOUD_LOAD_BALANCERS,
    key: () => 'default/s1',
    status: { stack: 'lb-of-somebody-else', address: '203.0.113.66', ingress: [{ ip: '203.0.113.66' }] },
  },
  {
    resource: CLOUD_STACKS,
    key: (stack) => stack,
    status: { inputsHash: 'deadbeef', incarnation: 'another-life', members: [], resources: [] },
  },
];

test('statuses that were forged while no operator ran are corrected by the next one, and nothing is done because of them', async () => {
  const stack = (await scene.stackOf('s1')).metadata.name;
  const seen = await scene.history<Service>('Service', 'default/s1');
  const address = addressOf(await scene.service('s1'));
  /** The fields that were forged, as they are now. */
  const fields = (): Promise<unknown[]> =>
    Promise.all(
      FORGERIES.map(async ({ resource, key, status }) => {
        const object = await cluster.kube.get<KubeObject & { status?: Record<string, unknown> }>(resource, key(stack));
        return Object.fromEntries(Object.keys(status).map((name) => [name, object?.status?.[name]]));
      }),
    );
  const before = await fields();
  const writes = await writesOf(async () => {
    await cluster.stopOperator();
    for (const { resource, key, status } of FORGERIES)
      await cluster.kube.patch(resource, key(stack), 'merge', { status }, { subresource: 'status' });
    expect(await fields()).toEqual(FORGERIES.map(({ status }) => status));
    await cluster.startOperator();
    await scene.until('the statuses to be corrected', async () => {
      expect(await fields()).toEqual(before);
      return true;
    });
  });
  expect(writes).toBe(0);
  expect((await seen.stop()).map(addressOf).filter((shown) => shown !== address)).toEqual([]);
});

test.each([
  ['/metrics', 'metrics'],
  ['/metrics/slis', 'slis'],
] as const)('%s shows what its page in the docs says, and nothing else', async (path, part) => {
  const text = await (await fetch(`${cluster.operatorURL}${path}`)).text();
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
  // What differs between platforms is not on the page; node IPAM does not run here.
  const isOnPage = ({ name }: { name: string }): boolean => !/^(nodejs|process|node_ipam)_/.test(name);
  const documented = documentedMetrics()[part].map(({ name, type }) => ({ name, type }));
  const sorted = (all: { name: string; type: string }[]): object[] => all.filter(isOnPage).sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(sorted(shown)).toEqual(sorted(documented));
});

test('every label that /metrics shows is on the page', async () => {
  const text = await (await fetch(`${cluster.operatorURL}/metrics`)).text();
  const known = new Map(documentedMetrics().metrics.map(({ name, labels }) => [name, labels]));
  const labelled = [...text.matchAll(/^([a-z_]+)\{([^}]*)\}/gm)].flatMap(([, name = '', labels = '']) => {
    const base = known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    return [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => ({ base, label }));
  });
  expect(labelled.length).toBeGreaterThan(50);
  expect(labelled.filter(({ base, label }) => label !== 'le' && !known.get(base)?.includes(label))).toEqual([]);
});
