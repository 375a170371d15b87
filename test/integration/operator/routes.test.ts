import { CLOUD_ROUTES } from '../../../crds';
import { NODES } from '../../../operator/kube/object';
import { kstatusOf } from '../../harness/kstatus';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { isSettled, Scene, type StoredRoute } from './scene';

let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ provider: { routePeriod: '1s' }, flags: ['--cluster-cidr=10.244.0.0/16'] });
  scene = new Scene(cluster);
  for (const index of [1, 2, 3]) await scene.addNode(`n${index}`, { podCIDR: `10.244.${index}.0/24` });
}, OPERATOR_CLUSTER_START_MS);

afterAll(() => cluster?.stop());

/** Destination → instance, of all routes in the cloud. */
async function table(): Promise<Record<string, string>> {
  const { routes } = await scene.content();
  return Object.fromEntries(routes.map(({ destinationCIDR, instanceID }) => [destinationCIDR, instanceID]));
}

async function networkCondition(name: string): Promise<string> {
  const conditions = (await scene.node(name))?.status?.conditions ?? [];
  const found = conditions.find(({ type }) => type === 'NetworkUnavailable');
  return `${found?.status}/${found?.reason}`;
}

async function instanceID(name: string): Promise<string> {
  return (await cluster.resources.list('instances')).find((instance) => instance.name === name)?.id ?? '';
}

test('each PodCIDR has one CloudRoute and one route, and its Node is told', async () => {
  for (const index of [1, 2, 3]) {
    const name = `n${index}-10.244.${index}.0-24`;
    const route = await scene.until(`CloudRoute ${name}`, async () => {
      const found = await scene.route(name);
      return found !== undefined && isSettled(found) ? found : undefined;
    });
    const node = await scene.node(`n${index}`);
    expect(route.spec).toMatchObject({
      provider: 'local',
      destinationCIDR: `10.244.${index}.0/24`,
      nodeName: `n${index}`,
      nodeUID: node?.metadata.uid,
      providerID: node?.spec.providerID,
    });
    expect(kstatusOf(route)).toBe('Current');
    await scene.until('NetworkUnavailable=False', async () => (await networkCondition(`n${index}`)) === 'False/RouteCreated');
  }
  expect(await table()).toEqual({
    '10.244.1.0/24': await instanceID('n1'),
    '10.244.2.0/24': await instanceID('n2'),
    '10.244.3.0/24': await instanceID('n3'),
  });
  const stack = await scene.stack((await scene.route('n1-10.244.1.0-24'))?.status?.stack ?? '');
  expect(stack?.spec.kind).toBe('Routes');
  expect(stack?.status).toMatchObject({ resourceCount: 3 });
});

test('a second CloudRoute to the same destination waits, and says whose the route is', async () => {
  const before = await table();
  const provider = { provider: 'local', providerID: (await scene.node('n2'))?.spec.providerID };
  const spec = { ...provider, destinationCIDR: '10.244.1.0/24', nodeName: 'n2' };
  // First by name, but not by age.
  await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name: 'a-double' }, spec });
  const stalled = await scene.until('the second one to be Stalled', async () =>
    (await scene.route('a-double'))?.status?.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === 'RouteConflict'),
  );
  expect(stalled.message).toContain('the route to 10.244.1.0/24 belongs to n1-10.244.1.0-24');
  await scene.until('a Warning', async () =>
    (await scene.events('CloudRoute', 'a-double')).some(({ reason }) => reason === 'RouteConflict'),
  );
  expect(await table()).toEqual(before);
  const first = await scene.route('n1-10.244.1.0-24');
  expect(first && kstatusOf(first)).toBe('Current');
  await cluster.kubectl(['delete', 'cloudroute', 'a-double', '--timeout=20s']);
  expect(await table()).toEqual(before);
});

test('a route that is deleted in the cloud is restored', async () => {
  const before = await table();
  await cluster.cloud.drift({ kind: 'deleteRoute', destinationCIDR: '10.244.2.0/24' });
  expect(Object.keys(await table())).toHaveLength(2);
  await scene.until('the route to be back', async () => {
    expect(await table()).toEqual(before);
    return true;
  });
});

test('a route that leads elsewhere is put right, in place', async () => {
  const before = await table();
  const { routes } = await scene.content();
  const route = routes.find(({ destinationCIDR }) => destinationCIDR === '10.244.1.0/24');
  await cluster.cloud.drift({ kind: 'patch', collection: 'routes', id: route?.id ?? '', fields: { instanceID: await instanceID('n3') } });
  expect(await table()).not.toEqual(before);
  await scene.until('the route to be right', async () => {
    expect(await table()).toEqual(before);
    return true;
  });
  expect((await scene.content()).routes.find(({ destinationCIDR }) => destinationCIDR === '10.244.1.0/24')?.id).toBe(route?.id);
});

test('a CloudRoute that somebody deletes or changes is restored', async () => {
  await cluster.kubectl(['delete', 'cloudroute', 'n2-10.244.2.0-24', '--timeout=20s']);
  await scene.until('the CloudRoute to be back', async () => {
    const found = await scene.route('n2-10.244.2.0-24');
    return found !== undefined && isSettled(found) && Object.keys(await table()).length === 3;
  });
  await cluster.kubectl(['patch', 'cloudroute', 'n2-10.244.2.0-24', '--type=merge', '-p', '{"spec":{"nodeName":"n3"}}']);
  await scene.until('the CloudRoute to lead to n2', async () => {
    const found = await scene.route('n2-10.244.2.0-24');
    return found?.spec.nodeName === 'n2' && isSettled(found);
  });
  expect((await table())['10.244.2.0/24']).toBe(await instanceID('n2'));
});

test('routes of others stay: in the cloud, and CloudRoutes that people made', async () => {
  const foreign = { name: 'somebodys', routeTableID: 'rtb-main', destinationCIDR: '10.99.0.0/24', instanceID: await instanceID('n1') };
  const route = await cluster.resources.create('routes', foreign, 'somebody', {});
  await cluster.apply({
    apiVersion: 'cloud-operator.dev/v1alpha1',
    kind: 'CloudRoute',
    metadata: { name: 'by-hand' },
    spec: { provider: 'local', destinationCIDR: '10.244.200.0/24', nodeName: 'n1' }, // its instance is the Node's
  });
  await scene.until('the route by hand', async () => (await table())['10.244.200.0/24'] === (await instanceID('n1')));
  await cluster.cloud.resetCalls();
  await scene.until('two comparisons', async () => {
    const { calls } = await cluster.operatorCalls();
    return calls.some(({ verb, collection, count }) => verb === 'list' && collection === 'routes' && count >= 2);
  });
  expect(await cluster.resources.get('routes', route.id)).toEqual(route);
  await cluster.kubectl(['delete', 'cloudroute', 'by-hand', '--timeout=20s']);
  expect((await table())['10.244.200.0/24']).toBeUndefined();
  await cluster.resources.remove('routes', route.id, {});
});

test('a Node outside of the cluster’s CIDRs gets no route, and is told', async () => {
  await scene.addNode('outside', { podCIDR: '10.99.1.0/24' });
  await scene.until('NoRouteCreated', async () => (await networkCondition('outside')) === 'True/NoRouteCreated');
  const event = await scene.until('the Event', async () =>
    (await scene.events('Node', 'outside')).find(({ reason }) => reason === 'FailedToCreateRoute'),
  );
  expect(event.message).toContain('10.99.1.0/24');
  expect(await scene.list<StoredRoute>(CLOUD_ROUTES)).toHaveLength(3);
  await cluster.kubectl(['delete', 'node', 'outside']);
});

test('a CloudRoute of a person that leads out of the cluster’s CIDRs is Stalled, and is in no table', async () => {
  for (const [name, destinationCIDR] of [
    ['elsewhere', '10.99.0.0/24'],
    ['everything', '0.0.0.0/0'],
  ] as const) {
    const spec = { provider: 'local', destinationCIDR, nodeName: 'n1' };
    await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name }, spec });
    const stalled = await scene.until('Stalled', async () =>
      (await scene.route(name))?.status?.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === 'Invalid'),
    );
    expect(stalled.message).toContain(`spec.destinationCIDR ${destinationCIDR} is not within the cluster's CIDRs (10.244.0.0/16)`);
    expect((await table())[destinationCIDR]).toBeUndefined();
    await cluster.kubectl(['delete', 'cloudroute', name, '--timeout=20s']);
  }
});

test('a Node without a PodCIDR gets no route, nothing is said of its network, and nothing is asked again and again', async () => {
  const before = await table();
  await scene.addNode('bare');
  await scene.initialized('bare');
  await scene.settled();
  await cluster.cloud.resetCalls();
  await scene.settled();
  expect(await networkCondition('bare')).toBe('undefined/undefined');
  expect((await scene.list<StoredRoute>(CLOUD_ROUTES)).some(({ spec }) => spec.nodeName === 'bare')).toBe(false);
  expect([await table(), await scene.cloudWrites()]).toEqual([before, 0]);
  await cluster.kube.patch(NODES, 'bare', 'strategic', { spec: { podCIDR: '10.244.5.0/24', podCIDRs: ['10.244.5.0/24'] } });
  await scene.until('its route, as soon as it has one', async () => (await table())['10.244.5.0/24'] === (await instanceID('bare')));
  await scene.until('RouteCreated', async () => (await networkCondition('bare')) === 'False/RouteCreated');
  await cluster.kubectl(['delete', 'node', 'bare']);
  await scene.until('the route to be gone', async () => (await table())['10.244.5.0/24'] === undefined);
});

test('two Nodes with one PodCIDR: the first keeps the route, the second says whose it is, and gets it when that one goes', async () => {
  const CIDR = '10.244.6.0/24';
  await scene.addNode('first', { podCIDR: CIDR });
  await scene.until('RouteCreated', async () => (await networkCondition('first')) === 'False/RouteCreated');
  await scene.addNode('twin', { podCIDR: CIDR });
  await scene.until('NoRouteCreated', async () => (await networkCondition('twin')) === 'True/NoRouteCreated');
  const event = await scene.until('the Event', async () =>
    (await scene.events('Node', 'twin')).find(({ reason }) => reason === 'FailedToCreateRoute'),
  );
  expect(event.message).toContain(`the route to ${CIDR} belongs to first-10.244.6.0-24`);
  // The instances of Nodes that earlier tests have deleted are shown until the next look at them.
  for (const name of ['outside', 'bare']) await scene.gone(`CloudInstance ${name}`, () => scene.instance(name));
  await scene.settled();
  await cluster.cloud.resetCalls();
  const quiet = await scene.versions();
  await scene.until('three comparisons', async () => {
    const { calls } = await cluster.operatorCalls();
    return calls.some(({ verb, collection, count }) => verb === 'list' && collection === 'routes' && count >= 3);
  });
  expect(await scene.versions()).toEqual(quiet);
  expect(await scene.cloudWrites()).toBe(0);
  expect((await table())[CIDR]).toBe(await instanceID('first'));
  expect(await networkCondition('first')).toBe('False/RouteCreated');
  await cluster.kubectl(['delete', 'node', 'first']);
  await scene.until('the route to lead to the second', async () => (await table())[CIDR] === (await instanceID('twin')), 30_000);
  await scene.until('RouteCreated', async () => (await networkCondition('twin')) === 'False/RouteCreated');
  await cluster.kubectl(['delete', 'node', 'twin']);
  await scene.until('the route to be gone', async () => (await table())[CIDR] === undefined);
});

test('a destination that somebody else holds is a failure that names it, and heals', async () => {
  const foreign = { name: 'holder', routeTableID: 'rtb-main', destinationCIDR: '10.244.7.0/24', instanceID: await instanceID('n1') };
  const route = await cluster.resources.create('routes', foreign, 'holder', {});
  await scene.addNode('late', { podCIDR: '10.244.7.0/24' });
  await scene.until('NoRouteCreated', async () => (await networkCondition('late')) === 'True/NoRouteCreated');
  expect(await networkCondition('n1')).toBe('False/RouteCreated');
  expect((await table())['10.244.7.0/24']).toBe(foreign.instanceID);
  await cluster.resources.remove('routes', route.id, {});
  await scene.until('the route', async () => (await table())['10.244.7.0/24'] === (await instanceID('late')), 30_000);
  await scene.until('RouteCreated', async () => (await networkCondition('late')) === 'False/RouteCreated');
  await cluster.kubectl(['delete', 'node', 'late']);
  await scene.until('the route to be gone', async () => (await table())['10.244.7.0/24'] === undefined);
});

test('with a Node go its CloudRoute and its route; the others stay', async () => {
  await cluster.kubectl(['delete', 'node', 'n3']);
  await scene.gone('the CloudRoute', () => scene.route('n3-10.244.3.0-24'));
  expect(await table()).toEqual({ '10.244.1.0/24': await instanceID('n1'), '10.244.2.0/24': await instanceID('n2') });
});
