import { OperatorError } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import { systemClock } from '../../../../operator/base/clock';
import type { KubeApi } from '../../../../operator/kube/api';
import type { Node, Service } from '../../../../operator/kube/object';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import type { StoredCloudLoadBalancer } from '../../../../operator/loops/kinds';
import { ServiceLoop } from '../../../../operator/loops/service/loop';
import { waitFor } from '../../../harness/wait-for';
import { CLOUDS } from '../../../integration/loops/cloud-side';
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
  const [services, cloudLoadBalancers, nodes] = [
    new MemoryStore<Service>({}, silentLogger),
    new MemoryStore<StoredCloudLoadBalancer>({}, silentLogger),
    new MemoryStore<Node>({}, silentLogger),
  ];
  const queue = new KeyedQueue({ name: 'service', logger: silentLogger });
  const events = { event: (): void => undefined };
  const loop = new ServiceLoop({
    ...{ api, services, cloudLoadBalancers, nodes, clouds: CLOUDS, events, queue, clock: systemClock, logger: silentLogger, workers: 1 },
  });
  const running = loop.run(stop.signal);
  end = async () => {
    stop.abort(new Error('the test is over'));
    await running;
    queue.close();
  };
  const failed = async (change: () => void): Promise<number> => {
    const before = calls;
    change();
    await waitFor(() => calls > before && queue.longestRunningMs === 0, { timeoutMs: 5_000, what: 'the next failure' });
    return queue.failuresOf(KEY);
  };
  const set = (changes: Parameters<typeof service>[0]) => (): void => services.set(service(changes));

  expect(
    await failed(() => {
      services.replace([service()]);
      cloudLoadBalancers.replace([]);
      nodes.replace([]);
    }),
  ).toBe(1);
  const conditions = [{ type: 'Other', status: 'True', reason: 'Other', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  expect(await failed(set({ metadata: { resourceVersion: '11' }, status: { conditions } }))).toBe(2);
  expect(
    await failed(set({ metadata: { resourceVersion: '12' }, spec: { ports: [{ protocol: 'TCP', port: 81, nodePort: 30081 }] } })),
  ).toBe(1);
  expect(await failed(set({ metadata: { resourceVersion: '13', annotations: { a: 'b' } } }))).toBe(1);
});
