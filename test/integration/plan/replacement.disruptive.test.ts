import { CLOUD_STACKS } from '../../../crds';
import { Fleet } from '../../../dev/nodes/fleet';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, Scene, serviceOf } from '../operator/scene';
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
  await cluster.apply(serviceOf('web'));
  await scene.published('web');
}, OPERATOR_CLUSTER_START_MS);

afterEach(() => scene.faults());

afterAll(async () => {
  await fleet?.stop();
  await cluster?.stop();
});

async function patch(spec: object, name = 'web'): Promise<void> {
  await cluster.kubectl(['patch', 'clb', name, '--type', 'merge', '-p', JSON.stringify({ spec })]);
}

/** Load on the Service's first port while something happens. */
const underLoad = (change: (load: FollowingLoad) => Promise<void>): Promise<FollowingLoad> =>
  FollowingLoad.during(scene, { name: 'web', port: 80 }, change);

test('a changed scheme waits for approval, then brings a second load balancer, and the first goes when no client can have its address any more', async () => {
  const before = await scene.inCloud('web');
  const load = await underLoad(async (following) => {
    await patch({ scheme: 'Internal' });
    const { message } = await scene.condition('web', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain(
      'the change of spec.scheme from Public to Internal replaces the load balancer, and spec.updatePolicy.replace is Never',
    );
    const plan = await scene.planOf('web');
    expect(plan.operations.every(({ op }) => op === 'create')).toBe(true);
    expect(await scene.inCloud('web')).toEqual(before);

    // The update alone takes longer than retireAfter, which counts from the new address on.
    await scene.faults({
      match: { verb: 'create', collection: 'loadbalancers' },
      times: 1,
      act: { latencyMs: { min: 4_000, max: 4_000 } },
    });
    await cluster.kubectl(['annotate', 'clb', 'web', '--overwrite', `cloud-operator.dev/approve=${plan.hash}`]);
    await scene.until('the new address', () => Promise.resolve(following.seen.length === 2));
    const switchedAt = performance.now();
    await scene.ready('web');
    expect(await scene.counts('web')).toEqual({ addresses: 2, pools: 2, loadbalancers: 2 });
    await scene.until('the old one to be gone', async () => (await scene.counts('web')).loadbalancers === 1);
    expect(performance.now() - switchedAt).toBeGreaterThan(2_000);
    await scene.faults();
  });
  expect(load.seen).toHaveLength(2);
  const after = await scene.inCloud('web');
  expect(after).toMatchObject({ scheme: 'Internal', name: `${before.name}-g1` });
  await scene.ready('web');
  expect((await scene.stackOf('web')).status?.resourceCount).toBe(3);
});

test('with replace: Allow it goes back by itself; a change in place meanwhile reaches the new one, and another replacement waits', async () => {
  const retireAfter = (time: string): Promise<string> =>
    cluster.kubectl(['patch', 'cloudprovider', 'local', '--type', 'merge', '-p', JSON.stringify({ spec: { retireAfter: time } })]);
  await retireAfter('6s');
  const load = await underLoad(async () => {
    await patch({ updatePolicy: { replace: 'Allow' } });
    await scene.ready('web');
    await patch({ scheme: 'Public' });
    await scene.until('both', async () => (await scene.counts('web')).loadbalancers === 2);
    await scene.ready('web');
    await patch({ scheme: 'Internal' });
    await scene.condition('web', 'Reconciling', 'Replacing');
    await retireAfter('3s');
    const third = async (): Promise<boolean> => {
      const names = (await cluster.resources.list('loadbalancers')).map(({ name }) => name.slice(-3));
      return names.length === 1 && names[0] === '-g3';
    };
    // Both old ones stay for their whole time, and two updates are made.
    await scene.until('the third generation', third, 60_000);
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

const place = (name: string, placement: string): Promise<string> =>
  cluster.kubectl(['annotate', 'service', name, '--overwrite', `cloud-operator.dev/placement${placement}`]);

const approve = (name: string, hash: string): Promise<string> =>
  cluster.kubectl(['annotate', 'clb', name, '--overwrite', `cloud-operator.dev/approve=${hash}`]);

test('R-46 an address that was asked for can’t be on two: its replacement is planned as delete first, with a gap', async () => {
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
  const plan = await scene.planOf('edge');
  expect(plan.operations).toEqual([expect.objectContaining({ op: 'replace', type: 'local:index:LoadBalancer', deleteFirst: true })]);
  await cluster.cloud.resetCalls();
  await cluster.kubectl(['annotate', 'clb', 'edge', '--overwrite', `cloud-operator.dev/approve=${plan.hash}`]);
  await scene.ready('edge');
  expect(await scene.inCloud('edge')).toMatchObject({ scheme: 'Internal', name: before.name, addressIDs: before.addressIDs });
  const writes = (await cluster.operatorCalls()).calls.filter(
    ({ verb, collection }) => collection === 'loadbalancers' && verb !== 'get' && verb !== 'list',
  );
  expect(writes.map(({ verb, count }) => `${verb} ${count}`).sort()).toEqual(['create 1', 'delete 1']);
});

test('R-46 a replacement without room for the new one, once the old one is gone: nobody is sent to a dead address, which stays ours, and it is tried again', async () => {
  const [before, fixed] = [await scene.inCloud('edge'), addressOf(await scene.service('edge'))];
  const address = (await scene.content()).addresses.find(({ ip }) => ip === fixed);
  await patch({ scheme: 'Public' }, 'edge');
  await scene.condition('edge', 'Reconciling', 'AwaitingApproval');
  const { hash } = await scene.planOf('edge');
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, act: { quota: { max: 0 } } });
  await approve('edge', hash);
  const { message } = await scene.condition('edge', 'Ready', 'QuotaExceeded', { status: 'False' });
  expect(message).toMatch(/the quota is 0, and \d are there.*Next try at [0-9T:-]+Z\.$/);
  await scene.until(
    'no dead address on the Service',
    async () => (await scene.service('edge'))?.status?.loadBalancer?.ingress === undefined,
  );
  const { status } = (await scene.loadBalancer('edge')) ?? {};
  expect(status?.address).toBeUndefined();
  expect(status?.ingress ?? []).toEqual([]);
  expect((await scene.content()).loadbalancers.map(({ id }) => id)).not.toContain(before.id);
  expect((await scene.content()).addresses.find(({ ip }) => ip === fixed)).toMatchObject({ id: address?.id, tags: address?.tags });
  await scene.askFor('edge');
  await scene.acted(0, 2);
  expect((await scene.loadBalancer('edge'))?.status?.address).toBeUndefined();
  await scene.faults();
  await scene.askFor('edge');
  expect(await scene.published('edge')).toBe(fixed);
  expect(await scene.inCloud('edge')).toMatchObject({ scheme: 'Public', name: before.name, addressIDs: before.addressIDs });
});

test('a move that keeps a fixed address is planned as delete first; killed between its halves, it ends at the new load balancer with that address', async () => {
  const [before, home, fixed] = [await scene.inCloud('edge'), await scene.stackOf('edge'), addressOf(await scene.service('edge')) ?? ''];
  await place('edge', '=corner');
  const why = `moves it to another load balancer, delete first, with a gap in traffic, because ${fixed} can't be on both`;
  expect((await scene.condition('edge', 'Reconciling', 'AwaitingApproval')).message).toContain(why);
  const { hash, reason } = await scene.planOf('edge');
  expect(reason).toContain(why);
  const told = (await scene.events('CloudLoadBalancer', 'edge')).filter((event) => event.reason === 'AwaitingApproval');
  expect(told.some(({ message }) => message?.includes(why))).toBe(true);
  await scene.settled();
  expect(await scene.inCloud('edge')).toEqual(before);

  // The request of the killed one never reaches the cloud: late, it would bring a pool whose Service is gone by then.
  await scene.faults({ match: { verb: 'create', collection: 'pools' }, times: 1, act: { latencyMs: { min: 600_000, max: 600_000 } } });
  await approve('edge', hash);
  await scene.acted(0);
  await scene.gone('the old stack', () => scene.stack(home.metadata.name));
  await cluster.killOperator();
  await scene.faults();
  await cluster.startOperator();
  expect(await scene.published('edge')).toBe(fixed);
  const corner = (await scene.content()).loadbalancers.find(({ tags }) => tags.owner === 'placement default/corner');
  expect(corner?.listeners.map(({ owner, port }) => `${owner} ${port}`)).toEqual(['default/edge 80']);
  expect(await scene.counts('edge')).toMatchObject({ pools: 1, loadbalancers: 0 });
  await scene.deleteServices('edge');
});

test('a changed placement waits for approval; taken back, nothing is left of it', async () => {
  await cluster.apply(serviceOf('mover'));
  await scene.published('mover');
  const [before, home] = [await scene.inCloud('mover'), await scene.stackOf('mover')];
  await place('mover', '=front');
  const { message } = await scene.condition('mover', 'Reconciling', 'AwaitingApproval');
  expect(message).toContain(
    'the change of spec.placement from none to default/front moves it to another load balancer, and spec.updatePolicy.replace is Never',
  );
  const plan = await scene.planOf('mover');
  const away = await scene.stackOf('mover');
  expect(away.metadata.name).not.toBe(home.metadata.name);
  expect(plan.operations.every(({ op }) => op === 'create')).toBe(true);
  expect(addressOf(await scene.service('mover'))).toBe((await scene.loadBalancer('mover'))?.status?.address);
  expect(await scene.inCloud('mover')).toEqual(before);
  await place('mover', '-');
  await scene.ready('mover');
  await scene.gone('the stack of the move', () => scene.stack(away.metadata.name));
  expect(await scene.inCloud('mover')).toEqual(before);
});

test('a move that fails leaves the traffic where it is, and nothing behind when it is taken back', async () => {
  const before = await scene.inCloud('mover');
  const address = addressOf(await scene.service('mover'));
  await patch({ updatePolicy: { replace: 'Allow' } }, 'mover');
  await scene.ready('mover');
  await scene.faults({ match: { verb: 'targets' }, act: { status: 400, code: 'InvalidArgument' } });
  await place('mover', '=front');
  await scene.condition('mover', 'Stalled', 'Invalid');
  expect(addressOf(await scene.service('mover'))).toBe(address);
  const away = await scene.stackOf('mover');
  await place('mover', '-');
  await scene.ready('mover');
  await scene.gone('the stack of the move', () => scene.stack(away.metadata.name));
  expect(await scene.counts()).toEqual({ addresses: 2, pools: 2, loadbalancers: 2 });
  expect(await scene.inCloud('mover')).toEqual(before);
  await scene.faults();
});

test('deleted while both have it, with another operator: nothing is left in either', async () => {
  await place('mover', '=front');
  await scene.until('both', async () => (await scene.counts('mover')).pools === 2);
  await scene.ready('mover');
  await cluster.killOperator();
  await cluster.kubectl(['delete', 'service', '--wait=false', 'mover']);
  await cluster.startOperator();
  await scene.gone('the load balancer', () => scene.loadBalancer('mover'));
  expect(await scene.counts()).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  await scene.until('their stacks to be gone', async () => {
    const stacks = (await scene.list(CLOUD_STACKS)).map(({ metadata }) => metadata.name).filter((name) => /mover|front/.test(name));
    if (stacks.length > 0) throw new Error(stacks.join());
    return true;
  });
});
