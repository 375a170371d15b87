import { CLEANUP_FINALIZER, type Condition, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { NODES, type Service, SERVICES } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import type { StoredCloudLoadBalancer } from '../../../operator/loops/kinds';
import { ServiceLoop } from '../../../operator/loops/service/loop';
import { releasePatch } from '../../../operator/loops/service/patches';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';
import { CloudSide, CLOUDS } from './cloud-side';
import { LoopCluster } from './cluster';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const READY = 'cloud-operator.dev/Ready';
const RETRY = { baseMs: 100, maxMs: 1_000 };

describe('the service loop against a real API server', () => {
  let loops: LoopCluster;
  let cloud: CloudSide;
  let end: () => Promise<void>;

  /** Starts the loop as a new process would: with nothing remembered. */
  function startLoop(): () => Promise<void> {
    const stop = new AbortController();
    const queue = new KeyedQueue({ name: 'service', logger: silentLogger, backOff: RETRY });
    const loop = new ServiceLoop({
      api: loops.api,
      services: loops.services.store,
      namespaces: loops.namespaces.store,
      cloudLoadBalancers: loops.loadBalancers.store,
      nodes: loops.nodes.store,
      clouds: CLOUDS,
      events: loops.recorder('service-controller'),
      queue,
      clock: systemClock,
      logger: silentLogger,
      workers: 2,
    });
    const running = loop.run(stop.signal);
    return async () => {
      stop.abort(new Error('the loop is stopped'));
      await running;
      queue.close();
    };
  }

  beforeAll(async () => {
    loops = await LoopCluster.start();
    await loops.namespace('demo');
    cloud = new CloudSide(loops);
    end = startLoop();
  }, CLUSTER_START_MS);

  afterAll(async () => {
    await end?.();
    await cloud?.stop();
    await loops?.stop();
  });

  async function create(name: string, changes: { metadata?: object; spec?: object } = {}, namespace = 'demo'): Promise<Service> {
    return loops.client.create<Service>(SERVICES, namespace, {
      metadata: { name, ...changes.metadata },
      spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ name: 'web', port: 80, targetPort: 8080 }], ...changes.spec },
    });
  }

  const read = (name: string, namespace = 'demo'): Promise<Service | undefined> =>
    loops.client.get<Service>(SERVICES, `${namespace}/${name}`);
  const readCloud = (name: string, namespace = 'demo'): Promise<StoredCloudLoadBalancer | undefined> =>
    loops.client.get<StoredCloudLoadBalancer>(CLOUD_LOAD_BALANCERS, `${namespace}/${name}`);

  function served(name: string, namespace = 'demo'): Promise<Service> {
    return waitFor(
      async () => {
        const service = await read(name, namespace);
        const ready = service?.status?.conditions?.find(({ type }) => type === READY);
        return (service?.status?.loadBalancer?.ingress ?? []).length > 0 && ready?.status === 'True' ? service : undefined;
      },
      { timeoutMs: 10_000, what: `an address of ${namespace}/${name}` },
    );
  }

  function gone(name: string, namespace = 'demo'): Promise<unknown> {
    return waitFor(async () => (await read(name, namespace)) === undefined && (await readCloud(name, namespace)) === undefined, {
      timeoutMs: 30_000,
      what: `the end of ${namespace}/${name}`,
    });
  }

  /** Waits until the loop has had time for everything it wanted: its queue has handled a Service made after all that. */
  async function settled(): Promise<void> {
    const name = `probe-${loops.writes.length}-${process.hrtime.bigint()}`;
    await create(name);
    await served(name);
    await loops.client.remove(SERVICES, `demo/${name}`);
    await gone(name);
  }

  const writesTo = (name: string): string[] => loops.writes.filter((write) => write.endsWith(`/${name}`));

  test('a Service gets a CloudLoadBalancer, an address with its mode, and the events', async () => {
    const { metadata } = await create('web');
    const service = await served('web');
    expect(service.metadata.finalizers).toEqual([FINALIZER]);
    expect(service.status?.loadBalancer?.ingress).toEqual([{ ip: expect.stringMatching(/^203\.0\.113\./) as string, ipMode: 'VIP' }]);
    const made = await readCloud('web');
    expect(made?.metadata.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Service', name: 'web', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(made?.spec).toMatchObject({
      provider: 'cloud-a',
      listeners: [{ name: 'web', port: 80, nodePort: service.spec.ports?.[0]?.nodePort }],
    });
    await loops.expectSaid(metadata.uid, ['EnsuringLoadBalancer', 'UnAvailableLoadBalancer', 'EnsuredLoadBalancer']);
    const written = await waitFor(
      async () => {
        const events = await loops.events(metadata.uid);
        return events.length === 3 ? events : undefined;
      },
      { timeoutMs: 5_000, what: 'three Events' },
    );
    expect(written.map(({ source, involvedObject }) => [source.component, involvedObject.apiVersion])).toEqual(
      Array(3).fill(['service-controller', 'v1']),
    );
    expect(writesTo('web')).toEqual(['patch services/demo/web', 'apply cloudloadbalancers/demo/web', 'patch services/demo/web']);
  });

  test('the operator owns nothing of a Service but finalizer and status (R-38)', async () => {
    await create('owned');
    await served('owned');
    const json = await loops.cluster.kubectl(['-n', 'demo', 'get', 'service', 'owned', '-o', 'json', '--show-managed-fields']);
    const managers = (JSON.parse(json) as { metadata: { managedFields: { manager: string; fieldsV1: object }[] } }).metadata.managedFields;
    const ours = managers.filter(({ manager }) => manager === 'cloud-operator-service');
    expect(ours).toHaveLength(1);
    expect(Object.keys(ours[0]?.fieldsV1 ?? {}).sort()).toEqual(['f:metadata', 'f:status']);
    expect(JSON.stringify(ours)).toContain(`v:\\"${FINALIZER}\\"`);
  });

  test('a restart writes nothing and says nothing', async () => {
    const { metadata } = await create('kept');
    const { resourceVersion } = (await served('kept')).metadata;
    // A loop that begins with an older cache would write the same again.
    await waitFor(() => loops.services.store.get('demo/kept')?.metadata.resourceVersion === resourceVersion, {
      timeoutMs: 10_000,
      what: 'the cache to have what was written',
    });
    await loops.expectSaid(metadata.uid, ['EnsuringLoadBalancer', 'UnAvailableLoadBalancer', 'EnsuredLoadBalancer']);
    await end();
    loops.writes.length = 0;
    end = startLoop();
    await settled();
    expect(writesTo('kept')).toEqual([]);
    await loops.expectSaid(metadata.uid, ['EnsuringLoadBalancer', 'UnAvailableLoadBalancer', 'EnsuredLoadBalancer']);
  });

  test('R-04 a load balancer that fails, and then goes while nobody looks: its address goes first of all', async () => {
    await create('stale');
    const before = await served('stale');
    const at = new Date().toISOString();
    const failed: Condition = { type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: 'no more', lastTransitionTime: at };
    const object = (await readCloud('stale'))!;
    await cloud.report(object, { ingress: object.status?.ingress ?? [], conditions: [failed] });
    await waitFor(
      () => loops.services.store.get('demo/stale')?.status?.conditions?.some(({ type, status }) => type === READY && status === 'False'),
      { timeoutMs: 10_000, what: 'the cache to have the failure' },
    );
    await end();
    await loops.client.remove(CLOUD_LOAD_BALANCERS, 'demo/stale');
    await waitFor(() => loops.loadBalancers.store.get('demo/stale') === undefined, { timeoutMs: 10_000, what: 'its end' });
    loops.writes.length = 0;
    end = startLoop();
    const after = await served('stale');
    expect(after.status?.loadBalancer).not.toEqual(before.status?.loadBalancer);
    expect(writesTo('stale').slice(0, 2)).toEqual(['patch services/demo/stale', 'apply cloudloadbalancers/demo/stale']);
  });

  test('a wiped status is restored', async () => {
    await create('wiped');
    const { status } = await served('wiped');
    await loops.client.patch(SERVICES, 'demo/wiped', 'merge', { status: { loadBalancer: { ingress: null } } }, { subresource: 'status' });
    expect((await served('wiped')).status?.loadBalancer).toEqual(status?.loadBalancer);
  });

  test('a changed port reaches the CloudLoadBalancer, and one that is removed goes (R-08)', async () => {
    const { metadata } = await create('ports', { spec: { loadBalancerSourceRanges: ['198.51.100.0/24'] } });
    const before = await served('ports');
    await loops.client.patch(SERVICES, 'demo/ports', 'merge', { spec: { ports: [{ name: 'metrics', port: 9090 }] } });
    await waitFor(async () => (await readCloud('ports'))?.spec.listeners.map(({ port }) => port).join() === '9090', {
      timeoutMs: 10_000,
      what: 'the new listener alone',
    });
    await loops.expectSaid(metadata.uid, [
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
    ]);
    await loops.client.patch(SERVICES, 'demo/ports', 'merge', { spec: { loadBalancerSourceRanges: null } });
    await waitFor(async () => (await readCloud('ports'))?.spec.sourceRanges === undefined, { timeoutMs: 10_000, what: 'no source ranges' });
    expect((await read('ports'))?.status?.loadBalancer).toEqual(before.status?.loadBalancer);
  });

  test.each([
    ['refused by the provider', 'soon', /annotation fake\.example\/drain-seconds: "soon": write a number of seconds/],
    ['refused by the API server', '99999', /drainSeconds.*3600/],
  ])('an annotation that is %s: event and condition, and the last good one keeps serving', async (_name, value, message) => {
    const name = `bad-${value}`;
    const { metadata } = await create(name);
    const before = await served(name);
    await loops.client.patch(SERVICES, `demo/${name}`, 'merge', { metadata: { annotations: { 'fake.example/drain-seconds': value } } });
    const failed = await waitFor(
      async () => {
        const service = await read(name);
        const condition = service?.status?.conditions?.find(({ type }) => type === READY);
        return condition?.status === 'False' ? { service, condition } : undefined;
      },
      { timeoutMs: 10_000, what: 'the condition' },
    );
    expect(failed.condition.message).toMatch(message);
    expect(failed.service?.status?.loadBalancer).toEqual(before.status?.loadBalancer);
    expect((await readCloud(name))?.spec.local).toBeUndefined();
    const said = await waitFor(() => loops.saidOf(metadata.uid).find((text) => text.startsWith('SyncLoadBalancerFailed')), {
      timeoutMs: 5_000,
      what: 'the event',
    });
    expect(said).toMatch(message);
    await loops.client.patch(SERVICES, `demo/${name}`, 'merge', { metadata: { annotations: null } });
    await served(name);
    const failures = loops.saidOf(metadata.uid).filter((text) => text.startsWith('SyncLoadBalancerFailed'));
    expect(failures).toHaveLength(1);
  });

  test("the last of its cloud's annotations is taken away, and what comes after is carried out", async () => {
    await create('annotated');
    const annotate = (value: string | null): Promise<unknown> =>
      loops.client.patch(SERVICES, 'demo/annotated', 'merge', { metadata: { annotations: { 'fake.example/drain-seconds': value } } });
    await annotate('7');
    await waitFor(async () => (await readCloud('annotated'))?.spec.local?.drainSeconds === 7, { timeoutMs: 10_000, what: 'the setting' });
    await annotate(null);
    await waitFor(async () => (await readCloud('annotated'))?.spec.local === undefined, { timeoutMs: 10_000, what: 'no setting' });
    await loops.client.patch(SERVICES, 'demo/annotated', 'merge', { spec: { ports: [{ name: 'web', port: 81 }] } });
    await waitFor(async () => (await readCloud('annotated'))?.spec.listeners[0]?.port === 81, {
      timeoutMs: 10_000,
      what: 'the other port',
    });
    await served('annotated');
  });

  test('a failure in the cloud is told, and the address stays', async () => {
    const { metadata } = await create('failing');
    const before = await served('failing');
    const object = (await readCloud('failing'))!;
    const at = new Date().toISOString();
    const failed: Condition[] = [
      { type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: 'no more listeners', lastTransitionTime: at },
      { type: 'Stalled', status: 'True', reason: 'QuotaExceeded', message: 'no more listeners', lastTransitionTime: at },
    ];
    await cloud.report(object, { ingress: object.status?.ingress ?? [], conditions: failed });
    await loops.expectSaid(metadata.uid, [
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
      /^SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no more listeners$/,
    ]);
    expect((await read('failing'))?.status?.loadBalancer).toEqual(before.status?.loadBalancer);
  });

  test('R-06 a foreign class is left alone; a claimed one is served', async () => {
    const foreign = await create('edge', { spec: { loadBalancerClass: 'example.com/other' } });
    await create('ours', { spec: { loadBalancerClass: 'example.com/ours' } });
    await served('ours');
    await loops.client.patch(
      SERVICES,
      'demo/edge',
      'merge',
      { status: { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } } },
      { subresource: 'status' },
    );
    await loops.client.patch(SERVICES, 'demo/edge', 'merge', { spec: { ports: [{ name: 'other', port: 81 }] } });
    await loops.client.create(NODES, undefined, { metadata: { name: 'joining' } });
    await settled();
    const after = await read('edge');
    expect(after?.metadata.finalizers).toBeUndefined();
    expect(after?.status?.loadBalancer?.ingress?.[0]?.ip).toBe('198.51.100.7');
    expect(await readCloud('edge')).toBeUndefined();
    await loops.client.remove(SERVICES, 'demo/edge');
    await gone('edge');
    expect(writesTo('edge')).toEqual([]);
    expect(loops.saidOf(foreign.metadata.uid)).toEqual([]);
    await loops.client.remove(NODES, 'joining');
    await settled();
  });

  test('R-06 a foreign class whose controller has a finalizer of the same name: its deletion is left to that', async () => {
    const spec = { loadBalancerClass: 'example.com/other' };
    const foreign = await create('held', { metadata: { finalizers: [FINALIZER] }, spec });
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.8' }] } };
    await loops.client.patch(SERVICES, 'demo/held', 'merge', { status }, { subresource: 'status' });
    await loops.client.remove(SERVICES, 'demo/held');
    await settled();
    const after = await read('held');
    expect(after?.metadata.finalizers).toEqual([FINALIZER]);
    expect(after?.status?.loadBalancer?.ingress?.[0]?.ip).toBe('198.51.100.8');
    expect(writesTo('held')).toEqual([]);
    expect(loops.saidOf(foreign.metadata.uid)).toEqual([]);
    await loops.client.patch(SERVICES, 'demo/held', 'merge', { metadata: { finalizers: null } });
    await gone('held');
  });

  test('a CloudLoadBalancer that a person made is not taken over', async () => {
    const spec = { provider: 'cloud-b', listeners: [{ name: 'x', port: 1, nodePort: 30999 }], local: {} };
    await loops.client.create(CLOUD_LOAD_BALANCERS, 'demo', {
      apiVersion: 'cloud-operator.dev/v1alpha1',
      kind: 'CloudLoadBalancer',
      metadata: { name: 'taken' },
      spec,
    });
    const { metadata } = await create('taken');
    const condition = await waitFor(async () => (await read('taken'))?.status?.conditions?.find(({ type }) => type === READY), {
      timeoutMs: 10_000,
      what: 'the condition',
    });
    expect(condition).toMatchObject({ status: 'False', reason: 'NameTaken' });
    await loops.expectSaid(metadata.uid, [/^SyncLoadBalancerFailed: .*is not taken over/]);
    expect((await readCloud('taken'))?.spec).toMatchObject({ provider: 'cloud-b' });
    await loops.client.remove(SERVICES, 'demo/taken');
    await waitFor(async () => (await read('taken')) === undefined, { timeoutMs: 10_000, what: 'the end of the Service' });
    expect((await readCloud('taken'))?.metadata.deletionTimestamp).toBeUndefined();
    await loops.client.remove(CLOUD_LOAD_BALANCERS, 'demo/taken');
    await gone('taken');
  });

  test('R-10 a restored Service: finalizer and address of another cluster', async () => {
    const { metadata } = await create('restored', { metadata: { finalizers: [FINALIZER] } });
    await loops.client.patch(
      SERVICES,
      'demo/restored',
      'merge',
      { status: { loadBalancer: { ingress: [{ ip: '198.51.100.9' }] } } },
      { subresource: 'status' },
    );
    await waitFor(async () => (await read('restored'))?.status?.loadBalancer?.ingress?.[0]?.ip?.startsWith('203.0.113.'), {
      timeoutMs: 10_000,
      what: 'an address of its own',
    });
    expect((await served('restored')).metadata).toMatchObject({ uid: metadata.uid, finalizers: [FINALIZER] });
  });

  test('R-04 another type and back: the old address goes, a new load balancer comes', async () => {
    const { metadata } = await create('flip');
    const before = await served('flip');
    const old = (await readCloud('flip'))?.metadata.uid;
    cloud.holdsDeletes = true;
    await loops.client.patch(SERVICES, 'demo/flip', 'merge', { spec: { type: 'ClusterIP' } });
    await waitFor(async () => (await readCloud('flip'))?.metadata.deletionTimestamp !== undefined, {
      timeoutMs: 10_000,
      what: 'the delete',
    });
    expect((await read('flip'))?.metadata.finalizers).toEqual([FINALIZER]);
    await loops.client.patch(SERVICES, 'demo/flip', 'merge', { spec: { type: 'LoadBalancer' } });
    cloud.release();
    const after = await served('flip');
    expect((await readCloud('flip'))?.metadata.uid).not.toBe(old);
    expect(after.status?.loadBalancer).not.toEqual(before.status?.loadBalancer);
    expect(after.metadata.finalizers).toEqual([FINALIZER]);
    await loops.expectSaid(metadata.uid, [
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
      'DeletingLoadBalancer',
      'DeletedLoadBalancer',
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
    ]);
  });

  test('another type: finalizer, address and condition go, other finalizers stay', async () => {
    const { metadata } = await create('plain', { metadata: { finalizers: ['example.com/mine'] } });
    await served('plain');
    await loops.client.patch(SERVICES, 'demo/plain', 'merge', { spec: { type: 'ClusterIP' } });
    const after = await waitFor(
      async () => {
        const service = await read('plain');
        return service?.metadata.finalizers?.includes(FINALIZER) === false ? service : undefined;
      },
      { timeoutMs: 10_000, what: 'the finalizer’s end' },
    );
    expect(after.metadata.finalizers).toEqual(['example.com/mine']);
    expect(after.status?.loadBalancer).toEqual({});
    expect(after.status?.conditions ?? []).toEqual([]);
    expect(await readCloud('plain')).toBeUndefined();
    const said = [
      ...Array<string>(0),
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
      'DeletingLoadBalancer',
      'DeletedLoadBalancer',
    ];
    await loops.expectSaid(metadata.uid, said);
    await loops.client.patch(SERVICES, 'demo/plain', 'merge', { metadata: { finalizers: null } });
  });

  test.each(['foreground', 'background', 'orphan'])('R-42 deletion with --cascade=%s waits for the cloud and ends', async (cascade) => {
    const name = `cascade-${cascade}`;
    const { metadata } = await create(name);
    await served(name);
    cloud.holdsDeletes = true;
    await loops.cluster.kubectl(['-n', 'demo', 'delete', 'service', name, `--cascade=${cascade}`, '--wait=false']);
    const held = await waitFor(
      async () => {
        const object = await readCloud(name);
        return object?.metadata.deletionTimestamp === undefined ? undefined : object;
      },
      { timeoutMs: 20_000, what: 'the delete' },
    );
    expect(held.metadata.finalizers).toContain(CLEANUP_FINALIZER);
    expect((await read(name))?.metadata.finalizers).toContain(FINALIZER);
    cloud.release();
    await gone(name);
    await loops.expectSaid(metadata.uid, [
      'EnsuringLoadBalancer',
      'UnAvailableLoadBalancer',
      'EnsuredLoadBalancer',
      'DeletingLoadBalancer',
      'DeletedLoadBalancer',
    ]);
  });

  test('the finalizer of a Service that was made anew under the name can’t be taken off by mistake', async () => {
    await create('anew', { metadata: { finalizers: [FINALIZER] } });
    const service = await served('anew');
    const patch = releasePatch({ ...service, metadata: { ...service.metadata, uid: '11111111-1111-1111-1111-111111111111' } });
    await expect(loops.client.patch(SERVICES, 'demo/anew', 'strategic', patch ?? {}, { subresource: 'status' })).rejects.toThrow(/uid/i);
    expect((await read('anew'))?.metadata.finalizers).toEqual([FINALIZER]);
  });

  test('R-42 deletion of the whole namespace ends', async () => {
    await loops.namespace('going');
    await create('one', {}, 'going');
    await create('two', {}, 'going');
    await Promise.all([served('one', 'going'), served('two', 'going')]);
    await loops.cluster.kubectl(['delete', 'namespace', 'going', '--timeout=50s']);
    await Promise.all([gone('one', 'going'), gone('two', 'going')]);
  });
});
