import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, type Condition } from '../../../crds';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { NONE, Scene, serviceOf } from '../operator/scene';

let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ provider: { driftInterval: '1s', driftPolicy: 'Report' } });
  scene = new Scene(cluster);
  await cluster.apply(serviceOf('web'));
  await scene.published('web');
}, OPERATOR_CLUSTER_START_MS);

afterEach(() => scene.faults());
afterAll(() => cluster?.stop());

const PAUSE = 'cloud-operator.dev/pause';
const ONE = { addresses: 1, pools: 1, loadbalancers: 1 };
const OTHERS = ['10.9.0.0/16'];

async function patch(kind: string, name: string, spec: object): Promise<void> {
  await cluster.kubectl(['patch', kind, name, '--type', 'merge', '-p', JSON.stringify({ spec })]);
}

/** A Service with its load balancer in the cloud, healed by the drift loop where nothing stops that. */
async function published(name: string): Promise<void> {
  await cluster.apply(serviceOf(name));
  await scene.published(name);
}

/** Somebody else changes it in the cloud. @returns once that is shown and, by then, left */
async function changedBySomebody(name: string): Promise<void> {
  const { id } = await scene.inCloud(name);
  await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: OTHERS } });
  await scene.condition(name, 'Drifted', 'CloudChanged');
  expect((await scene.inCloud(name)).sourceRanges).toEqual(OTHERS);
}

async function portOf(name: string): Promise<number | undefined> {
  return (await scene.inCloud(name)).listeners[0]?.port;
}

async function newPort(name: string, port: number): Promise<void> {
  await cluster.apply(serviceOf(name, { ports: [{ name: 'http', port }] }));
}

/** Waits for the Ready condition to say something. */
function said(name: string, reason: string, text: string): Promise<Condition> {
  return scene.until(`${name} to say ${reason}: ${text}`, async () => {
    const condition = (await scene.loadBalancer(name))?.status?.conditions?.find(({ type }) => type === 'Ready');
    if (condition?.reason === reason && condition.message.includes(text)) return condition;
    throw new Error(JSON.stringify(condition));
  });
}

function targetsAre(name: string, count: number): Promise<boolean> {
  return scene.until(`${count} targets of ${name}`, async () => (await scene.targets(name, 'http')).length === count);
}

test('with driftPolicy: Report, what was changed is shown property by property and left; with Heal it is brought back', async () => {
  const before = await scene.inCloud('web');
  await scene.settled();
  await cluster.cloud.resetCalls();
  await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id: before.id, fields: { sourceRanges: ['10.9.0.0/16'] } });
  const drifted = await scene.condition('web', 'Drifted', 'CloudChanged');
  expect(drifted.message).toMatch(/^1 difference between the cloud and what is wanted: kubectl get cloudstack lb-default-web-/);
  const { status } = await scene.stackOf('web');
  expect(status?.drift).toEqual([
    expect.objectContaining({ kind: 'Changed', property: 'sourceRanges[0]', old: 'null', new: '"10.9.0.0/16"' }),
  ]);
  expect(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual(['Ready=True', 'Drifted=True']);
  expect((await scene.loadBalancer('web'))?.status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual([
    'Ready=True',
    'Drifted=True',
  ]);

  await cluster.killOperator();
  await cluster.startOperator();
  await scene.settled(3_000);
  expect((await scene.inCloud('web')).sourceRanges).toEqual(['10.9.0.0/16']);
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await scene.condition('web', 'Drifted', 'CloudChanged');

  // A Node for which there is no pool any more: that is told, and heals nothing either.
  const [pool] = (await scene.content()).pools;
  await cluster.cloud.drift({ kind: 'delete', collection: 'loadbalancers', id: before.id });
  await cluster.cloud.drift({ kind: 'delete', collection: 'pools', id: pool?.id ?? '' });
  await scene.addNode('n0');
  await scene.initialized('n0');
  await scene.condition('web', 'Reconciling', 'NotFound');
  await scene.askFor('web');
  await scene.until('another try', async () => {
    const { metadata, status: said } = (await scene.loadBalancer('web')) ?? {};
    return said?.lastHandledReconcile === metadata?.annotations?.['cloud-operator.dev/reconcile'];
  });
  await scene.until('both to be shown', async () => {
    const { drift = [] } = (await scene.stackOf('web')).status ?? {};
    return drift.filter(({ kind }) => kind === 'Missing').length === 2;
  });
  expect((await scene.condition('web', 'Drifted', 'CloudChanged')).message).toMatch(/^2 differences/);
  await scene.condition('web', 'Reconciling', 'NotFound');
  expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 0, loadbalancers: 0 });
  await cluster.kubectl(['delete', 'node', 'n0']);

  await cluster.kubectl(['patch', 'cloudprovider', 'local', '--type', 'merge', '-p', '{"spec":{"driftPolicy":"Heal"}}']);
  await scene.until('the cloud to be brought back', async () => (await scene.inCloud('web')).sourceRanges.length === 0);
  expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  await scene.until('nothing to be said of it any more', async () => {
    const conditions = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
    return conditions.length === 1 && conditions[0]?.status === 'True' && (await scene.stackOf('web')).status?.drift === undefined;
  });
});

test('a drift interval of its own, 0s, is only ended by who asks: on the object, and on the CloudProvider for everything', async () => {
  await published('rare');
  await patch('clb', 'rare', { driftInterval: '0s' });
  await scene.ready('rare');
  const change = async (name: string): Promise<void> => {
    const { id } = await scene.inCloud(name);
    await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: OTHERS } });
  };
  const healed = (name: string): Promise<boolean> =>
    scene.until(`${name} to be brought back`, async () => (await scene.inCloud(name)).sourceRanges.length === 0);
  const again = 'cloud-operator.dev/reconcile';
  await scene.settled(); // another interval counts within seconds
  await change('rare');
  // Everything else is looked at meanwhile, more than once.
  await change('web');
  await healed('web');
  await change('web');
  await healed('web');
  expect((await scene.inCloud('rare')).sourceRanges).toEqual(OTHERS);

  await cluster.kubectl(['annotate', 'clb', 'rare', `${again}=one`]);
  await healed('rare');
  await scene.until('the echo', async () => (await scene.loadBalancer('rare'))?.status?.lastHandledReconcile === 'one');
  await change('rare');
  await cluster.kubectl(['annotate', 'cloudprovider', 'local', `${again}=all`]);
  await healed('rare');
  await scene.until('the echo', async () => (await scene.provider())?.status?.lastHandledReconcile === 'all');
  await scene.deleteServices('rare');
});

describe('levers', () => {
  beforeAll(async () => {
    await scene.addNode('n1');
    await scene.initialized('n1');
  });

  test('pause: Updates keeps targets, and nothing else: changes, healing and deletion wait for its end', async () => {
    await published('still');
    await targetsAre('still', 1);
    await cluster.kubectl(['annotate', 'clb', 'still', `${PAUSE}=Updates`]);
    await said('still', 'Paused', 'pause: Updates, so that only its targets are kept');
    await newPort('still', 8080);
    await said('still', 'Paused', 'a change of its spec waits');
    await scene.addNode('n2');
    await scene.initialized('n2');
    await targetsAre('still', 2);
    await changedBySomebody('still');
    expect(await portOf('still')).toBe(80);
    await cluster.kubectl(['delete', 'service', 'still', '--wait=false']);
    await said('still', 'Paused', 'its deletion waits');
    expect(await scene.counts('still')).toEqual(ONE);
    await cluster.kubectl(['annotate', 'clb', 'still', `${PAUSE}-`]);
    await scene.gone('CloudLoadBalancer still', () => scene.loadBalancer('still'));
    expect(await scene.counts('still')).toEqual(NONE);
  });

  test('an unknown value of pause counts as All, which the condition says: not even targets are written', async () => {
    await published('bogus');
    await targetsAre('bogus', 2);
    await cluster.kubectl(['annotate', 'clb', 'bogus', `${PAUSE}=Bogus`]);
    await said('bogus', 'Paused', `annotation ${PAUSE}, whose value "Bogus" is unknown and counts as All`);
    await cluster.kubectl(['label', 'node', 'n2', 'node.kubernetes.io/exclude-from-external-load-balancers=']);
    await targetsAre('web', 1);
    await newPort('bogus', 8080);
    await said('bogus', 'Paused', 'a change of its spec waits');
    expect(await scene.targets('bogus', 'http')).toHaveLength(2);
    await changedBySomebody('bogus');
    await cluster.kubectl(['annotate', 'clb', 'bogus', `${PAUSE}-`]);
    await scene.until('all of it to be carried out', async () => {
      const { listeners, sourceRanges } = await scene.inCloud('bogus');
      return listeners[0]?.port === 8080 && sourceRanges.length === 0;
    });
    await targetsAre('bogus', 1);
    await scene.deleteServices('bogus');
  });

  test('a CloudProvider that is paused with Updates holds changes of all that is its own, and their targets follow; what nobody knows is told', async () => {
    const pause = (value: string): Promise<string> =>
      cluster.kubectl(['annotate', 'cloudprovider', 'local', '--overwrite', `${PAUSE}${value}`]);
    const exclude = (value: string): Promise<string> =>
      cluster.kubectl(['label', 'node', 'n2', `node.kubernetes.io/exclude-from-external-load-balancers${value}`]);
    const providerSays = (type: string): Promise<boolean> =>
      scene.until(`CloudProvider local to be ${type}, Paused`, async () => {
        const { conditions = [] } = (await scene.provider())?.status ?? {};
        return conditions.some((one) => one.type === type && one.status === 'True' && one.reason === 'Paused');
      });
    await published('wide');
    await targetsAre('wide', 1);
    await pause('=Updates');
    await said('wide', 'Paused', `annotation ${PAUSE} of CloudProvider local: Updates`);
    await providerSays('Ready');
    await newPort('wide', 8080);
    await said('wide', 'Paused', 'a change of its spec waits');
    await exclude('-');
    await targetsAre('wide', 2);
    expect(await portOf('wide')).toBe(80);
    await pause('=Off');
    await providerSays('Stalled');
    await said('wide', 'Paused', 'whose value "Off" is unknown and counts as All');
    await pause('-');
    await scene.until('the change to be carried out', async () => (await portOf('wide')) === 8080);
    await exclude('=');
    await targetsAre('web', 1);
    await scene.deleteServices('wide');
  });

  test('managementPolicy: Observe writes nothing; deletion lets the object go, and the CloudStack says what stays', async () => {
    await published('seen');
    await patch('clb', 'seen', { managementPolicy: 'Observe' });
    await said('seen', 'Observed', 'only observed (spec.managementPolicy)');
    await newPort('seen', 8080);
    await said('seen', 'Observed', 'a change of its spec waits');
    await changedBySomebody('seen');
    expect(await portOf('seen')).toBe(80);
    const { metadata } = await scene.stackOf('seen');
    const { uid } = (await scene.loadBalancer('seen'))?.metadata ?? {};
    await cluster.cloud.resetCalls();
    await cluster.kubectl(['delete', 'service', 'seen', '--timeout=20s']);
    await scene.gone('CloudLoadBalancer seen', () => scene.loadBalancer('seen'));
    const stack = await scene.until('the CloudStack to say so', async () => {
      const found = await scene.stack(metadata.name);
      return found?.status?.conditions?.some(({ type }) => type === 'MemberMissing') === true && found;
    });
    expect(stack.status?.conditions?.find(({ type }) => type === 'MemberMissing')?.message).toContain(`release=${uid}`);
    expect((await scene.events('CloudLoadBalancer', 'seen')).map(({ reason }) => reason)).toContain('Released');
    expect((await cluster.operatorCalls()).writes).toBe(0);
    expect(await scene.counts('seen')).toEqual(ONE);
    await cluster.kubectl(['annotate', 'cloudstack', metadata.name, `cloud-operator.dev/release=${uid}`]);
    await scene.gone('the CloudStack', () => scene.stack(metadata.name));
    expect(await scene.counts('seen')).toEqual(NONE);
  });

  test('deletionPolicy: Orphan drops the state and marks what stays, which nobody takes for a leftover then', async () => {
    await published('left');
    await patch('clb', 'left', { deletionPolicy: 'Orphan' });
    await scene.ready('left');
    const { metadata } = await scene.stackOf('left');
    const before = await scene.inCloud('left');
    await cluster.kubectl(['delete', 'service', 'left', '--timeout=20s']);
    await scene.gone('the CloudStack', () => scene.stack(metadata.name));
    expect((await scene.events('CloudLoadBalancer', 'left')).map(({ reason }) => reason)).toContain('Released');
    const { addresses, pools, loadbalancers } = await scene.content();
    const owned = [...addresses, ...pools, ...loadbalancers].filter(({ tags }) => tags.owner === 'default/left');
    expect(owned.map(({ tags }) => tags.released)).toEqual(['true', 'true', 'true']);
    // One that comes after it under the same name has nothing to do with it.
    await published('left');
    await scene.deleteServices('left');
    expect(await scene.inCloud('left')).toMatchObject({ id: before.id, listeners: before.listeners, addressIDs: before.addressIDs });
    expect(await scene.counts('left')).toEqual(ONE);
  });

  test('deletionPolicy: Orphan on the CloudProvider is for those that say nothing themselves', async () => {
    await patch('cloudprovider', 'local', { deletionPolicy: 'Orphan' });
    await published('kept');
    await published('goes');
    await patch('clb', 'goes', { deletionPolicy: 'Delete' });
    await scene.ready('goes');
    await cluster.kubectl(['delete', 'service', 'kept', 'goes', '--timeout=30s']);
    expect(await scene.counts('goes')).toEqual(NONE);
    expect(await scene.counts('kept')).toEqual(ONE);
    await patch('cloudprovider', 'local', { deletionPolicy: null });
  });

  test('freeze stops what runs, and everything waits for its end', async () => {
    await published('iced');
    await scene.faults({ match: { verb: 'create', collection: 'pools' }, times: 1, act: { latencyMs: { min: 2_000, max: 2_000 } } });
    await cluster.apply(serviceOf('iced', { ports: ['a', 'b', 'c'].map((name, index) => ({ name, port: 81 + index })) }));
    await scene.acted(0);
    await patch('cloudprovider', 'local', { freeze: true });
    await said('iced', 'Frozen', 'CloudProvider local is frozen');
    const before = await scene.content();
    await cluster.kubectl(['delete', 'service', 'iced', '--wait=false']);
    await said('iced', 'Frozen', 'its deletion waits');
    expect(await scene.content()).toEqual(before);
    expect(await portOf('iced')).toBe(80);
    await patch('cloudprovider', 'local', { freeze: false });
    await scene.gone('CloudLoadBalancer iced', () => scene.loadBalancer('iced'));
    expect(await scene.counts('iced')).toEqual(NONE);
  });

  test('maintenance windows: changes and healing wait for one, targets and deletions do not; two that never meet are a contradiction', async () => {
    const month = (later: number): number => ((new Date().getUTCMonth() + later) % 12) + 1;
    const closed = (later = 6): object => ({ maintenanceWindows: [{ schedule: `0 0 1 ${month(later)} *`, duration: '1h' }] });
    const open = { maintenanceWindows: [{ schedule: '* * * * *', duration: '1m' }] };
    const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';
    const why = 'no maintenance window is open (spec.maintenanceWindows); the next one opens at ';
    await published('late');
    await patch('clb', 'late', closed());
    await scene.ready('late');
    await newPort('late', 8080);
    const waits = await said('late', 'AwaitingWindow', `a change of its spec waits: ${why}`);
    expect(waits.status).toBe('True');
    await cluster.kubectl(['label', 'node', 'n1', `${excluded}=`]);
    await targetsAre('late', 0);
    await cluster.kubectl(['label', 'node', 'n1', `${excluded}-`]);
    await targetsAre('late', 1);
    const { id } = await scene.inCloud('late');
    await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id, fields: { sourceRanges: OTHERS } });
    await scene.until('the drift to be seen', async () => ((await scene.stackOf('late')).status?.drift ?? []).length > 0);
    expect(await scene.inCloud('late')).toMatchObject({ sourceRanges: OTHERS, listeners: [{ port: 80 }] });

    await patch('cloudprovider', 'local', closed(5));
    const never = await scene.condition('late', 'Stalled', 'Invalid');
    expect(never.message).toContain(
      'spec.maintenanceWindows and spec.maintenanceWindows of CloudProvider local are never open at the same time',
    );
    await cluster.apply(serviceOf('soon'));
    await said('soon', 'AwaitingWindow', 'no maintenance window is open (spec.maintenanceWindows of CloudProvider local)');
    expect(await scene.counts('soon')).toEqual(NONE);

    await patch('cloudprovider', 'local', open);
    await patch('clb', 'late', open);
    await scene.until('all of it to be carried out', async () => {
      const { listeners, sourceRanges } = await scene.inCloud('late');
      return listeners[0]?.port === 8080 && sourceRanges.length === 0;
    });
    await scene.published('soon');

    await patch('cloudprovider', 'local', { maintenanceWindows: [{ schedule: '* * * * *', duration: '1m', timeZone: 'Europe/Atlantis' }] });
    await scene.until('the CloudProvider to say what is wrong', async () =>
      (await scene.provider())?.status?.conditions?.some(
        ({ type, message }) => type === 'Stalled' && message.includes('spec.maintenanceWindows[0].timeZone: "Europe/Atlantis"'),
      ),
    );
    await patch('cloudprovider', 'local', closed());
    await scene.deleteServices('late', 'soon');
    expect(await scene.counts('late')).toEqual(NONE);
    await patch('cloudprovider', 'local', { maintenanceWindows: null });
  });

  test('a window opens by itself: a load balancer and a route wait for it, their CloudStack says so, and nobody has to ask', async () => {
    await published('dawn');
    const opening = new Date(Date.now() + 75_000); // in the middle of the next minute but one, at the latest
    const schedule = `${opening.getUTCMinutes()} ${opening.getUTCHours()} * * *`;
    const maintenanceWindows = [{ schedule, duration: '10m' }];
    await patch('clb', 'dawn', { maintenanceWindows });
    const route = { provider: 'local', destinationCIDR: '10.250.99.0/24', nodeName: 'n1', maintenanceWindows };
    await cluster.apply({ apiVersion: API_VERSION, kind: 'CloudRoute', metadata: { name: 'dawn' }, spec: route });
    await newPort('dawn', 8080);
    const opens = `the next one opens at ${opening.toISOString().slice(0, 16)}:00`;
    await said('dawn', 'AwaitingWindow', opens);
    await scene.until('its CloudStack to say so', async () =>
      (await scene.stackOf('dawn')).status?.conditions?.some(
        ({ type, reason, message }) =>
          type === 'Reconciling' && reason === 'AwaitingWindow' && message.includes(`default/dawn: `) && message.includes(opens),
      ),
    );
    const waits = await scene.until('the route to wait', async () =>
      (await scene.route('dawn'))?.status?.conditions?.find(({ type, reason }) => type === 'Ready' && reason === 'AwaitingWindow'),
    );
    expect(waits.message).toContain(opens);
    const routes = async (): Promise<string[]> => (await scene.content()).routes.map(({ destinationCIDR }) => destinationCIDR);
    expect([await portOf('dawn'), (await routes()).includes('10.250.99.0/24')]).toEqual([80, false]);
    await scene.until(
      'both to be carried out',
      async () => (await portOf('dawn')) === 8080 && (await routes()).includes('10.250.99.0/24'),
      120_000,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(Math.floor(opening.getTime() / 60_000) * 60_000);
    await scene.until('its CloudStack to be Ready', async () =>
      (await scene.stackOf('dawn')).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    await cluster.kubectl(['delete', 'cloudroute', 'dawn', '--timeout=30s']);
    await scene.deleteServices('dawn');
  }, 300_000);

  test('a Service sets levers by annotation where the policy allows it; what it takes back goes, and nothing that it writes is ignored', async () => {
    const prefix = 'cloud-operator.dev';
    const annotate = (...annotations: string[]): Promise<string> =>
      cluster.kubectl(['annotate', 'service', 'own', '--overwrite', ...annotations.map((one) => `${prefix}/${one}`)]);
    const serviceSays = (reason: string, text: string): Promise<boolean> =>
      scene.until(`the Service to say ${reason}: ${text}`, async () => {
        const conditions = (await scene.service('own'))?.status?.conditions ?? [];
        if (conditions.some((one) => one.reason === reason && (one.message ?? '').includes(text))) return true;
        throw new Error(JSON.stringify(conditions));
      });
    await published('own');
    await annotate(
      'pause=Updates',
      'drift-interval=1h',
      'approval=Manual',
      'maintenance-windows=0 0 1 1 * 1h Asia/Tokyo; * * * * * 1m UTC',
    );
    await serviceSays('Paused', 'pause: Updates');
    expect((await scene.loadBalancer('own'))?.spec).toMatchObject({
      driftInterval: '1h',
      maintenanceWindows: [
        { schedule: '0 0 1 1 *', duration: '1h', timeZone: 'Asia/Tokyo' },
        { schedule: '* * * * *', duration: '1m', timeZone: 'UTC' },
      ],
    });
    await annotate('pause=Off');
    await serviceSays('Paused', 'whose value "Off" is unknown and counts as All; write All (');
    await scene.condition('own', 'Stalled', 'Paused');
    await annotate('pause-', 'maintenance-windows-', 'reconcile=one');
    await scene.until('the echo', async () => (await scene.loadBalancer('own'))?.status?.lastHandledReconcile === 'one');
    await newPort('own', 8080);
    await serviceSays('AwaitingApproval', 'waits for approval');
    expect(await portOf('own')).toBe(80);
    await annotate('approval-');
    await scene.until('the change', async () => (await portOf('own')) === 8080);
    const { spec, metadata } = (await scene.loadBalancer('own')) ?? {};
    expect([spec?.maintenanceWindows, metadata?.annotations?.[PAUSE]]).toEqual([undefined, undefined]);

    await annotate('approval=Auto');
    await serviceSays('InvalidLever', `annotation ${prefix}/approval: "Auto" can't be read; write Manual`);
    await annotate('approval-', 'deletion-policy=Orphan');
    await serviceSays(
      'LeverDenied',
      `annotation ${prefix}/deletion-policy: the policy of CloudProvider local does not allow Services to set it`,
    );
    await patch('cloudprovider', 'local', { policy: { serviceLevers: ['DeletionPolicy', 'Reconcile'] } });
    await serviceSays('LeverDenied', `annotation ${prefix}/drift-interval`);
    await annotate('drift-interval-');
    await scene.until('the field', async () => (await scene.loadBalancer('own'))?.spec.deletionPolicy === 'Orphan');
    await annotate('deletion-policy-');
    await scene.until('the field to go', async () => (await scene.loadBalancer('own'))?.spec.deletionPolicy === undefined);
    await patch('cloudprovider', 'local', { policy: null });
    await scene.deleteServices('own');
    expect(await scene.counts('own')).toEqual(NONE);
  });

  test('CloudRoutes: pause, Observe, Orphan and freeze, each route by itself', async () => {
    const names = ['paused', 'updates', 'observed', 'orphan', 'free'];
    const route = (name: string, nodeName: string): object => ({
      ...{ apiVersion: API_VERSION, kind: 'CloudRoute', metadata: { name } },
      spec: { provider: 'local', destinationCIDR: `10.250.${names.indexOf(name)}.0/24`, nodeName },
    });
    const instances = new Map((await cluster.resources.list('instances')).map(({ id, name }) => [id, name]));
    /** Node of each route that is in the cloud. */
    const inCloud = async (): Promise<Record<string, string>> => {
      const found: Record<string, string> = {};
      for (const { destinationCIDR, instanceID } of (await scene.content()).routes) {
        const name = names[Number(/^10\.250\.([0-9]+)\./.exec(destinationCIDR)?.[1])];
        if (name !== undefined) found[name] = instances.get(instanceID) ?? '';
      }
      return found;
    };
    const become = (expected: Record<string, string>): Promise<boolean> =>
      scene.until(`routes ${JSON.stringify(expected)}`, async () => {
        const now = await inCloud();
        if (isDeepStrictEqual(now, expected)) return true;
        throw new Error(JSON.stringify(now));
      });
    const says = (name: string, reason: string, text: string): Promise<boolean> =>
      scene.until(`${name} to say ${reason}: ${text}`, async () => {
        const ready = (await scene.route(name))?.status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.reason === reason && ready.message.includes(text)) return true;
        throw new Error(JSON.stringify(ready));
      });
    await cluster.apply(...names.map((name) => route(name, 'n1')));
    await become({ paused: 'n1', updates: 'n1', observed: 'n1', orphan: 'n1', free: 'n1' });

    await cluster.kubectl(['annotate', 'cloudroute', 'paused', `${PAUSE}=All`]);
    await cluster.kubectl(['annotate', 'cloudroute', 'updates', `${PAUSE}=Updates`]);
    await patch('cloudroute', 'observed', { managementPolicy: 'Observe' });
    await patch('cloudroute', 'orphan', { deletionPolicy: 'Orphan' });
    await cluster.apply(...names.map((name) => route(name, 'n2')));
    for (const name of ['paused', 'updates']) await says(name, 'Paused', 'a change of its spec waits');
    await says('observed', 'Observed', 'a change of its spec waits');
    await become({ paused: 'n1', updates: 'n1', observed: 'n1', orphan: 'n2', free: 'n2' });

    await patch('cloudprovider', 'local', { freeze: true });
    await says('free', 'Frozen', 'CloudProvider local is frozen');
    await cluster.apply(route('free', 'n1'));
    await says('free', 'Frozen', 'a change of its spec waits');
    await become({ paused: 'n1', updates: 'n1', observed: 'n1', orphan: 'n2', free: 'n2' });
    await patch('cloudprovider', 'local', { freeze: false });
    await become({ paused: 'n1', updates: 'n1', observed: 'n1', orphan: 'n2', free: 'n1' });

    const { status } = (await scene.route('paused')) ?? {};
    const kept = await Promise.all(['observed', 'orphan'].map(async (name) => (await scene.route(name))?.metadata.uid));
    await cluster.kubectl(['delete', 'cloudroutes', '--wait=false', ...names]);
    for (const name of ['observed', 'orphan', 'free']) await scene.gone(`CloudRoute ${name}`, () => scene.route(name));
    for (const name of ['paused', 'updates']) await says(name, 'Paused', 'its deletion waits');
    await become({ paused: 'n1', updates: 'n1', observed: 'n1', orphan: 'n2' });
    await cluster.kubectl(['annotate', 'cloudroute', 'paused', 'updates', `${PAUSE}-`]);
    for (const name of ['paused', 'updates']) await scene.gone(`CloudRoute ${name}`, () => scene.route(name));
    await become({ observed: 'n1', orphan: 'n2' });
    await cluster.kubectl(['annotate', 'cloudstack', status?.stack ?? '', `cloud-operator.dev/release=${kept.join(',')}`]);
    await become({});
    await scene.gone('the CloudStack', () => scene.stack(status?.stack ?? ''));

    // The last one of a stack takes the state along, and what stays is marked.
    await cluster.apply(route('orphan', 'n1'));
    await become({ orphan: 'n1' });
    await patch('cloudroute', 'orphan', { deletionPolicy: 'Orphan' });
    const last = await scene.until('its stack', async () => (await scene.route('orphan'))?.status?.stack);
    await cluster.kubectl(['delete', 'cloudroute', 'orphan', '--timeout=20s']);
    await scene.gone('the CloudStack', () => scene.stack(last));
    const [left, ...others] = (await scene.content()).routes;
    expect([left?.tags.released, others]).toEqual(['true', []]);
    await cluster.resources.remove('routes', left?.id ?? '', {});
  });

  test('members of one load balancer, each under a lever of its own', async () => {
    const names = ['free', 'all', 'updates', 'seen', 'manual', 'orphan'];
    const member = (name: string, port: number, spec: object = {}): object => ({
      ...{ apiVersion: API_VERSION, kind: 'CloudLoadBalancer', metadata: { name, namespace: 'default' } },
      spec: {
        ...{ provider: 'local', placement: { name: 'mixed' }, local: {} },
        ...{ listeners: [{ name: 'http', port: port + names.indexOf(name), nodePort: 30_900 + names.indexOf(name) }], ...spec },
      },
    });
    const levers: Record<string, object> = {
      seen: { managementPolicy: 'Observe' },
      manual: { updatePolicy: { approval: 'Manual' } },
      orphan: { deletionPolicy: 'Orphan' },
    };
    /** Owner, port and number of targets of each listener. */
    const inCloud = async (): Promise<string[]> => {
      const { loadbalancers, pools } = await scene.content();
      const { listeners = [] } = loadbalancers.find(({ tags }) => tags.owner === 'placement default/mixed') ?? {};
      const targetsOf = (poolID: string | undefined): number => pools.find(({ id }) => id === poolID)?.targets.length ?? -1;
      return listeners.map(({ owner, port, poolID }) => `${owner?.replace('default/', '')} ${port} ${targetsOf(poolID)}`).sort();
    };
    const become = (...expected: string[]): Promise<boolean> =>
      scene.until(`listeners ${expected.join(', ')}`, async () => {
        const now = await inCloud();
        if (isDeepStrictEqual(now, expected.sort())) return true;
        throw new Error(now.join(', '));
      });
    await cluster.apply(...names.map((name) => member(name, 8000)));
    await become('free 8000 1', 'all 8001 1', 'updates 8002 1', 'seen 8003 1', 'manual 8004 1', 'orphan 8005 1');
    for (const name of names) await scene.ready(name);

    await cluster.kubectl(['annotate', 'clb', 'all', `${PAUSE}=All`]);
    await cluster.kubectl(['annotate', 'clb', 'updates', `${PAUSE}=Updates`]);
    for (const [name, spec] of Object.entries(levers)) await patch('clb', name, spec);
    await cluster.apply(...names.map((name) => member(name, 9000, levers[name])));
    await said('all', 'Paused', 'a change of its spec waits');
    await said('updates', 'Paused', 'a change of its spec waits');
    await said('seen', 'Observed', 'a change of its spec waits');
    await said('manual', 'AwaitingApproval', 'spec.updatePolicy.approval is Manual');
    await become('free 9000 1', 'all 8001 1', 'updates 8002 1', 'seen 8003 1', 'manual 8004 1', 'orphan 9005 1');

    // Targets follow the Nodes but where a lever keeps them.
    await cluster.kubectl(['label', 'node', 'n2', 'node.kubernetes.io/exclude-from-external-load-balancers-']);
    await become('free 9000 2', 'all 8001 1', 'updates 8002 2', 'seen 8003 1', 'manual 8004 2', 'orphan 9005 2');

    const { metadata } = await scene.stackOf('free');
    const kept = await Promise.all(['seen', 'orphan'].map(async (name) => (await scene.loadBalancer(name))?.metadata.uid));
    await cluster.kubectl(['delete', 'clb', '--wait=false', ...names]);
    for (const name of ['free', 'seen', 'manual', 'orphan']) await scene.gone(`CloudLoadBalancer ${name}`, () => scene.loadBalancer(name));
    await said('all', 'Paused', 'its deletion waits');
    await said('updates', 'Paused', 'its deletion waits');
    // What was let go of is a missing member, and its targets are kept as those of any other.
    await become('all 8001 1', 'updates 8002 2', 'seen 8003 2', 'orphan 9005 2');
    await cluster.kubectl(['annotate', 'clb', 'all', 'updates', `${PAUSE}-`]);
    for (const name of ['all', 'updates']) await scene.gone(`CloudLoadBalancer ${name}`, () => scene.loadBalancer(name));
    await become('seen 8003 2', 'orphan 9005 2');
    await cluster.kubectl(['annotate', 'cloudstack', metadata.name, `cloud-operator.dev/release=${kept.join(',')}`]);
    await become();
    await scene.gone('the CloudStack', () => scene.stack(metadata.name));
  });

  test('a CloudProvider that is only observed keeps what an object had there that has moved away, and the object says so', async () => {
    const { cloudEndpoint: endpoint, tokenFile } = cluster;
    const former = { provider: 'former', updatePolicy: { replace: 'Allow' }, local: {} };
    const spec = { nodeSelector: { cloud: 'former' }, driftInterval: '1h', local: { endpoint, tokenFile } };
    await cluster.apply(
      { apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'former' }, spec },
      {
        ...{ apiVersion: API_VERSION, kind: 'CloudLoadBalancer', metadata: { name: 'mover', namespace: 'default' } },
        spec: { ...former, listeners: [{ name: 'http', port: 80, nodePort: 30_990 }] },
      },
    );
    await scene.ready('mover');
    const { metadata } = await scene.stackOf('mover');
    await patch('cloudprovider', 'local', { retireAfter: '1s' });
    await patch('cloudprovider', 'former', { managementPolicy: 'Observe' });
    await patch('clb', 'mover', { provider: 'local' });
    const kept = await scene.condition('mover', 'FormerCloudKept', 'Observed');
    expect(kept.message).toContain(
      `CloudProvider former is only observed (spec.managementPolicy), so that what CloudStack ${metadata.name}`,
    );
    await scene.ready('mover');
    await scene.until('the CloudStack to say so', async () => {
      const ready = (await scene.stack(metadata.name))?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.reason === 'Observed' && ready.message.includes('it has no members');
    });
    await patch('cloudprovider', 'former', { managementPolicy: null });
    await scene.gone('the CloudStack', () => scene.stack(metadata.name));
    await scene.until('the object to say it no longer', async () => {
      const { conditions = [] } = (await scene.loadBalancer('mover'))?.status ?? {};
      return conditions.every(({ type }) => type !== 'FormerCloudKept');
    });
    await cluster.kubectl(['delete', 'clb', 'mover', '--timeout=20s']);
    await cluster.kubectl(['delete', 'cloudprovider', 'former']);
  });

  test('the CRD is deleted, and with it all objects: nothing is deleted in the cloud', async () => {
    const before = await scene.counts();
    await cluster.cloud.resetCalls();
    await cluster.kubectl(['delete', 'crd', 'cloudloadbalancers.cloud-operator.dev', '--wait=false']);
    await said('web', 'KindDeleted', 'CustomResourceDefinition cloudloadbalancers.cloud-operator.dev is being deleted');
    await scene.settled();
    expect((await scene.loadBalancer('web'))?.metadata.deletionTimestamp).toBeDefined();
    expect((await cluster.operatorCalls()).writes).toBe(0);
    expect(await scene.counts()).toEqual(before);
  });
});
