import { OperatorError, type ErrorCode } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import type { KubeObject, Node, Service } from '../../../../operator/kube/object';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import type { Clouds } from '../../../../operator/loops/clouds';
import type { StoredCloudLoadBalancer } from '../../../../operator/loops/kinds';
import { bodyOf } from '../../../../operator/loops/service/cloud-load-balancer';
import { compile } from '../../../../operator/loops/service/compile';
import { ServiceLoop } from '../../../../operator/loops/service/loop';
import { SERVICE_RETRY } from '../../../../operator/loops/service/rules';
import { CLOUDS } from '../../../integration/loops/cloud-side';
import { FakeClock } from '../../kube/fake-clock';
import { cloudLoadBalancer, condition, node, NOW, service } from '../objects';
import { RecordingApi } from '../recording-api';

const KEY = 'demo/web';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const STATUS_PATCH = `patch services/${KEY}/status`;
const REMOVE = `remove cloudloadbalancers/${KEY}`;
const HELD = service({ metadata: { finalizers: [FINALIZER] } });

let api: RecordingApi;
let clock: FakeClock;
let queue: KeyedQueue;
let services: MemoryStore<Service>;
let namespaces: MemoryStore<KubeObject>;
let cloudLoadBalancers: MemoryStore<StoredCloudLoadBalancer>;
let loop: ServiceLoop;
let loopWith: (clouds: Clouds) => ServiceLoop;

beforeEach(() => {
  api = new RecordingApi();
  clock = new FakeClock();
  queue = new KeyedQueue({ name: 'service', logger: silentLogger, clock, backOff: SERVICE_RETRY });
  services = new MemoryStore<Service>({}, silentLogger);
  namespaces = new MemoryStore<KubeObject>({}, silentLogger);
  namespaces.replace([]);
  cloudLoadBalancers = new MemoryStore<StoredCloudLoadBalancer>({}, silentLogger);
  const nodes = new MemoryStore<Node>({}, silentLogger);
  nodes.replace([node()]);
  loopWith = (clouds) =>
    new ServiceLoop({
      ...{ services, namespaces, cloudLoadBalancers, nodes, api, clouds, events: api, queue, clock, logger: silentLogger, workers: 1 },
    });
  loop = loopWith(CLOUDS);
});

/** The CloudLoadBalancer that the loop made for a Service, serving. */
function made(of: Service, metadata: object = {}): StoredCloudLoadBalancer {
  const { spec } = compile(of, 'cloud-a', { blockName: 'local', block: {}, problems: [] });
  if (spec === undefined) throw new Error('the Service does not compile');
  const { annotations, ownerReferences } = bodyOf(of, { spec }, undefined).metadata;
  const conditions = [condition('Ready', 'True', 'Ready', 'serving')];
  const status = { observedGeneration: 1, objectUID: 'clb-1', conditions, ingress: [{ ip: '203.0.113.10' }] };
  return cloudLoadBalancer({ metadata: { annotations, ownerReferences, ...metadata }, spec: spec as never, status });
}

/** What the stores and the API server have. */
function set(of: Service | undefined, cloud: StoredCloudLoadBalancer | undefined): void {
  services.replace(of === undefined ? [] : [of]);
  cloudLoadBalancers.replace(cloud === undefined ? [] : [cloud]);
  api.stored.clear();
  if (of !== undefined) api.stored.set(`services/${KEY}`, of);
  if (cloud !== undefined) api.stored.set(`cloudloadbalancers/${KEY}`, cloud);
}

async function running(during: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const run = loop.run(stop.signal);
  await clock.advance(0);
  try {
    await during();
  } finally {
    stop.abort(new Error('the test is over'));
    await run;
    queue.close();
  }
}

test('a Service that became another type, and lost its finalizer, while nobody looked: its CloudLoadBalancer goes at the start', async () => {
  set(service({ spec: { type: 'ClusterIP' } }), made(HELD));
  await running(async () => {
    await clock.advance(0);
    expect(api.log).toEqual(['Normal DeletingLoadBalancer: Deleting load balancer', REMOVE]);
  });
});

test('a Service that became another type while nobody looked, and had only been told why it waits: that goes at the start', async () => {
  const conditions = [{ type: 'cloud-operator.dev/Ready', status: 'False' as const, reason: 'NoDefaultProvider', message: 'none' }];
  set(service({ spec: { type: 'ClusterIP' }, status: { conditions } }), undefined);
  await running(() => {
    expect(api.log).toEqual([STATUS_PATCH]);
    return Promise.resolve();
  });
});

test('C-SVC-22 a status patch that meets a Conflict: upstream’s words in the error and in the Event', async () => {
  set(HELD, made(HELD));
  api.failures.set(STATUS_PATCH, new OperatorError('Conflict', '409 the object has been modified'));
  const message = 'failed to update load balancer status: 409 the object has been modified';
  await expect(loop.sync(KEY)).rejects.toThrow(message);
  expect(api.log).toEqual([
    'Normal EnsuredLoadBalancer: Ensured load balancer',
    STATUS_PATCH,
    `Warning SyncLoadBalancerFailed: Error syncing load balancer: ${message}`,
  ]);
});

/** What a step that fails is called (contract 2.5), and what there is before it. */
const LEAVING = service({ metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW } });
const STEPS: [step: string, of: Service, cloud: StoredCloudLoadBalancer | undefined, fails: { write: string; words: string }][] = [
  ['adding the finalizer', service(), undefined, { write: STATUS_PATCH, words: 'failed to add load balancer cleanup finalizer' }],
  ['making it', HELD, undefined, { write: `apply cloudloadbalancers/${KEY}`, words: 'failed to ensure load balancer' }],
  ['telling the address', HELD, made(HELD), { write: STATUS_PATCH, words: 'failed to update load balancer status' }],
  ['deleting it', LEAVING, made(LEAVING), { write: REMOVE, words: 'failed to delete load balancer' }],
  ['removing the finalizer', LEAVING, undefined, { write: STATUS_PATCH, words: 'failed to remove load balancer cleanup finalizer' }],
];

test.each(STEPS)('%s fails: upstream’s words in the error and in the Event', async (_step, of, cloud, { write, words }) => {
  set(of, cloud);
  api.failures.set(write, new OperatorError('Transient', '503 no leader'));
  await expect(loop.sync(KEY)).rejects.toThrow(`${words}: 503 no leader`);
  expect(api.events.at(-1)).toBe(`Warning SyncLoadBalancerFailed: Error syncing load balancer: ${words}: 503 no leader`);
});

describe('a Service of a class that nobody here claims, which becomes another type', () => {
  /** Passes over the Service, of these specs one after another. */
  async function becomes(...specs: Partial<Service['spec']>[]): Promise<void> {
    for (const [index, spec] of specs.entries()) {
      set(service({ metadata: { finalizers: [FINALIZER], resourceVersion: `${index + 10}` }, spec }), undefined);
      await loop.sync(KEY);
    }
  }

  const OTHERS = { loadBalancerClass: 'example.com/other' };
  const INSIDE = { type: 'ClusterIP' };

  test('keeps the finalizer of its own controller', async () => {
    await becomes(OTHERS, INSIDE, INSIDE);
    expect(api.log).toEqual([]);
  });

  test.each<[string, Partial<Service['spec']>[]]>([
    ['it has been ours since', [OTHERS, { loadBalancerClass: 'example.com/ours' }, INSIDE]],
    ['nobody here has seen the class', [INSIDE]],
  ])('loses it, as upstream has it, where %s', async (_why, specs) => {
    await becomes(...specs);
    expect(api.log.slice(-2)).toEqual([STATUS_PATCH, 'Normal DeletedLoadBalancer: Deleted load balancer']);
  });
});

describe('a Service that goes, with the finalizer of a controller before us (contract 2.7)', () => {
  const theirs = (changes: Parameters<typeof service>[0] = {}): Service =>
    service({
      ...changes,
      metadata: LEAVING.metadata as never,
      status: { loadBalancer: { ingress: [{ ip: '198.51.100.1' }] }, ...changes.status! },
    });
  const leftFor = jest.fn<ReturnType<Clouds['leftFor']>, Parameters<Clouds['leftFor']>>();
  beforeEach(() => {
    leftFor.mockReset().mockResolvedValue({ what: 'load balancer arn:a1 of Service demo/web, cluster prod', by: 'cloud-provider-aws' });
    loop = loopWith({ ...CLOUDS, leftFor });
  });

  test('is held while what that has made stands, which is told once, with what to do; then it goes', async () => {
    set(theirs(), undefined);
    const message =
      'failed to delete load balancer: load balancer arn:a1 of Service demo/web, cluster prod stands, and was never taken over here. ';
    for (let times = 0; times < 2; times++) await expect(loop.sync(KEY)).rejects.toThrow(message);
    expect(leftFor).toHaveBeenCalledWith({ uid: 'service-1', annotations: {} });
    expect(api.events).toEqual([expect.stringContaining(`Warning SyncLoadBalancerFailed: Error syncing load balancer: ${message}`)]);
    expect(api.events[0]).toMatch(/cloud-provider-aws .*take the finalizer service\.kubernetes\.io\/load-balancer-cleanup off/);
    const [told] = api.writes;
    expect(told?.body).toMatchObject({
      status: {
        conditions: [
          { reason: 'LeftBehind', status: 'False' },
          { reason: 'LeftBehind', status: 'True' },
        ],
      },
    });
    expect(JSON.stringify(api.writes)).not.toMatch(/finalizers|ingress/);
    leftFor.mockResolvedValue(undefined);
    await loop.sync(KEY);
    expect(api.writes.at(-1)?.body).toMatchObject({ metadata: { '$deleteFromPrimitiveList/finalizers': [FINALIZER] } });
    expect(api.events.at(-1)).toBe('Normal DeletedLoadBalancer: Deleted load balancer');
  });

  test('stays while the cloud can’t be asked, in upstream’s words', async () => {
    set(theirs(), undefined);
    leftFor.mockRejectedValue(new OperatorError('Credentials', 'ExpiredToken'));
    await expect(loop.sync(KEY)).rejects.toThrow('failed to check if load balancer exists before cleanup: ExpiredToken');
    expect(api.writes).toEqual([]);
  });

  test('is held also when it only failed here before: its name was taken by what stands', async () => {
    const conditions = [{ type: 'cloud-operator.dev/Ready', status: 'False', reason: 'Conflict', message: 'exists already' }];
    set(theirs({ status: { conditions } }), undefined);
    await expect(loop.sync(KEY)).rejects.toThrow('was never taken over here');
  });

  test('nobody is asked about one that was served here', async () => {
    const conditions = [{ type: 'cloud-operator.dev/Ready', status: 'True', reason: 'Ready', message: 'serving' }];
    set(theirs({ status: { conditions } }), undefined);
    await loop.sync(KEY);
    expect(leftFor).not.toHaveBeenCalled();
    expect(api.events).toEqual(['Normal DeletedLoadBalancer: Deleted load balancer']);
  });
});

test('C-SVC-29 only Services of type LoadBalancer get a load balancer', async () => {
  const types = { node: 'NodePort', one: 'LoadBalancer', two: 'LoadBalancer', inside: 'ClusterIP' };
  services.replace(Object.entries(types).map(([name, type]) => service({ metadata: { name, uid: name }, spec: { type } })));
  cloudLoadBalancers.replace([]);
  for (const name of Object.keys(types)) await loop.sync(`demo/${name}`);
  const applied = api.log.filter((entry) => entry.startsWith('apply'));
  expect(applied).toEqual(['apply cloudloadbalancers/demo/one', 'apply cloudloadbalancers/demo/two']);
});

describe('a Service that is gone (contract 2.8)', () => {
  const DELETING = 'Normal DeletingLoadBalancer: Deleting load balancer';
  const DELETED = 'Normal DeletedLoadBalancer: Deleted load balancer';

  /** A pass has seen the Service; then everything that was done is forgotten. */
  async function seen(): Promise<void> {
    set(HELD, made(HELD));
    await loop.sync(KEY);
    api.log.length = 0;
  }

  test('C-SVC-23 nobody has seen it: nothing at all, also where somebody’s CloudLoadBalancer has its name', async () => {
    set(undefined, made(HELD));
    await loop.sync(KEY);
    expect(api.log).toEqual([]);
  });

  test('C-SVC-24 it was seen: its CloudLoadBalancer goes, and then it is forgotten', async () => {
    await seen();
    set(undefined, made(HELD));
    await loop.sync(KEY);
    expect(api.log).toEqual([DELETING, REMOVE]);
    set(undefined, made(HELD, { deletionTimestamp: NOW }));
    await loop.sync(KEY);
    set(undefined, undefined);
    await loop.sync(KEY);
    await loop.sync(KEY);
    expect(api.log).toEqual([DELETING, REMOVE, DELETED]);
  });

  test('a deletion that fails is told, and the key is tried again', async () => {
    await seen();
    set(undefined, made(HELD));
    api.failures.set(REMOVE, new OperatorError('Transient', '503 no leader'));
    const message = 'failed to delete load balancer: 503 no leader';
    await expect(loop.sync(KEY)).rejects.toThrow(message);
    api.failures.clear();
    await loop.sync(KEY);
    const failed = `Warning DeleteLoadBalancerFailed: Error deleting load balancer: ${message}`;
    expect(api.log).toEqual([DELETING, REMOVE, failed, DELETING, REMOVE]);
  });

  test('one that only the list has forgotten keeps everything', async () => {
    await seen();
    set(undefined, made(HELD));
    api.stored.set(`services/${KEY}`, HELD);
    await loop.sync(KEY);
    expect(api.log).toEqual([]);
  });

  test('another type than LoadBalancer: nothing is said', async () => {
    set(service({ spec: { type: 'ClusterIP' }, metadata: { finalizers: [FINALIZER] } }), undefined);
    await loop.sync(KEY);
    api.log.length = 0;
    set(undefined, made(HELD));
    await loop.sync(KEY);
    expect(api.log).toEqual([]);
  });

  test('made anew under its name: the old one’s goes first, and the new one is told nothing until then', async () => {
    await seen();
    const anew = service({ metadata: { uid: 'service-2' } });
    set(anew, made(HELD));
    await loop.sync(KEY);
    expect(api.log).toEqual([DELETING, REMOVE]);
    set(anew, undefined);
    await loop.sync(KEY);
    const ensuring = 'Normal EnsuringLoadBalancer: Ensuring load balancer';
    expect(api.log.slice(2)).toEqual([DELETED, ensuring, STATUS_PATCH, `apply cloudloadbalancers/${KEY}`]);
  });
});

describe('the queue (contract 2.1, 2.2, 2.4)', () => {
  test('C-SVC-25 what succeeds is not tried again', async () => {
    set(HELD, made(HELD));
    await running(async () => {
      const before = api.log.length;
      expect(queue.failuresOf(KEY)).toBe(0);
      await clock.advance(600_000);
      expect(api.log).toHaveLength(before);
    });
  });

  test('R-32: what a Service gets by the load balancers beside its own is looked at again when one of those is served elsewhere', async () => {
    const told: string[][] = [];
    loop = loopWith({
      ...CLOUDS,
      compile: (_provider, _annotations, { neighbors }) => {
        told.push((neighbors?.() ?? []).flatMap(({ addresses }) => addresses));
        return { blockName: 'local', block: {}, problems: [] };
      },
    });
    set(HELD, made(HELD));
    await running(async () => {
      expect(told.at(-1)).toEqual([]);
      const other = made(service({ metadata: { name: 'api', uid: 'service-2' } }), { name: 'api' });
      cloudLoadBalancers.replace([made(HELD), other]);
      await clock.advance(0);
      expect(told.at(-1)).toEqual(['203.0.113.10']);
      const passes = told.length;
      cloudLoadBalancers.replace([made(HELD), made(HELD, { name: 'api', resourceVersion: '31', annotations: other.metadata.annotations })]);
      await clock.advance(0);
      expect(told).toHaveLength(passes);
    });
  });

  test('C-SVC-26 what is told when to come again comes exactly then', async () => {
    const APPLY = `apply cloudloadbalancers/${KEY}`;
    set(HELD, undefined);
    api.failures.set(APPLY, new OperatorError('Throttled', '429 slow down', { retryAfterMs: 42_000 }));
    const applies = (): number => api.log.filter((entry) => entry === APPLY).length;
    await running(async () => {
      expect(api.events).toContain(
        'Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: 429 slow down',
      );
      await clock.advance(41_999);
      expect([applies(), queue.failuresOf(KEY)]).toEqual([1, 0]);
      await clock.advance(1);
      expect([applies(), queue.failuresOf(KEY)]).toEqual([2, 0]);
    });
  });

  test.each<[string, ErrorCode]>([
    ['401 or 403', 'Credentials'],
    ['409', 'Conflict'],
    ['410', 'NotFound'],
    ['429', 'Throttled'],
    ['500, or nothing', 'Transient'],
  ])('an API server that answers %s for an hour: asked seldom, told why, and done once it takes the write', async (_what, code) => {
    const APPLY = `apply cloudloadbalancers/${KEY}`;
    set(HELD, undefined);
    api.failures.set(APPLY, new OperatorError(code, 'refused'));
    const applies = (): number => api.log.filter((entry) => entry === APPLY).length;
    await running(async () => {
      await clock.advance(3_600_000);
      expect(applies()).toBeGreaterThan(10);
      expect(applies()).toBeLessThanOrEqual(20);
      expect(api.events.filter((event) => event.includes('refused'))).toEqual([
        'Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: refused',
      ]);
      const before = applies();
      api.failures.clear();
      await clock.advance(300_000);
      expect(applies()).toBeGreaterThan(before);
      expect(queue.failuresOf(KEY)).toBe(0);
    });
  });

  /** Seconds after which the loop has written something, with everything that it writes failing. */
  async function attempts(of: Service, seconds: number): Promise<number[]> {
    set(of, undefined);
    for (const write of [STATUS_PATCH, `apply cloudloadbalancers/${KEY}`]) api.failures.set(write, new OperatorError('Transient', 'no'));
    const at: number[] = [];
    await running(async () => {
      for (let second = 0; second <= seconds; second++) {
        if (api.writes.length > at.length) at.push(second);
        await clock.advance(1000);
      }
    });
    return at;
  }

  test('a failure is tried again after 5, 10, 20 … 300 s', async () => {
    expect(await attempts(HELD, 700)).toEqual([0, 5, 15, 35, 75, 155, 315, 615]);
  });

  test('a Service that needs cleanup is looked at at once, and every 30 s whatever its back-off', async () => {
    const leaving = service({ metadata: { finalizers: [FINALIZER], deletionTimestamp: NOW } });
    const at = await attempts(leaving, 700);
    expect(at.slice(0, 4)).toEqual([0, 5, 15, 30]);
    expect(at).toEqual(expect.arrayContaining(Array.from({ length: 23 }, (_, index) => 30 * (index + 1))));
  });

  test('other labels of a namespace have its Services looked at again; nothing else of it does, and no other Service', async () => {
    const added: string[] = [];
    const elsewhere = service({ metadata: { name: 'web', namespace: 'other', uid: 'service-2', finalizers: [FINALIZER] } });
    const labelled = (labels: Record<string, string>, resourceVersion: string): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: 'demo', uid: 'demo', resourceVersion, creationTimestamp: NOW, labels },
    });
    set(HELD, made(HELD));
    services.set(elsewhere);
    namespaces.replace([labelled({}, '1')]);
    await running(async () => {
      await clock.advance(0);
      queue.add = (key) => added.push(key);
      namespaces.set(labelled({}, '2'));
      expect(added).toEqual([]);
      namespaces.set(labelled({ team: 'shop' }, '3'));
    });
    expect(added).toEqual([KEY]);
  });

  test('what people change goes before what is only looked at again', async () => {
    const added: string[] = [];
    queue.add = (key, priority = 'Normal') => added.push(`${key} ${priority}`);
    const change = (changes: Parameters<typeof service>[0], version: number): void => {
      const metadata = { finalizers: [FINALIZER], ...changes?.metadata, resourceVersion: `${version}` };
      services.set(service({ ...changes, metadata }));
    };
    set(HELD, made(HELD));
    await running(async () => {
      change({ status: { loadBalancer: {} } }, 11);
      change({ spec: { externalIPs: ['1.1.1.1'] } }, 12);
      change({ spec: { externalIPs: ['1.1.1.1'] }, metadata: { deletionTimestamp: NOW } }, 13);
      await clock.advance(30_000);
    });
    expect(added).toEqual([`${KEY} Low`, `${KEY} Low`, `${KEY} Normal`, `${KEY} Normal`, `${KEY} Low`]);
  });
});
