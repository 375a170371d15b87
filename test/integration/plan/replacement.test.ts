import { Fleet } from '../../../dev/nodes/fleet';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene, serviceOf } from '../operator/scene';
import { FollowingLoad } from './following-load';

let cluster: OperatorCluster;
let scene: Scene;
let fleet: Fleet | undefined;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ tier: 'loopback', provider: { retireAfter: '3s' } });
  scene = new Scene(cluster);
  const token = (await cluster.tokenText()).trim();
  fleet = await Fleet.start({ kubeconfig: cluster.kubeconfigPath, endpoint: cluster.cloudEndpoint, token, count: 2 });
  await scene.initialized('node-1');
  await scene.initialized('node-2');
  await cluster.apply(
    serviceOf('web', {
      ports: [
        { name: 'http', port: 80 },
        { name: 'other', port: 81 },
      ],
    }),
  );
  await scene.published('web');
}, OPERATOR_CLUSTER_START_MS);

afterAll(async () => {
  await fleet?.stop();
  await cluster?.stop();
});

async function patch(spec: object, name = 'web'): Promise<void> {
  await cluster.kubectl(['patch', 'clb', name, '--type', 'merge', '-p', JSON.stringify({ spec })]);
}

/** Load on the Service's first port while something happens. */
async function underLoad(change: () => Promise<void>): Promise<FollowingLoad> {
  const load = new FollowingLoad(scene, { name: 'web', port: 80 });
  await load.start();
  try {
    await change();
    const { requests } = load;
    await scene.until('some more requests', () => Promise.resolve(load.requests > requests + 100));
  } finally {
    const { requests, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
  }
  return load;
}

test('a changed port disturbs no other port', async () => {
  await underLoad(async () => {
    await cluster.apply(
      serviceOf('web', {
        ports: [
          { name: 'http', port: 80 },
          { name: 'other', port: 8081 },
        ],
      }),
    );
    await scene.until('the new port', async () => (await scene.loadBalancer('web'))?.status?.ports === '80/TCP,8081/TCP');
    await scene.ready('web');
  });
  expect((await scene.inCloud('web')).listeners.map(({ port }) => port).sort((a, b) => a - b)).toEqual([80, 8081]);
});

test('a changed scheme waits for approval, then brings a second load balancer, and the first goes when no client can have its address any more', async () => {
  const before = await scene.inCloud('web');
  const load = await underLoad(async () => {
    await patch({ scheme: 'Internal' });
    const { message } = await scene.condition('web', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain(
      'the change of spec.scheme from Public to Internal replaces the load balancer, and spec.updatePolicy.replace is Never',
    );
    const [plan] = (await scene.stackOf('web')).status?.plans ?? [];
    expect(plan?.operations.every(({ op }) => op === 'create')).toBe(true);
    expect(await scene.inCloud('web')).toEqual(before);

    await cluster.kubectl(['annotate', 'clb', 'web', '--overwrite', `cloud-operator.dev/approve=${plan?.hash}`]);
    await scene.ready('web');
    expect(await scene.counts('web')).toEqual({ addresses: 2, pools: 4, loadbalancers: 2 });
    await scene.until('the old one to be gone', async () => (await scene.counts('web')).loadbalancers === 1);
  });
  expect(load.seen).toHaveLength(2);
  const after = await scene.inCloud('web');
  expect(after).toMatchObject({ scheme: 'Internal', name: `${before.name}-g1` });
  await scene.ready('web');
  expect((await scene.stackOf('web')).status?.resourceCount).toBe(4);
});

test('with replace: Allow it goes back by itself; a change in place meanwhile reaches the new one, and another replacement waits', async () => {
  const load = await underLoad(async () => {
    await patch({ updatePolicy: { replace: 'Allow' } });
    await scene.ready('web');
    await patch({ scheme: 'Public' });
    await scene.until('both', async () => (await scene.counts('web')).loadbalancers === 2);
    await scene.ready('web');
    await patch({ scheme: 'Internal' });
    await scene.condition('web', 'Reconciling', 'Replacing');
    await scene.until('the third generation', async () => {
      const names = (await cluster.resources.list('loadbalancers')).map(({ name }) => name.slice(-3));
      return names.length === 1 && names[0] === '-g3';
    });
    await scene.ready('web');
  });
  expect(load.seen).toHaveLength(3);
});

test('a new generation whose members can’t be registered is not switched to', async () => {
  await scene.faults({ match: { verb: 'targets' }, act: { status: 400, code: 'InvalidArgument' } });
  const load = await underLoad(async () => {
    await patch({ scheme: 'Public' });
    await scene.condition('web', 'Stalled', 'Invalid');
    const names = (await cluster.resources.list('loadbalancers')).map(({ name }) => name.slice(-3));
    expect(names).toEqual(['-g3']);
    await scene.faults();
    await cluster.kubectl(['annotate', 'clb', 'web', 'cloud-operator.dev/reconcile=again']);
    await scene.until('the next generation', async () => (await scene.inCloud('web')).name.endsWith('-g4'));
    await scene.ready('web');
  });
  expect(load.seen).toHaveLength(2);
});

test('an address that was asked for can’t be on two: its replacement is planned as delete first, with a gap', async () => {
  const { ip } = (await scene.content()).addresses[0] ?? { ip: '' };
  const fixed = ip.replace(/\.\d+$/, '.77');
  await cluster.apply(serviceOf('edge', { spec: { loadBalancerIP: fixed } }));
  expect(await scene.published('edge')).toBe(fixed);
  const before = await scene.inCloud('edge');
  await patch({ scheme: 'Internal' }, 'edge');
  const { message } = await scene.condition('edge', 'Reconciling', 'AwaitingApproval');
  expect(message).toContain(`delete first, with a gap in traffic, because ${fixed} can't be used twice`);
  await scene.settled();
  expect(await scene.inCloud('edge')).toEqual(before);
  const [plan] = (await scene.stackOf('edge')).status?.plans ?? [];
  expect(plan?.operations).toEqual([expect.objectContaining({ op: 'replace', type: 'local:index:LoadBalancer', deleteFirst: true })]);
  await cluster.cloud.resetCalls();
  await cluster.kubectl(['annotate', 'clb', 'edge', '--overwrite', `cloud-operator.dev/approve=${plan?.hash}`]);
  await scene.ready('edge');
  expect(await scene.inCloud('edge')).toMatchObject({ scheme: 'Internal', name: before.name, addressIDs: before.addressIDs });
  const writes = (await cluster.operatorCalls()).calls.filter(
    ({ verb, collection }) => collection === 'loadbalancers' && verb !== 'get' && verb !== 'list',
  );
  expect(writes.map(({ verb, count }) => `${verb} ${count}`).sort()).toEqual(['create 1', 'delete 1']);
  await scene.deleteServices('edge');
});
