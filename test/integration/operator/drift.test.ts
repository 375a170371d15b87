import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CLOUD_STACKS } from '../../../crds';
import { compiled } from '../../../operator/entry';
import type { DriftRequest, LoadBalancer } from '../../../providers/local/api';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene, serviceOf, type StoredStack } from './scene';

const PORTS = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
];

let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ provider: { driftInterval: '1s' } });
  scene = new Scene(cluster);
  await scene.addNode('n1');
  await scene.initialized('n1');
  await cluster.apply(serviceOf('web', { ports: PORTS, spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }), serviceOf('other'));
  await scene.published('web');
  await scene.published('other');
  await scene.settled();
}, OPERATOR_CLUSTER_START_MS);

afterEach(() => scene.faults());
afterAll(() => cluster?.stop());

/** What the load balancer should look like, without ids that a repair may change. */
function shape({ name, scheme, listeners, sourceRanges, tags }: LoadBalancer): object {
  return {
    name,
    scheme,
    sourceRanges,
    tags,
    listeners: listeners.map(({ name: listener, port, protocol }) => ({ listener, port, protocol })),
  };
}

/**
 * Makes a change from behind, waits until the CloudStack has shown it and the cloud is as before, and checks that there is one of each.
 * @returns what the CloudStack showed
 */
async function expectHealed(change: (loadBalancer: LoadBalancer) => DriftRequest | Promise<DriftRequest>): Promise<StoredStack[]> {
  const before = await scene.inCloud('web');
  const other = await scene.inCloud('other');
  const stack = await scene.stackOf('web');
  const seen = await scene.history<StoredStack>('CloudStack', stack.metadata.name);
  await cluster.cloud.drift(await change(before));
  await scene.until('the cloud to be repaired', async () => {
    expect(shape(await scene.inCloud('web'))).toEqual(shape(before));
    expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });
    expect(await scene.targets('web', 'http')).toHaveLength(1);
    expect(await scene.targets('web', 'https')).toHaveLength(1);
    return true;
  });
  await scene.until('the drift to be cleared', async () => {
    const { status } = await scene.stackOf('web');
    expect(status?.drift ?? []).toEqual([]);
    expect(status?.conditions).toEqual([expect.objectContaining({ type: 'Ready', status: 'True' })]);
    return status?.attempts?.[0]?.result === 'Succeeded';
  });
  await scene.ready('web');
  expect(await scene.inCloud('other')).toEqual(other);
  return (await seen.stop()).filter(({ status }) => (status?.drift ?? []).length > 0);
}

test('a listener that was removed comes back', async () => {
  const shown = await expectHealed(({ id, listeners }) => ({
    kind: 'patch',
    collection: 'loadbalancers',
    id,
    fields: { listeners: listeners.slice(0, 1) },
  }));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown[0]?.status?.drift).toContainEqual(
    expect.objectContaining({ kind: 'Changed', property: expect.stringMatching(/^listeners/) as string }),
  );
  expect(shown[0]?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Reconciling', reason: 'Drifted' }));
});

test('source ranges that were opened are closed again', async () => {
  const shown = await expectHealed(({ id }) => ({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: [] } }));
  expect(shown[0]?.status?.drift).toContainEqual(
    expect.objectContaining({ kind: 'Changed', property: expect.stringMatching(/^sourceRanges/) as string }),
  );
});

test('a load balancer that was deleted is made anew, with the same address', async () => {
  const address = await scene.published('web');
  const shown = await expectHealed(({ id }) => ({ kind: 'delete', collection: 'loadbalancers', id }));
  expect(shown[0]?.status?.drift).toContainEqual(expect.objectContaining({ kind: 'Missing' }));
  expect(await scene.published('web')).toBe(address);
});

test('a pool that was deleted with its load balancer is made anew, and gets its members', async () => {
  const { pools } = await scene.content();
  await expectHealed(async ({ id, listeners }) => {
    await cluster.cloud.drift({ kind: 'delete', collection: 'loadbalancers', id });
    const pool = pools.find(({ id: poolID }) => poolID === listeners[0]?.poolID);
    return { kind: 'delete', collection: 'pools', id: pool?.id ?? '' };
  });
});

test('everything gone: load balancer, pools and address are made anew, and the new address is published', async () => {
  const { pools } = await scene.content();
  await expectHealed(async ({ id, addressIDs }) => {
    await cluster.cloud.drift({ kind: 'delete', collection: 'loadbalancers', id });
    for (const { id: poolID, tags } of pools) {
      if (tags.owner === 'default/web') await cluster.cloud.drift({ kind: 'delete', collection: 'pools', id: poolID });
    }
    return { kind: 'delete', collection: 'addresses', id: addressIDs[0] ?? '' };
  });
  const address = (await scene.content()).addresses.find(({ tags }) => tags.owner === 'default/web')?.ip;
  expect(await scene.published('web')).toBe(address);
});

test('a change is healed once, not again and again', async () => {
  const { length: before } = (await scene.events('CloudLoadBalancer', 'web')).filter(({ reason }) => reason === 'Updated');
  await scene.settled();
  await cluster.cloud.resetCalls();
  const { id } = await scene.inCloud('web');
  await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: ['192.0.2.0/24'] } });
  await scene.until('the repair', async () => (await scene.inCloud('web')).sourceRanges[0] === '10.0.0.0/8');
  await scene.settled();
  const { calls } = await cluster.operatorCalls();
  expect(calls.filter(({ verb }) => verb !== 'list' && verb !== 'get')).toEqual([
    expect.objectContaining({ verb: 'update', collection: 'loadbalancers', count: 1 }),
  ]);
  expect(before).toBeGreaterThan(0);
});

async function livingPools(): Promise<string[]> {
  return (await cluster.resources.list('pools')).filter(({ state }) => state !== 'deleting').map(({ id }) => id);
}

/** What `cloud-operator sweep` prints. */
async function sweep(...args: string[]): Promise<string> {
  const all = [compiled('operator/cli/main'), 'sweep', '--kubeconfig', cluster.kubeconfigPath, ...args];
  return (await promisify(execFile)(process.execPath, all)).stdout;
}

test('what nobody accounts for is shown, and deleted when a person says so', async () => {
  expect(await sweep()).toMatch(/^Nothing is left over/);
  const [pool] = await cluster.resources.list('pools', { stack: (await scene.stackOf('web')).metadata.name });
  const stack = 'lb-ghost-0123456789';
  const lost = { name: 'ghost', protocol: 'TCP', tags: { ...pool?.tags, stack, resource: 'ghost' } };
  const { id } = await cluster.resources.create('pools', lost, 'ghost', {});
  expect(await sweep()).toMatch(new RegExp(`^${stack} +local +local:index:TargetPool +ghost +${id}$`, 'm'));
  const record = await cluster.kube.get<StoredStack>(CLOUD_STACKS, stack);
  expect(record?.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Ready Leftover', 'Stalled Leftover']);
  expect(await metric('cloud_operator_leftover_stacks', { provider: 'local' })).toBe(1);
  const refused = await sweep('--delete', 'lb-other').catch((thrown: { stderr: string }) => thrown.stderr);
  expect(refused).toContain('not among what was found: lb-other');
  const others = (await livingPools()).filter((one) => one !== id);
  expect(await sweep('--delete', stack)).toContain(`deleted: ${stack}`);
  expect(await livingPools()).toEqual(others);
  expect(await sweep()).toMatch(/^Nothing is left over/);
});

/** Sum of a metric's series whose labels match; NaN = there is none. */
async function metric(name: string, labels: Record<string, string>): Promise<number> {
  const text = await (await fetch(`${cluster.operatorURL}/metrics`)).text();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && wanted.every((pair) => line.includes(pair)));
  return lines.length === 0 ? NaN : lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

test('our own metrics: time to Ready, updates, cloud calls, drift, queues, and the age of what is being deleted', async () => {
  expect(await metric('cloud_operator_time_to_ready_seconds_count', { kind: 'CloudLoadBalancer' })).toBeGreaterThanOrEqual(2);
  expect(await metric('cloud_operator_update_duration_seconds_count', { provider: 'local', result: 'Updated' })).toBeGreaterThanOrEqual(2);
  expect(await metric('cloud_operator_cloud_calls_total', { provider: 'local', verb: 'create', code: 'Answered' })).toBeGreaterThan(0);
  expect(await metric('cloud_operator_workqueue_oldest_seconds', { name: 'service' })).toBeGreaterThanOrEqual(0);
  expect(await metric('workqueue_depth', { name: 'service' })).toBeGreaterThanOrEqual(0);

  const healed = { provider: 'local', kind: 'LoadBalancer', policy: 'Heal' };
  const before = (await metric('cloud_operator_drift_total', healed)) || 0;
  const { id } = await scene.inCloud('web');
  await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: ['192.0.2.0/24'] } });
  await scene.until('the drift to be counted', async () => (await metric('cloud_operator_drift_total', healed)) > before);

  const age = (): Promise<number> => metric('cloud_operator_deleting_oldest_seconds', { kind: 'CloudLoadBalancer' });
  await cluster.apply(serviceOf('going'));
  await scene.published('going');
  expect(await age()).toBe(0);
  await scene.faults({ match: { verb: 'delete' }, act: { status: 500, code: 'Internal' } });
  await cluster.kubectl(['delete', 'service', 'going', '--wait=false']);
  await scene.until('a deletion to have an age', async () => (await age()) > 0);
  await scene.faults();
  await scene.until('no deletion to be left', async () => (await age()) === 0);
});

test('health, one check at a time too, and the configuration', async () => {
  const get = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`${cluster.operatorURL}${path}`);
    return [answer.status, await answer.text()];
  };
  for (const path of ['/healthz', '/livez', '/readyz', '/readyz/caches', '/healthz/service-lb-controller', '/livez/ping'])
    expect([path, await get(path)]).toEqual([path, [200, 'ok']]);
  expect((await get('/livez/caches'))[0]).toBe(404);
  const [, verbose] = await get('/readyz?verbose');
  for (const check of ['ping', 'caches', 'cloud-node-controller', 'node-route-controller']) expect(verbose).toContain(`[+]${check} ok\n`);
  const configuration = JSON.parse((await get('/configz'))[1]) as Record<string, object>;
  expect(Object.keys(configuration).sort()).toEqual(['cloud-operator.dev', 'cloudcontrollermanager.config.k8s.io']);
});

test('what is not ours stays as it is', async () => {
  const mine = await cluster.resources.create('addresses', { name: 'somebodys', family: 'IPv4' }, 'somebody', {});
  const tagged = { clusterID: 'another-cluster', stack: (await scene.stackOf('web')).metadata.name, resource: 'x' };
  await cluster.resources.create('pools', poolOf('anothers', tagged), 'anothers', {});
  await cluster.cloud.resetCalls();
  await scene.until('two comparisons', async () => {
    const { calls } = await cluster.operatorCalls();
    return calls.some(({ verb, collection, count }) => verb === 'list' && collection === 'addresses' && count >= 2);
  });
  expect((await cluster.operatorCalls()).writes).toBe(0);
  expect(await cluster.resources.get('addresses', mine.id)).toEqual(mine);
  expect((await scene.content()).pools.filter(({ name }) => name === 'anothers')).toHaveLength(1);
});

function poolOf(name: string, tags: object): object {
  const healthCheck = { protocol: 'TCP', intervalMs: 1000, timeoutMs: 500, healthyThreshold: 1, unhealthyThreshold: 1 };
  return { name, tags, protocol: 'TCP', healthCheck, drainMs: 0 };
}
