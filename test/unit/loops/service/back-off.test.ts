import { OperatorError } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import type { KubeApi } from '../../../../operator/kube/api';
import type { KubeObject, Node, Service } from '../../../../operator/kube/object';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import type { StoredCloudLoadBalancer } from '../../../../operator/loops/kinds';
import { ServiceLoop } from '../../../../operator/loops/service/loop';
import { SERVICE_RETRY } from '../../../../operator/loops/service/rules';
import { CLOUDS } from '../../../integration/loops/cloud-side';
import { FakeClock } from '../../kube/fake-clock';
import { service } from '../objects';

const KEY = 'demo/web';
const stop = new AbortController();
let end: (() => Promise<void>) | undefined;

afterEach(() => end?.());

test('a person’s change begins the back-off anew, what controllers write does not', async () => {
  let calls = 0;
  const down = (): Promise<never> => {
    calls++;
    return Promise.reject(new OperatorError('Transient', '503 etcdserver: leader changed'));
  };
  const api: KubeApi = { get: down, list: down, create: down, apply: down, patch: down, remove: down };
  const [services, namespaces, cloudLoadBalancers, nodes] = [
    new MemoryStore<Service>({}, silentLogger),
    new MemoryStore<KubeObject>({}, silentLogger),
    new MemoryStore<StoredCloudLoadBalancer>({}, silentLogger),
    new MemoryStore<Node>({}, silentLogger),
  ];
  const clock = new FakeClock();
  const queue = new KeyedQueue({ name: 'service', logger: silentLogger, clock, backOff: SERVICE_RETRY });
  const events = { event: (): void => undefined };
  const loop = new ServiceLoop({
    ...{ api, services, namespaces, cloudLoadBalancers, nodes, clouds: CLOUDS, events, queue, clock, logger: silentLogger, workers: 1 },
  });
  const running = loop.run(stop.signal);
  end = async () => {
    stop.abort(new Error('the test is over'));
    await running;
    queue.close();
  };
  const set = (changes: Parameters<typeof service>[0]): void => services.set(service(changes));

  services.replace([service()]);
  namespaces.replace([]);
  cloudLoadBalancers.replace([]);
  nodes.replace([]);
  await clock.advance(0);
  expect(queue.failuresOf(KEY)).toBe(1);
  await clock.advance(SERVICE_RETRY.baseMs);
  expect(queue.failuresOf(KEY)).toBe(2);
  const conditions = [{ type: 'Other', status: 'True', reason: 'Other', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const before = calls;
  set({ metadata: { resourceVersion: '11' }, status: { conditions } });
  await clock.advance(0);
  expect(calls).toBeGreaterThan(before);
  expect(queue.failuresOf(KEY)).toBe(2);
  set({ metadata: { resourceVersion: '12' }, spec: { ports: [{ protocol: 'TCP', port: 81, nodePort: 30081 }] } });
  await clock.advance(0);
  expect(queue.failuresOf(KEY)).toBe(1);
});
