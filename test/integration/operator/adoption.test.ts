import { ANNOTATIONS, API_VERSION } from '../../../crds';
import { NAMESPACES } from '../../../operator/kube/object';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, Scene, serviceOf, type ServiceOptions } from './scene';

const NAME = { 'local.cloud-operator.dev/name': 'edge-lb' };
const OF_ACCOUNT = { [ANNOTATIONS.provider]: 'account' };

/** Two clusters in one account: the cloud is that of the first. */
let first: Scene;
let second: Scene;
let firstID: string;
const clusters: OperatorCluster[] = [];

beforeAll(async () => {
  clusters.push(...(await Promise.all([OperatorCluster.start(), OperatorCluster.start()])));
  [first, second] = clusters.map((cluster) => new Scene(cluster)) as [Scene, Scene];
  firstID = (await first.cluster.kube.get(NAMESPACES, 'kube-system'))?.metadata.uid ?? '';
  const { cloudEndpoint: endpoint, tokenFile } = first.cluster;
  const spec = { driftInterval: '1h', routePeriod: '1h', sweepInterval: '0s', local: { endpoint, tokenFile } };
  await second.cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'account' }, spec });
}, OPERATOR_CLUSTER_START_MS);
afterAll(() => Promise.all(clusters.map((cluster) => cluster.stop())));

const edge = (annotations: Record<string, string>, options: ServiceOptions = {}): object =>
  serviceOf('edge', { annotations: { ...NAME, ...annotations }, ...options });

const patch = (scene: Scene, spec: object): Promise<string> =>
  scene.cluster.kubectl(['patch', 'clb', 'edge', '--type=merge', '-p', JSON.stringify({ spec })]);

const allow = (scene: Scene, provider: string, adoption = ['Released']): Promise<string> =>
  scene.cluster.kubectl(['patch', 'cloudprovider', provider, '--type=merge', '-p', JSON.stringify({ spec: { policy: { adoption } } })]);

/** What was written to the cloud since the last reset, by whichever cluster. */
async function writes(): Promise<string[]> {
  const { calls } = await first.cluster.operatorCalls();
  return calls.filter(({ verb }) => verb !== 'get' && verb !== 'list').map(({ verb, collection }) => `${verb} ${collection}`);
}

/** Waits for a Warning on the Service that says all of it. */
function refused(scene: Scene, name: string, ...words: string[]): Promise<unknown> {
  return scene.until(`Service ${name} to be refused: ${words.join(', ')}`, async () => {
    const said = (await scene.events('Service', name)).filter(({ reason }) => reason === 'SyncLoadBalancerFailed');
    const found = said.find(({ message }) => words.every((word) => message.includes(word)));
    if (found === undefined) throw new Error(said.map(({ message }) => message).join('\n'));
    return found;
  });
}

let before: Awaited<ReturnType<Scene['content']>>;
let address: string;

test('R-50: the same name in another cluster of the account is refused with the holder’s name, and nothing is written', async () => {
  await first.cluster.apply(edge({}));
  address = await first.published('edge');
  await first.settled();
  before = await first.content();
  expect(before.loadbalancers.map(({ name }) => name)).toEqual(['edge-lb']);
  await first.cluster.cloud.resetCalls();
  await second.cluster.apply(edge(OF_ACCOUNT));
  await refused(second, 'edge', 'edge-lb', 'default/edge', firstID);
  expect(await writes()).toEqual([]);
  expect(await first.content()).toEqual(before);
  expect(addressOf(await first.service('edge'))).toBe(address);
}, 120_000);

test('taking over must be allowed by who may change the CloudProvider, and the holder must have released it', async () => {
  await second.cluster.apply(edge({ ...OF_ACCOUNT, [ANNOTATIONS.adopt]: 'Released' }));
  await refused(second, 'edge', 'CloudProvider account', 'spec.policy.adoption');
  await allow(second, 'account');
  await second.condition('edge', 'Stalled', 'Taken');
  expect(await writes()).toEqual([]);
}, 120_000);

test('the plan of a take-over is shown while the load balancer is only observed; then it keeps its address', async () => {
  await patch(second, { managementPolicy: 'Observe' });
  await patch(first, { managementPolicy: 'Released' });
  await first.condition('edge', 'Ready', 'Released');
  expect(addressOf(await first.service('edge'))).toBe(address);
  await first.cluster.cloud.resetCalls();
  await second.cluster.kubectl(['annotate', 'clb', 'edge', `${ANNOTATIONS.reconcile}=now`, '--overwrite']);
  const plan = await second.until('its plan', async () => (await second.stackOf('edge')).status?.plans?.[0], 60_000);
  expect(plan.summary).toBe('0 to create, 3 to update, 0 to replace, 0 to delete, 0 unchanged');
  expect(plan.reason).toContain(firstID);
  expect(plan.operations.flatMap(({ properties = [] }) => properties.map(({ path }) => path))).not.toContain('name');
  expect(await writes()).toEqual([]);

  await patch(second, { managementPolicy: null });
  await second.ready('edge', { timeoutMs: 60_000 });
  expect(await second.published('edge')).toBe(address);
  const after = await first.content();
  for (const collection of ['addresses', 'pools', 'loadbalancers'] as const) {
    expect(after[collection].map(({ id, name }) => [id, name])).toEqual(before[collection].map(({ id, name }) => [id, name]));
    expect(after[collection].map(({ tags }) => tags)).toEqual([expect.not.objectContaining({ clusterID: firstID })]);
  }
  expect(new Set(await writes())).toEqual(new Set(['update addresses', 'update pools', 'update loadbalancers']));
  expect((await second.stackOf('edge')).status?.plans).toBeUndefined();
  await second.until('an Event of it', async () =>
    (await second.events('CloudLoadBalancer', 'edge')).some(({ reason, message }) => reason === 'Adopted' && message.includes(firstID)),
  );
}, 180_000);

test('the cluster that released it writes nothing to the cloud any more, even when its Service is deleted', async () => {
  await second.settled();
  await first.cluster.cloud.resetCalls();
  const standing = await first.content();
  await first.deleteServices('edge');
  await first.settled();
  expect(await writes()).toEqual([]);
  expect(await first.content()).toEqual(standing);
}, 120_000);

test('a second Service with the name is refused with the name of the first', async () => {
  await second.cluster.apply(serviceOf('edge-two', { annotations: { ...NAME, ...OF_ACCOUNT } }));
  await refused(second, 'edge-two', 'edge-lb', 'default/edge (');
  await second.deleteServices('edge-two');
}, 120_000);

test('a spec of today is brought in, and what was taken over goes with its Service unless it is orphaned: then it is taken back', async () => {
  await second.cluster.apply(edge({ ...OF_ACCOUNT, [ANNOTATIONS.adopt]: 'Released' }, { ports: [{ name: 'https', port: 443 }] }));
  await second.until(
    'the listener of today',
    async () => {
      const [balancer] = await first.cluster.resources.list('loadbalancers');
      return balancer?.listeners.map(({ port }) => port).join() === '443';
    },
    60_000,
  );
  expect(await second.published('edge')).toBe(address);
  await patch(second, { deletionPolicy: 'Orphan' });
  await second.deleteServices('edge');

  await allow(first, 'local');
  await first.cluster.apply(edge({ [ANNOTATIONS.adopt]: 'Released' }, { ports: [{ name: 'https', port: 443 }] }));
  expect(await first.published('edge')).toBe(address);
  await first.deleteServices('edge');
  expect((await first.content()).loadbalancers).toEqual([]);
}, 120_000);

test.each(['Yes', 'released', ''])('the annotation says %j: the Service says what to write', async (value) => {
  await second.cluster.apply(serviceOf('typo', { annotations: { ...OF_ACCOUNT, [ANNOTATIONS.adopt]: value } }));
  await refused(second, 'typo', ANNOTATIONS.adopt, 'Released, Upstream, Unowned');
  await second.cluster.kubectl(['delete', 'service', 'typo']);
});

test('nothing is there to be taken over: nothing is made, and the Service says so', async () => {
  await first.cluster.apply(serviceOf('nothing', { annotations: { [ANNOTATIONS.adopt]: 'Released' } }));
  await refused(first, 'nothing', 'nothing that could be taken over', ANNOTATIONS.adopt);
  expect(await first.counts('nothing')).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
  await first.deleteServices('nothing');
});

test('what it has released the same cluster takes back, and once more after a look: it bears its marks again, and nothing differs from its state', async () => {
  const stateOf = async (): Promise<object> => {
    const { loadbalancers, addresses, pools } = await first.content();
    const marks = [...loadbalancers, ...addresses, ...pools].map(({ tags }) => [tags.owner, tags.released]);
    return { address: loadbalancers.length === 1 && addresses[0]?.ip, marks: [...new Set(marks.map((each) => each.join()))] };
  };
  await first.cluster.apply(serviceOf('edge'));
  const back = { address: await first.published('edge'), marks: ['default/edge,'] };
  for (const look of [false, true]) {
    await patch(first, { managementPolicy: 'Released' });
    await first.condition('edge', 'Ready', 'Released');
    expect(await stateOf()).toEqual({ ...back, marks: ['default/edge,true'] });
    await first.cluster.apply(serviceOf('edge', { annotations: { [ANNOTATIONS.adopt]: 'Released' } }));
    if (look) {
      await patch(first, { managementPolicy: 'Observe' });
      const plan = await first.until('its plan', async () => (await first.stackOf('edge')).status?.plans?.[0], 60_000);
      expect(plan.summary).toBe('0 to create, 3 to update, 0 to replace, 0 to delete, 0 unchanged');
    }
    await patch(first, { managementPolicy: null });
    expect(await first.published('edge')).toBe(back.address);
    expect(await stateOf()).toEqual(back);
  }
  await first.deleteServices('edge');
  expect((await first.content()).loadbalancers).toEqual([]);
}, 180_000);

test('what a person has made is taken over by its id: refused by policy, by kind, by holder; then as it is, with its name, address and marks', async () => {
  const { resources } = first.cluster;
  const tags = { team: 'edge' };
  const made = await resources.create('addresses', { name: 'by-hand', family: 'IPv4', tags }, 'by-hand', {});
  const healthCheck = { protocol: 'TCP', intervalMs: 500, timeoutMs: 400, healthyThreshold: 1, unhealthyThreshold: 2 };
  const pool = await resources.create('pools', { name: 'by-hand', protocol: 'TCP', healthCheck, tags }, 'by-hand', {});
  const listeners = [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }];
  const spec = { name: 'by-hand', scheme: 'Public', addressIDs: [made.id], listeners, sourceRanges: [], tags };
  const { id } = await resources.create('loadbalancers', spec, 'by-hand', {});
  const asking = (adopt: string, adoptID: string, more: Record<string, string> = {}): object =>
    serviceOf('hand', {
      annotations: { [ANNOTATIONS.adopt]: adopt, [ANNOTATIONS.adoptID]: adoptID, ...more },
      spec: { loadBalancerIP: made.ip },
    });
  await first.cluster.cloud.resetCalls();

  await first.cluster.apply(asking('Unowned', id));
  await refused(first, 'hand', 'CloudProvider local', 'spec.policy.adoption');
  await first.cluster.apply(asking('Released', id));
  await allow(first, 'local', ['Released', 'Unowned']);
  await refused(first, 'hand', 'by-hand belongs to somebody who left no tags', 'Unowned');
  await first.cluster.apply(asking('Unowned', pool.id));
  await refused(first, 'hand', `${pool.id} is a target pool, and no load balancer`);
  await first.cluster.apply(asking('Unowned', 'lb-nothing'));
  await refused(first, 'hand', 'no load balancer lb-nothing that could be taken over');
  expect(await writes()).toEqual([]);

  await first.cluster.apply(asking('Unowned', id));
  expect(await first.published('hand')).toBe(made.ip);
  const after = await first.content();
  const known = expect.objectContaining({ team: 'edge', owner: 'default/hand', adopted: 'true' }) as object;
  expect(after.loadbalancers.map((one) => [one.id, one.name, one.tags])).toEqual([[id, 'by-hand', known]]);
  expect(after.addresses.map((one) => [one.id, one.tags])).toEqual([[made.id, known]]);
  expect(after.pools.map((one) => [one.id, one.tags])).toEqual([[pool.id, known]]);

  await second.cluster.kubectl(['patch', 'cloudprovider', 'account', '--type=merge', '-p', '{"spec":{"policy":{"adoption":["Unowned"]}}}']);
  const spectator = { [ANNOTATIONS.adopt]: 'Unowned', [ANNOTATIONS.adoptID]: id, ...OF_ACCOUNT };
  await second.cluster.apply(serviceOf('hand', { annotations: spectator }));
  await refused(second, 'hand', 'by-hand belongs to default/hand', firstID);
  await second.cluster.kubectl(['delete', 'service', 'hand']);

  // Its address can't be on two at once: by a later change of its name it is deleted first, when somebody has approved that.
  await first.cluster.apply(asking('Unowned', id, { 'local.cloud-operator.dev/name': 'renamed' }));
  const { message } = await first.condition('hand', 'Reconciling', 'AwaitingApproval');
  expect(message).toContain(`delete first, with a gap in traffic, because ${made.ip} can't be used twice`);
  const { hash, summary } = await first.planOf('hand');
  expect(summary).toContain('1 to replace');
  await first.cluster.kubectl(['annotate', 'clb', 'hand', `cloud-operator.dev/approve=${hash}`]);
  await first.until('the one of the new name', async () => (await first.content()).loadbalancers[0]?.name === 'renamed');
  expect(await first.published('hand')).toBe(made.ip);
  await first.settled();
  const { loadbalancers, addresses, pools } = await first.content();
  expect([loadbalancers.length, addresses.map((one) => one.id), pools.map((one) => one.id)]).toEqual([1, [made.id], [pool.id]]);
  await first.deleteServices('hand');
  expect((await first.content()).loadbalancers).toEqual([]);
}, 180_000);
