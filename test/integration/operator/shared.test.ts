import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { LoadBalancer } from '../../../providers/local/api';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, type Scene, serviceOf, withScene } from './scene';
import { older, rewriteState, withProperties } from './stored-state';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

/** Each test has a placement of its own, so that none finds what another has left. */
let edge: string;
let tests = 0;
beforeEach(() => (edge = `edge-${++tests}`));

afterEach(async () => {
  await cluster.kubectl(['delete', 'cloudloadbalancers', '--all', '--all-namespaces', '--wait=false']);
  await scene.until('no object to be left', async () => (await scene.list(CLOUD_LOAD_BALANCERS)).length === 0);
});

type Spec = Partial<CloudLoadBalancerSpecInput>;
const listener = (port: number) => ({ name: `p${port}`, port, nodePort: 30_000 + (port % 2_000) });

/** A CloudLoadBalancer as a person writes it, on the test's placement in its namespace. */
function member(name: string, port: number, { namespace = 'default', ...fields }: Spec & { namespace?: string } = {}): object {
  const spec = { provider: 'local', placement: { name: edge }, listeners: [listener(port)], local: {}, ...fields };
  return { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer', metadata: { name, namespace }, spec };
}

/** The one load balancer of a placement in the cloud; undefined when there is none. */
async function shared(placement = `default/${edge}`): Promise<LoadBalancer | undefined> {
  const found = (await cluster.resources.list('loadbalancers')).filter(({ tags }) => tags.owner === `placement ${placement}`);
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0];
}

/** `owner port` of each listener. */
async function listeners(placement?: string): Promise<string[]> {
  return ((await shared(placement))?.listeners ?? []).map(({ owner, port }) => `${owner} ${port}`).sort();
}

async function conditionsOfStack(name: string): Promise<string[]> {
  const stack = await scene.stackOf(name);
  return (stack.status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
}

async function deleteMembers(...names: string[]): Promise<void> {
  await cluster.kubectl(['delete', 'cloudloadbalancers', '--wait=false', ...names]);
  for (const name of names) await scene.gone(name, () => scene.loadBalancer(name));
}

test('R-48 two Services on one placement: one load balancer, one address, source ranges of their own; one leaves, the other stays', async () => {
  const annotations = { [ANNOTATIONS.placement]: 'web' };
  const other = { annotations, ports: [{ name: 'http', port: 81 }], spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } };
  await cluster.apply(serviceOf('s1', { annotations }), serviceOf('s2', other));
  const [first, second] = [await scene.published('s1'), await scene.published('s2')];
  expect(second).toBe(first);
  const balancer = await shared('default/web');
  expect(balancer?.listeners.map(({ owner, port, sourceRanges }) => ({ owner, port, sourceRanges }))).toEqual(
    expect.arrayContaining([
      { owner: 'default/s1', port: 80, sourceRanges: [] },
      { owner: 'default/s2', port: 81, sourceRanges: ['10.0.0.0/8'] },
    ]),
  );
  const pools = await cluster.resources.list('pools');
  for (const { poolID } of balancer?.listeners ?? []) expect(pools.find(({ id }) => id === poolID)?.targets).toHaveLength(1);
  expect(await scene.counts()).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });
  const stack = await scene.stackOf('s1');
  expect(stack.status?.members).toEqual(['default/s1', 'default/s2']);

  await cluster.cloud.resetCalls();
  await cluster.apply(serviceOf('s2', { ...other, spec: { loadBalancerSourceRanges: ['10.9.0.0/16'] } }));
  await scene.until('the new range', async () =>
    (await shared('default/web'))?.listeners.some(({ sourceRanges }) => sourceRanges?.[0] === '10.9.0.0/16'),
  );
  await scene.deleteServices('s2');
  expect(await listeners('default/web')).toEqual(['default/s1 80']);
  const after = await shared('default/web');
  expect([after?.id, after?.addressIDs]).toEqual([balancer?.id, balancer?.addressIDs]);
  const { calls } = await cluster.operatorCalls();
  expect(calls.filter(({ verb, collection }) => verb === 'delete' && collection === 'loadbalancers')).toEqual([]);
  expect(addressOf(await scene.service('s1'))).toBe(first);
  await scene.deleteServices('s1');
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
});

describe('R-48 five Services on one placement', () => {
  const NAMES = ['s1', 's2', 's3', 's4', 's5'];
  const portOf = (name: string): number => 80 + Number(name.slice(1));
  const service = (name: string, annotations: Record<string, string> = {}): object =>
    serviceOf(name, { annotations: { [ANNOTATIONS.placement]: edge, ...annotations }, ports: [{ name: 'http', port: portOf(name) }] });
  const all = (names: string[]): string[] => names.map((name) => `default/${name} ${portOf(name)}`);
  const writes = async (): Promise<string[]> => {
    const { calls } = await cluster.operatorCalls();
    return calls
      .filter(({ verb }) => verb !== 'get' && verb !== 'list')
      .map(({ verb, collection, count }) => `${verb} ${collection} ${count}`);
  };

  beforeEach(async () => {
    await cluster.apply(...NAMES.map((name) => service(name)));
    for (const name of NAMES) await scene.published(name);
    await scene.settled();
  });

  test('one more, one less, and another setting of one are updates in place, which leave the others as they are; a restart right after writes nothing', async () => {
    const address = addressOf(await scene.service('s1'));
    const before = await shared();
    expect(before?.listeners).toHaveLength(NAMES.length);
    const ofOthers = (balancer: LoadBalancer | undefined): unknown =>
      balancer?.listeners.filter(({ owner = '' }) => ['default/s1', 'default/s3', 'default/s5'].includes(owner));
    await cluster.cloud.resetCalls();
    await cluster.apply(service('s6'));
    expect(await scene.published('s6')).toBe(address);
    await scene.deleteServices('s2');
    await cluster.apply(service('s4', { 'local.cloud-operator.dev/idle-timeout': '90s' }));
    const idle = async (): Promise<number | undefined> =>
      (await shared())?.listeners.find(({ owner }) => owner === 'default/s4')?.idleTimeoutMs;
    await scene.until('the fourth one’s timeout', async () => (await idle()) === 90_000);
    await scene.ready('s4');
    await cluster.stopOperator();
    const made = await writes();
    expect(made).toContain('update loadbalancers 3');
    expect(made.filter((write) => /^(create|delete) loadbalancers/.test(write))).toEqual([]);
    const after = await shared();
    expect([after?.id, after?.addressIDs, ofOthers(after)]).toEqual([before?.id, before?.addressIDs, ofOthers(before)]);
    await cluster.cloud.resetCalls();
    await cluster.startOperator();
    await scene.settled();
    expect(await writes()).toEqual([]);
    const living = ['s1', 's3', 's4', 's5', 's6'];
    expect(await listeners()).toEqual(all(living));
    for (const name of living) expect(await scene.published(name)).toBe(address);
    await scene.deleteServices(...living);
    expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
  });

  test('a newer program that would replace the load balancer is held, and each of them is told who is cut; approved by all, it is done', async () => {
    const before = await shared();
    await cluster.stopOperator();
    await rewriteState(scene, 's1', (record) =>
      withProperties(older(record), 'LoadBalancer', (balancer) => ({ ...balancer, scheme: 'Internal' })),
    );
    await cluster.cloud.resetCalls();
    await cluster.startOperator();
    const why = `the update replaces LoadBalancer ${before?.name}, which cuts ${NAMES.map((name) => `default/${name}`).join(', ')}`;
    for (const name of NAMES) expect((await scene.condition(name, 'Reconciling', 'AwaitingApproval')).message).toContain(why);
    await scene.settled();
    expect(await writes()).toEqual([]);
    expect(await shared()).toEqual(before);

    const { hash } = await scene.planOf('s1');
    await cluster.kubectl(['annotate', 'clb', ...NAMES, `${ANNOTATIONS.approve}=${hash}`]);
    for (const name of NAMES) await scene.ready(name);
    expect((await writes()).sort()).toEqual(['create loadbalancers 1', 'delete loadbalancers 1']);
    expect(await shared()).toMatchObject({ name: before?.name, addressIDs: before?.addressIDs });
    expect(await listeners()).toEqual(all(NAMES));
    await scene.deleteServices(...NAMES);
    expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
  });
});

test('an invalid change of one: it goes on with what it had, also over a restart, and the other proceeds', async () => {
  await cluster.apply(member('a', 80), member('b', 81));
  await Promise.all([scene.ready('a'), scene.ready('b')]);
  await cluster.apply(member('a', 82, { healthCheck: { protocol: 'HTTP', path: '/not encoded' } }), member('b', 83));
  const stalled = await scene.condition('a', 'Stalled', 'Invalid');
  expect(stalled.message).toContain('The last good version keeps serving');
  await scene.ready('b');
  expect(await listeners()).toEqual(['default/a 80', 'default/b 83']);
  expect((await scene.loadBalancer('a'))?.status?.ingress).toHaveLength(1);

  await cluster.stopOperator();
  await cluster.cloud.resetCalls();
  await cluster.startOperator();
  await scene.settled();
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await cluster.apply(member('b', 84));
  await scene.ready('b');
  expect(await listeners()).toEqual(['default/a 80', 'default/b 84']);
  await scene.condition('a', 'Stalled', 'Invalid');
  await cluster.apply(member('a', 82));
  await scene.ready('a');
  expect(await listeners()).toEqual(['default/a 82', 'default/b 84']);
  await deleteMembers('a', 'b');
});

test('what the cloud refuses is held alone: named by its resource, and found by bisection where nothing is named', async () => {
  const foreign = await cluster.resources.create('addresses', { name: 'foreign' }, 'foreign', {});
  const at = (last: number) => ({ addresses: [`10.201.1.${last}`] });
  const fixed = Array.from({ length: 7 }, (_unused, index) => member(`f${index}`, 70 + index, at(index + 1)));
  const names = fixed.map((_member, index) => `f${index}`);
  await cluster.apply(member('a', 80), member('b', 81), ...fixed);
  await Promise.all(['a', 'b', ...names].map((name) => scene.ready(name)));

  // A load balancer has eight addresses: the ninth is refused for the whole of it, in words that name nobody.
  await cluster.apply(member('a', 80, { addresses: [foreign.ip] }), member('b', 91), member('c', 82, at(8)), member('d', 83));
  const conflict = await scene.condition('a', 'Stalled', 'Taken');
  expect(conflict.message).toMatch(/address foreign.*The last good version keeps serving/);
  const refused = await scene.condition('c', 'Stalled', 'Invalid');
  expect(refused.message).toMatch(/addressIDs/);
  await Promise.all([scene.ready('b'), scene.ready('d')]);
  const rest = names.map((name, index) => `default/${name} ${70 + index}`);
  expect(await listeners()).toEqual(['default/a 80', 'default/b 91', 'default/d 83', ...rest]);
  // Held candidates are tried again and again; in between the stack is as it should be.
  await scene.until('the stack to be Ready', async () => (await conditionsOfStack('b')).join() === 'Ready=True');

  await cluster.resources.remove('addresses', foreign.id, {});
  await deleteMembers('f0', 'f1');
  await Promise.all(['a', 'c'].map((name) => scene.ready(name, { timeoutMs: 40_000 })));
  expect((await scene.loadBalancer('a'))?.status?.address).toBe(foreign.ip);
  expect((await scene.loadBalancer('b'))?.status?.address).not.toBe(foreign.ip);
  await deleteMembers('a', 'b', 'c', 'd', ...names.slice(2));
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
}, 90_000);

test('one port for two: the incumbent keeps it, the other says so and goes on when it is free', async () => {
  await cluster.apply(member('z', 80));
  await scene.ready('z');
  await cluster.apply(member('a', 80), member('b', 81));
  const conflict = await scene.condition('a', 'Stalled', 'PortConflict');
  expect(conflict.message).toContain('port 80/TCP of the shared public address belongs to default/z');
  await scene.ready('b');
  await cluster.apply(member('z', 90));
  await Promise.all([scene.ready('a'), scene.ready('z')]);
  expect(await listeners()).toEqual(['default/a 80', 'default/b 81', 'default/z 90']);
  await cluster.apply(member('b', 80));
  await scene.condition('b', 'Stalled', 'PortConflict');
  await deleteMembers('a');
  await scene.ready('b');
  expect(await listeners()).toEqual(['default/b 80', 'default/z 90']);
  await deleteMembers('b', 'z');
});

test('a member that vanished without a deletion stays in the cloud until a person releases it', async () => {
  await cluster.apply(member('a', 80), member('b', 81));
  const [{ metadata }] = await Promise.all([scene.ready('a'), scene.ready('b')]);
  await cluster.stopOperator();
  await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/a', 'merge', { metadata: { finalizers: null } });
  await cluster.kubectl(['delete', 'cloudloadbalancer', 'a']);
  await cluster.startOperator();
  const stack = (await scene.stackOf('b')).metadata.name;
  const missing = await scene.until('the condition MemberMissing', async () => {
    const conditions = (await scene.stack(stack))?.status?.conditions ?? [];
    return conditions.find(({ type, status }) => type === 'MemberMissing' && status === 'True');
  });
  expect(missing.message).toContain(`${ANNOTATIONS.release}=${metadata.uid}`);
  await cluster.apply(member('b', 82));
  await scene.ready('b');
  expect(await listeners()).toEqual(['default/a 80', 'default/b 82']);
  await scene.addNode('n2');
  await scene.initialized('n2');
  await scene.until('both targets for both', async () => {
    const pools = (await cluster.resources.list('pools')).filter(({ tags }) => tags.stack === stack);
    return pools.length === 2 && pools.every(({ targets }) => targets.length === 2);
  });

  await cluster.kube.patch(CLOUD_STACKS, stack, 'merge', { metadata: { annotations: { [ANNOTATIONS.release]: metadata.uid } } });
  await scene.until('a to be gone from the cloud', async () => (await listeners()).join() === 'default/b 82');
  await scene.until('the condition to be gone', async () => (await conditionsOfStack('b')).join() === 'Ready=True');

  await cluster.stopOperator();
  const last = (await scene.loadBalancer('b'))?.metadata.uid;
  await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/b', 'merge', { metadata: { finalizers: null } });
  await cluster.kubectl(['delete', 'cloudloadbalancer', 'b']);
  await cluster.startOperator();
  await scene.until('the stack to say that nobody asks for it', async () => {
    const conditions = (await scene.stack(stack))?.status?.conditions ?? [];
    return conditions.some(({ type, reason }) => type === 'Stalled' && reason === 'MemberMissing');
  });
  expect(await listeners()).toEqual(['default/b 82']);
  const annotations = { [ANNOTATIONS.release]: `${metadata.uid},${last}` };
  await cluster.kube.patch(CLOUD_STACKS, stack, 'merge', { metadata: { annotations } });
  await scene.gone('the stack', () => scene.stack(stack));
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
});

test('who may share a placement of another namespace is the policy’s to say', async () => {
  const policy = (value: object) => cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { policy: value } });
  await cluster.kubectl(['create', 'namespace', 'team-b']);
  const guest = (port: number) => member('guest', port, { namespace: 'team-b', placement: { name: edge, namespace: 'default' } });
  await cluster.apply(member('host', 80), guest(81));
  await scene.ready('host');
  const refused = await scene.condition('guest', 'Stalled', 'Invalid', { namespace: 'team-b' });
  expect(refused.message).toContain('sharing is SameNamespace');

  await policy({ sharing: 'Namespaces', sharingNamespaces: ['team-b'] });
  const joined = await scene.ready('guest', { namespace: 'team-b' });
  expect(joined.status?.address).toBe((await scene.loadBalancer('host'))?.status?.address);
  expect(await listeners()).toEqual(['default/host 80', 'team-b/guest 81']);

  await policy({ sharing: 'None', sharingNamespaces: null });
  await scene.condition('host', 'Stalled', 'Invalid');
  await scene.condition('guest', 'Stalled', 'Invalid', { namespace: 'team-b' });
  expect(await listeners()).toEqual(['default/host 80', 'team-b/guest 81']);
  await cluster.kubectl(['delete', 'cloudloadbalancer', 'guest', '--namespace', 'team-b']);
  await deleteMembers('host');
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
});
