import { Registry } from 'prom-client';
import { OperatorError, type ErrorCode } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import type { Node } from '../../../../operator/kube/object';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import type { StoredCloudRoute } from '../../../../operator/loops/kinds';
import { NODE_RETRY } from '../../../../operator/loops/node/loop';
import { ROUTE_INDEXES, RouteLoop } from '../../../../operator/loops/route/loop';
import { ControllerMetrics } from '../../../../operator/server/controller-metrics';
import { CLOUDS } from '../../../integration/loops/cloud-side';
import { FakeClock } from '../../kube/fake-clock';
import { node } from '../objects';
import { RecordingApi } from '../recording-api';

let versions = 20;
const APPLY = 'apply cloudroutes/n1-10.244.1.0-24';

function routed(address: string, changes: { spec?: object; conditions?: object[] } = {}): Node {
  const status = { addresses: [{ type: 'InternalIP', address }], conditions: changes.conditions ?? [] };
  return node({ metadata: { resourceVersion: `${++versions}` }, spec: { podCIDRs: ['10.244.1.0/24'], ...changes.spec }, status });
}

interface World {
  api: RecordingApi;
  counted: Registry;
  nodes: MemoryStore<Node>;
  clock: FakeClock;
  /** Something was found out of whose a Node is. */
  found: (nodeName: string) => void;
}

/** Runs the loop over one Node. */
async function run(during: (world: World) => Promise<void>, clouds = CLOUDS): Promise<void> {
  const api = new RecordingApi();
  const clock = new FakeClock();
  const nodes = new MemoryStore<Node>({}, silentLogger);
  const cloudRoutes = new MemoryStore<StoredCloudRoute>(ROUTE_INDEXES, silentLogger);
  const queue = new KeyedQueue({ name: 'Routes', logger: silentLogger, clock, backOff: NODE_RETRY });
  const counted = new Registry();
  const metrics = new ControllerMetrics([counted]);
  const listeners = new Set<(nodeName: string) => void>();
  const owners = {
    onChange: (listener: (nodeName: string) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const dependencies = { api, nodes, cloudRoutes, clouds, owners, events: api, metrics, queue, clock, logger: silentLogger };
  const loop = new RouteLoop({ ...dependencies, clusterCidrs: ['10.244.0.0/16'], workers: 1 });
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  nodes.replace([routed('192.0.2.11')]);
  cloudRoutes.replace([]);
  await clock.advance(0);
  try {
    await during({ api, counted, nodes, clock, found: (nodeName) => listeners.forEach((listener) => listener(nodeName)) });
  } finally {
    stop.abort(new Error('the test is over'));
    await running;
    queue.close();
  }
  expect(listeners.size).toBe(0);
}

test.each<[string, Node | undefined, string[]]>([
  ['C-ROUTE-17 another InternalIP', routed('192.0.2.12'), [APPLY]],
  [
    'other PodCIDRs',
    routed('192.0.2.11', { spec: { podCIDRs: ['10.244.1.0/24', '10.244.2.0/24'] } }),
    [APPLY, 'apply cloudroutes/n1-10.244.2.0-24'],
  ],
  ['a heartbeat', routed('192.0.2.11', { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'now' }] }), []],
  ['a taint', routed('192.0.2.11', { spec: { taints: [{ key: 'other', effect: 'NoExecute' }] } }), []],
  ['the Node goes', undefined, []],
])('%s: the Node’s routes are looked at at once, or not at all', async (_name, after, log) => {
  await run(async ({ api, nodes, clock }) => {
    expect(api.log).toEqual([APPLY]);
    api.log.length = 0;
    if (after === undefined) nodes.delete('n1');
    else nodes.set(after);
    await clock.advance(0);
    expect(api.log).toEqual(log);
  });
});

test('a Node of which only a listing can tell whose it is gets its route once one has', async () => {
  let owner: string | undefined;
  await run(
    async ({ api, clock, found }) => {
      expect(api.log).toEqual([]);
      owner = 'cloud-a';
      found('n1');
      await clock.advance(0);
      expect(api.log).toEqual([APPLY]);
    },
    { ...CLOUDS, forNode: () => owner },
  );
});

test('a CloudRoute that can’t be written: the Event of upstream, with the time that it took so far, once for each message', async () => {
  await run(async ({ api, counted, nodes, clock }) => {
    api.failures.set(APPLY, new OperatorError('Transient', '503 no leader'));
    nodes.set(routed('192.0.2.12'));
    await clock.advance(1_234);
    api.failures.set(APPLY, new OperatorError('Transient', '503 no quorum'));
    nodes.set(routed('192.0.2.13'));
    await clock.advance(0);
    const text = (took: string, why: string): string =>
      `Warning FailedToCreateRoute: Could not create route node-1 10.244.1.0/24 for node n1 after ${took}: ${why}`;
    expect(api.events).toEqual([text('0s', '503 no leader'), text('1.234s', '503 no quorum')]);
    const page = await counted.metrics();
    expect(page).toContain('route_controller_route_sync_total{outcome="changed",trigger="node_change"} 1\n');
    expect(page).not.toContain('route_controller_route_sync_total{outcome="error",trigger="node_change"} 0\n');
  });
});

test.each<[string, ErrorCode]>([
  ['401 or 403', 'Credentials'],
  ['409', 'Conflict'],
  ['410', 'NotFound'],
  ['429', 'Throttled'],
  ['500, or nothing', 'Transient'],
])('an API server that answers %s for an hour: asked seldom, told why, and done once it takes the write', async (_what, code) => {
  await run(async ({ api, nodes, clock }) => {
    api.failures.set(APPLY, new OperatorError(code, 'refused'));
    nodes.set(routed('192.0.2.12'));
    const applies = (): number => api.log.filter((entry) => entry === APPLY).length;
    await clock.advance(3_600_000);
    expect(applies()).toBeGreaterThan(10);
    expect(applies()).toBeLessThanOrEqual(40);
    expect(api.events).toHaveLength(1);
    expect(api.events[0]).toMatch(/^Warning FailedToCreateRoute: .*refused$/);
    const before = applies();
    api.failures.clear();
    await clock.advance(1_000_000);
    expect(applies()).toBe(before + 1);
  });
});
