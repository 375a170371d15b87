import { EVENTS, NODES, type KubeObject, type Node } from '../../../operator/kube/object';
import type { Operator } from '../../faults/operator';
import type { Exchange, Tap } from '../../faults/proxy';
import { FaultSystem } from '../../faults/system';
import { WantedWorld } from '../../faults/wanted-world';
import type { Change } from '../../faults/world';
import { waitFor } from '../../harness/wait-for';
import { isTainted } from '../operator/scene';

/** An API server that refuses all writes for a while, in each of its ways: no crash, no hot loop, everything done afterwards without a restart. */

const OUTAGE_MS = 20_000;
/** The longest back-off that such an outage leads to, and time to do it on a busy machine. */
const RECOVERY_MS = 120_000;
jest.setTimeout(OUTAGE_MS + RECOVERY_MS + 30_000);

/**
 * Writes to one object while nothing is taken. The shortest back-off is a Node's: 5 ms, doubling, which is a dozen in such a time; a request that is
 * refused for its token goes out a second time.
 */
const PER_OBJECT = 40;
/** A Node that changed meanwhile is read and written anew up to 20 times, 50 ms apart, before its back-off (contract 3.1). */
const CONFLICTS = 21;

let system: FaultSystem;
let operator: Operator;
let world: WantedWorld;

beforeAll(async () => {
  system = await FaultSystem.start();
  world = new WantedWorld(system);
  operator = await system.addOperator('a');
  await operator.start();
  await world.make({ kind: 'addNode', name: 'node-1' });
  await world.make(service('web-0'));
  await world.settled([operator], RECOVERY_MS);
});

afterAll(() => system?.stop());

afterEach(() => {
  operator.tap = () => 'pass';
});

function service(name: string): Change {
  return { kind: 'createService', name, service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } };
}

/** Answers every write to the API server with this, and keeps it; but Events are taken, so that people can be told. */
function refusing(status: number, reason: string, headers: Record<string, string>, refused: Exchange[]): Tap {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message: 'says the test' });
  return (exchange, moment) => {
    if (moment !== 'request' || exchange.side !== 'api' || exchange.method === 'GET') return 'pass';
    if (/\/events(\/|$)/.test(exchange.path)) return 'pass';
    refused.push(exchange);
    return { status, headers, body };
  };
}

/** How often each object was written to. */
function timesByObject(refused: readonly Exchange[]): Record<string, number> {
  const times: Record<string, number> = {};
  for (const { method, path } of refused) times[`${method} ${path}`] = (times[`${method} ${path}`] ?? 0) + 1;
  return times;
}

test.each<[number, string, Record<string, string>]>([
  [401, 'Unauthorized', {}],
  [403, 'Forbidden', {}],
  [409, 'Conflict', {}],
  [410, 'Expired', {}],
  [429, 'TooManyRequests', { 'retry-after': '1' }],
  [500, 'InternalError', {}],
])('%i %s to every write', async (status, reason, headers) => {
  const { pid } = operator;
  const refused: Exchange[] = [];
  operator.tap = refusing(status, reason, headers, refused);
  await world.make(service(`web-${status}`));
  await world.make({ kind: 'addNode', name: `node-${status}` });
  await world.make({ kind: 'changePorts', name: 'web-0', ports: [status] });
  const since = performance.now();
  await waitFor(() => performance.now() - since > OUTAGE_MS, { what: 'the outage to be over', timeoutMs: 2 * OUTAGE_MS });
  const events = await system.kube.list<KubeObject & { reason: string; message: string }>(EVENTS, {
    fieldSelector: `involvedObject.kind=Service,involvedObject.name=web-${status}`,
  });
  expect(events.filter((event) => event.reason === 'SyncLoadBalancerFailed').map(({ message }) => message)).toEqual([
    expect.stringContaining(`: ${status} ${reason}: says the test`),
  ]);
  operator.tap = () => 'pass';

  const times = timesByObject(refused);
  const limitOf = (object: string): number => (status === 409 && object.startsWith('PATCH /api/v1/nodes/') ? CONFLICTS : 1) * PER_OBJECT;
  expect(Object.entries(times).filter(([object, count]) => count > limitOf(object))).toEqual([]);
  // It has tried, and more than once.
  expect(times[`PATCH /api/v1/nodes/node-${status}`]).toBeGreaterThan(2);
  await world.settled([operator], RECOVERY_MS);
  expect([operator.running, operator.pid]).toEqual([true, pid]);
  const node = await system.kube.get<Node>(NODES, `node-${status}`);
  expect(node && isTainted(node)).toBe(false);
});
