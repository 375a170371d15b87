import { NODES } from '../../../operator/kube/object';
import type { Instance } from '../../../providers/local/api';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene, serviceOf } from './scene';

const EXCLUDE = 'node.kubernetes.io/exclude-from-external-load-balancers';
const AUTOSCALER = { key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' };
/** One pool for each listener. */
const POOLS = 3;

let cluster: OperatorCluster;
let scene: Scene;
const instances = new Map<string, Instance>();

beforeAll(async () => {
  cluster = await OperatorCluster.start({
    provider: { driftInterval: '1s' },
    flags: ['--node-monitor-period=300ms', '--node-deletion-grace=1s'],
  });
  scene = new Scene(cluster);
  for (const name of ['n1', 'n2', 'n3']) instances.set(name, await scene.addNode(name));
  for (const name of instances.keys()) await scene.initialized(name);
  const ports = [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ];
  await cluster.apply(serviceOf('web', { ports }), serviceOf('api'));
  await scene.published('web');
  await scene.published('api');
  await targetsToBe('n1', 'n2', 'n3');
  await scene.settled();
}, OPERATOR_CLUSTER_START_MS);

afterAll(() => cluster?.stop());

function idsOf(names: string[]): string[] {
  return names.map((name) => instances.get(name)?.id ?? name).sort();
}

/** Every pool has exactly these Nodes. */
async function haveTargets(...names: string[]): Promise<true> {
  for (const [service, listener] of [
    ['web', 'http'],
    ['web', 'dns'],
    ['api', 'http'],
  ] as const) {
    expect(await scene.targets(service, listener)).toEqual(idsOf(names));
  }
  return true;
}

async function targetsToBe(...names: string[]): Promise<void> {
  await scene.until(`targets ${names.join(', ')}`, () => haveTargets(...names));
}

/** The change reaches every pool with one write each, and runs no update. */
async function expectOneWriteEach(change: () => Promise<unknown>, ...names: string[]): Promise<void> {
  const stacks = [await scene.stackOf('web'), await scene.stackOf('api')].map(({ status }) => status?.attempts);
  await cluster.cloud.resetCalls();
  await change();
  await targetsToBe(...names);
  await scene.settled();
  const writes = (await cluster.operatorCalls()).calls.filter(({ verb }) => verb !== 'list' && verb !== 'get');
  expect(writes).toEqual([expect.objectContaining({ verb: 'targets', collection: 'pools', count: POOLS })]);
  expect([await scene.stackOf('web'), await scene.stackOf('api')].map(({ status }) => status?.attempts)).toEqual(stacks);
}

/** How often all load balancers were looked at after a change of Nodes, from the operator's metrics. */
async function nodeSyncs(): Promise<number> {
  const text = await (await fetch(`${cluster.operatorURL}/metrics`)).text();
  return Number(/^service_controller_nodesync_latency_seconds_count (\d+)$/m.exec(text)?.[1]);
}

test('a Node that is excluded by label leaves, and comes back', async () => {
  const before = await nodeSyncs();
  await expectOneWriteEach(() => cluster.kubectl(['label', 'node', 'n2', `${EXCLUDE}=true`]), 'n1', 'n3');
  await scene.until('one sync to be counted', async () => (await nodeSyncs()) === before + 1);
  await expectOneWriteEach(() => cluster.kubectl(['label', 'node', 'n2', `${EXCLUDE}-`]), 'n1', 'n2', 'n3');
});

test('a Node that the autoscaler is about to remove leaves before its machine goes', async () => {
  const taint = (taints: object[]): Promise<unknown> => cluster.kube.patch(NODES, 'n3', 'merge', { spec: { taints } });
  await expectOneWriteEach(() => taint([AUTOSCALER]), 'n1', 'n2');
  await expectOneWriteEach(() => taint([]), 'n1', 'n2', 'n3');
});

test('a new Node joins once it is initialized, and leaves when it is deleted', async () => {
  await expectOneWriteEach(async () => instances.set('n4', await scene.addNode('n4')), 'n1', 'n2', 'n3', 'n4');
  await expectOneWriteEach(() => cluster.kubectl(['delete', 'node', 'n4']), 'n1', 'n2', 'n3');
  for (const name of ['web', 'api']) {
    await scene.until(`UpdatedLoadBalancer on ${name}`, async () =>
      (await scene.events('Service', name)).some(({ message }) => message === 'Updated load balancer with new hosts'),
    );
  }
});

const BURST = Array.from({ length: 10 }, (_, index) => `burst-${index}`);

async function addBurst(labels: Record<string, string> = {}): Promise<void> {
  const added = BURST.map(async (name) => instances.set(name, await scene.addNode(name, { labels })));
  await Promise.all(added);
}

async function removeBurst(): Promise<void> {
  await cluster.kubectl(['delete', 'node', ...BURST]);
  await targetsToBe('n1', 'n2', 'n3');
  // The cloud counts a call after it has carried it out.
  await scene.settled();
}

test('ten Nodes that come at once cost one or two writes for each pool', async () => {
  await addBurst({ [EXCLUDE]: 'true' });
  for (const name of BURST) await scene.initialized(name);
  await scene.settled();
  await cluster.cloud.resetCalls();
  await Promise.all(BURST.map((name) => cluster.kube.patch(NODES, name, 'merge', { metadata: { labels: { [EXCLUDE]: null } } })));
  await targetsToBe('n1', 'n2', 'n3', ...BURST);
  await scene.settled();
  // At once with those that come first, and a second later with all others; where the machine makes more seconds of it, once more.
  expect(await scene.cloudWrites()).toBeLessThanOrEqual(POOLS * 3);
  await removeBurst();
});

test('ten new ones, each of which joins once it is initialized, cost no more than a write for each pool every second', async () => {
  await cluster.cloud.resetCalls();
  const since = performance.now();
  await addBurst();
  await targetsToBe('n1', 'n2', 'n3', ...BURST);
  const seconds = Math.ceil((performance.now() - since) / 1_000);
  await scene.settled();
  expect(await scene.cloudWrites()).toBeLessThanOrEqual(POOLS * (seconds + 1));
  await removeBurst();
});

test('what does not matter about a Node costs no call', async () => {
  await cluster.cloud.resetCalls();
  await cluster.kubectl(['label', 'node', 'n1', 'disk=ssd']);
  await cluster.kubectl(['cordon', 'n1']);
  await scene.setReady('n1', false);
  await scene.setReady('n1', true);
  await cluster.kubectl(['uncordon', 'n1']);
  await scene.settled();
  expect((await cluster.operatorCalls()).writes).toBe(0);
});

test('R-02 kubelets that can’t post their status drain no load balancer: the cloud is asked, and nothing is written', async () => {
  const names = ['n1', 'n2', 'n3'];
  await scene.settled();
  const before = await scene.content();
  const versions = await Promise.all([scene.service('web'), scene.loadBalancer('web')]);
  const updated = async (): Promise<number> =>
    (await scene.events('Service', 'web')).filter(({ reason }) => reason === 'UpdatedLoadBalancer').length;
  const events = await updated();
  await cluster.cloud.resetCalls();
  const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
  for (const name of names) {
    await scene.setReady(name, false);
    await cluster.kube.patch(NODES, name, 'merge', { spec: { taints: [unreachable] } });
  }
  await scene.until('more listings than the grace has periods', async () => {
    const { calls } = await cluster.operatorCalls();
    return calls.some(({ verb, collection, count }) => verb === 'list' && collection === 'instances' && count > 5);
  });
  for (const name of names) {
    await cluster.kube.patch(NODES, name, 'merge', { spec: { taints: [] } });
    await scene.setReady(name, true);
  }
  await scene.settled();
  expect((await cluster.operatorCalls()).writes).toBe(0);
  expect(await scene.content()).toEqual(before);
  expect(await Promise.all([scene.service('web'), scene.loadBalancer('web')])).toEqual(versions);
  expect(await updated()).toBe(events);
  await targetsToBe(...names);
});

test('a Node of another cloud never becomes a target', async () => {
  await cluster.cloud.resetCalls();
  await cluster.kube.create(NODES, undefined, { metadata: { name: 'foreign' }, spec: { providerID: 'aws:///eu-central-1a/i-0123456789' } });
  await scene.setReady('foreign', true);
  await scene.settled();
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await targetsToBe('n1', 'n2', 'n3');
  await cluster.kubectl(['delete', 'node', 'foreign']);
});

test('another CloudProvider of the same kind that can’t be reached takes no Node away, also after a restart', async () => {
  await cluster.cloud.resetCalls();
  const { spec } = (await scene.provider()) ?? {};
  const local = { ...spec?.local, endpoint: 'http://127.0.0.1:1' };
  await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudProvider', metadata: { name: 'second' }, spec: { local } });
  await scene.until('the second one to be known', async () => (await scene.provider('second'))?.status?.conditions !== undefined);
  await cluster.stopOperator();
  await cluster.startOperator();
  instances.set('n9', await scene.addNode('n9'));
  await scene.initialized('n9');
  await targetsToBe('n1', 'n2', 'n3', 'n9');
  // Whose this one is, only the second one could say: the first one has not, and goes on.
  await cluster.kube.create(NODES, undefined, { metadata: { name: 'seconds' }, spec: { providerID: 'local:///zone-b/i-of-the-second' } });
  await scene.setReady('seconds', true);
  await cluster.kubectl(['delete', 'node', 'n9']);
  // The second one is given up after 20 s.
  await scene.until('n9 to be no target any more', () => haveTargets('n1', 'n2', 'n3'), 45_000);
  await scene.settled();
  const { calls } = await cluster.operatorCalls();
  expect(calls.filter(({ verb }) => verb === 'targets')).toEqual([expect.objectContaining({ count: 2 * POOLS })]);
  expect((await scene.provider())?.status?.nodes).toBe(3);
  await cluster.kubectl(['delete', 'node', 'seconds']);
  await cluster.kubectl(['delete', 'cloudprovider', 'second', '--timeout=20s']);
}, 120_000);

test('targets that somebody changes in the cloud are put right, without an update', async () => {
  const [pool] = (await scene.content()).pools.filter(({ tags }) => tags.owner === 'default/api');
  const stack = await scene.stackOf('api');
  const targets = pool?.targets.slice(0, 1) ?? [];
  await cluster.cloud.resetCalls();
  await cluster.cloud.drift({ kind: 'setTargets', id: pool?.id ?? '', targets });
  // Whoever looks a moment later may not see what was there meanwhile, nor whoever looks at once.
  await scene.until('the write', async () => (await cluster.operatorCalls()).calls.some(({ verb }) => verb === 'targets'));
  await targetsToBe('n1', 'n2', 'n3');
  const { calls } = await cluster.operatorCalls();
  expect(calls.filter(({ verb }) => verb === 'targets')).toEqual([expect.objectContaining({ count: 1 })]);
  await scene.settled();
  expect((await scene.stackOf('api')).status?.attempts).toEqual(stack.status?.attempts);
});

test('without any eligible Node the load balancer stays, has no targets, and a Warning says so', async () => {
  await cluster.kubectl(['label', 'node', 'n1', 'n2', 'n3', `${EXCLUDE}=true`]);
  await targetsToBe();
  await scene.until('the message', async () => {
    const ready = (await scene.ready('web')).status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.reason === 'NoTargets';
  });
  await scene.until('UnAvailableLoadBalancer', async () =>
    (await scene.events('Service', 'web')).some(({ reason }) => reason === 'UnAvailableLoadBalancer'),
  );
  await cluster.kubectl(['label', 'node', 'n1', 'n2', 'n3', `${EXCLUDE}-`]);
  await targetsToBe('n1', 'n2', 'n3');
  await scene.until('the message to be gone', async () => {
    const ready = (await scene.ready('web')).status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.message.includes('no Node') === false;
  });
});
