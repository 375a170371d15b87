import { CLOUD_PROVIDERS, type CloudProvider } from '../../../crds';
import { EVENTS, type KubeObject } from '../../../operator/kube/object';
import type { Operator } from '../../faults/operator';
import type { Action, Exchange, Tap } from '../../faults/proxy';
import { FaultSystem } from '../../faults/system';
import { WantedWorld } from '../../faults/wanted-world';
import type { Change } from '../../faults/world';
import { waitFor } from '../../harness/wait-for';

/**
 * An API server that takes writes but lets nothing be listed or watched any more, in each of its ways, until the operator has told it: no crash, no hot
 * loop, and what changed meanwhile is done without a restart. Ten minutes of it, on an injected clock: test/unit/kube/reflector.test.ts.
 */

/** Failures that count as more than a hiccup, and time for it to be told on a busy machine. */
const TOLD_MS = 60_000;
/** The longest back-off that such an outage leads to. */
const RECOVERY_MS = 120_000;
jest.setTimeout(TOLD_MS + RECOVERY_MS + 30_000);

/** Tries at one collection, or one object: 0.8 s doubling to 30 s is eight in a minute, each a list or a watch, and a 401 sends each twice. */
const PER_PATH = 32;

let system: FaultSystem;
let operator: Operator;
let world: WantedWorld;

beforeAll(async () => {
  system = await FaultSystem.start();
  world = new WantedWorld(system);
  operator = await system.addOperator('a');
  await operator.start();
  await world.make({ kind: 'addNode', name: 'node-1' });
  for (const name of ['web-0', 'web-1']) await world.make(service(name));
  await world.settled([operator], RECOVERY_MS);
});

afterAll(() => system?.stop());

afterEach(() => {
  operator.tap = operator.watchTap = () => 'pass';
});

function service(name: string): Change {
  return { kind: 'createService', name, service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } };
}

const STALE_SERVICES = /^CacheStale: the operator does not see changes of .*services.*, and goes by what it saw last: /;

/** What the CloudProvider warns of. */
async function warning(): Promise<string | undefined> {
  const provider = await system.kube.get<CloudProvider & KubeObject>(CLOUD_PROVIDERS, 'local');
  const found = provider?.status?.conditions?.find(({ type, status }) => type === 'Warning' && status === 'True');
  return found === undefined ? undefined : `${found.reason}: ${found.message}`;
}

function answer(status: number, reason: string): Action {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message: 'says the test' });
  return { status, headers: status === 429 ? { 'retry-after': '1' } : {}, body };
}

test.each<[string, string, Action, RegExp]>([
  ['401', 'w401', answer(401, 'Unauthorized'), /: 401 Unauthorized: says the test/],
  ['403', 'w403', answer(403, 'Forbidden'), /: 403 Forbidden: says the test/],
  ['410', 'w410', answer(410, 'Expired'), /: 410 Expired: says the test/],
  ['429', 'w429', answer(429, 'TooManyRequests'), /: 429 TooManyRequests: says the test/],
  ['500', 'w500', answer(500, 'InternalError'), /: 500 InternalError: says the test/],
  ['a closed connection', 'cut', 'drop', /other side closed|socket|ECONNRESET/i],
])('%s for every list and watch', async (_what, name, action, reason) => {
  const { pid } = operator;
  const asked: Exchange[] = [];
  const refuse: Tap = (exchange, moment) => {
    if (moment !== 'request' || exchange.side !== 'api' || exchange.method !== 'GET') return 'pass';
    asked.push(exchange);
    return action;
  };
  operator.tap = operator.watchTap = refuse;
  operator.api.cut();
  await world.make({ kind: 'deleteService', name: world.services.at(-1)! });
  await world.make(service(name));
  await world.make({ kind: 'addNode', name: `node-${name}` });
  // Watches of kinds find out one after another: at first the warning names some of them.
  const said = async (): Promise<boolean> => {
    const told = (await warning()) ?? 'no warning';
    if (STALE_SERVICES.test(told) && reason.test(told)) return true;
    throw new Error(told);
  };
  await waitFor(said, { what: 'the CloudProvider to say so', timeoutMs: TOLD_MS });
  const times = new Map<string, number>();
  for (const { path } of asked) times.set(path, (times.get(path) ?? 0) + 1);
  expect([...times].filter(([, count]) => count > PER_PATH)).toEqual([]);
  expect(times.get('/api/v1/services')).toBeGreaterThan(2);

  operator.tap = operator.watchTap = () => 'pass';
  await world.settled([operator], RECOVERY_MS);
  expect([operator.running, operator.pid]).toEqual([true, pid]);
  await waitFor(async () => (await warning()) === undefined, { what: 'the warning to go', timeoutMs: RECOVERY_MS });
  const events = await system.kube.list<KubeObject & { reason: string }>(EVENTS, { fieldSelector: 'involvedObject.kind=CloudProvider' });
  expect(events.some((event) => event.reason === 'CacheStale')).toBe(true);
});
