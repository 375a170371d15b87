import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { Engine } from '../../../providers/local/cloud/data-plane/engine/engine';
import { Backend } from './backend';
import { echo, request, until, type Endpoint } from './client';
import { loadBalancerPlan } from './plans';

const HOUR_MS = 3_600_000;

let engine: Engine;
let backends: Backend[];
/** By how much the engine's time is ahead. */
let ahead = 0;

beforeEach(async () => {
  ahead = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  engine = new Engine({ clock, logger: silentLogger, offsetPorts: true });
  const first = await Backend.start('n1', '127.99.2.1');
  backends = [first, await Backend.start('n2', '127.99.2.2', first.port), await Backend.start('n3', '127.99.2.3', first.port)];
});

afterEach(async () => {
  await engine.close();
  await Promise.all(backends.map((backend) => backend.stop()));
});

async function apply(members: Backend[], affinityMs = HOUR_MS): Promise<{ http: Endpoint; udp: Endpoint }> {
  const ports = await engine.applyLoadBalancer(loadBalancerPlan(members, { ips: ['127.99.2.9'] }, { affinityMs }));
  const find = (name: string): Endpoint => ports.find(({ listener }) => listener === name)!;
  return { http: find('http'), udp: find('dns') };
}

/** The nodes that answer a client's next connections. */
async function nodesOf(to: Endpoint, client: string, connections = 6): Promise<string[]> {
  const nodes = new Set<string>();
  for (let i = 0; i < connections; i++) nodes.add((await request(to, { localAddress: client })).node);
  return [...nodes].sort();
}

const healthy = (poolID = 'pool-1') =>
  engine
    .health()
    .get(poolID)
    ?.filter(({ state }) => state === 'healthy').length;

test('each client stays with one node, clients are spread over all, and a member change moves only those whose node is gone', async () => {
  const { http } = await apply(backends);
  await until(() => healthy() === 3);
  const clients = Array.from({ length: 6 }, (_unused, index) => `127.0.0.${10 + index}`);
  const homes = new Map<string, string>();
  for (const client of clients) {
    const nodes = await nodesOf(http, client);
    expect(nodes).toHaveLength(1);
    homes.set(client, nodes[0]!);
  }
  expect(new Set(homes.values())).toEqual(new Set(['n1', 'n2', 'n3']));

  await apply(backends.slice(0, 2));
  for (const client of clients) {
    const home = homes.get(client)!;
    const [node, ...more] = await nodesOf(http, client);
    expect(more).toEqual([]);
    if (home === 'n3') expect(node).toMatch(/^n[12]$/);
    else expect(node).toBe(home);
    homes.set(client, node!);
  }

  await apply(backends);
  await until(() => healthy() === 3);
  for (const client of clients) expect(await nodesOf(http, client)).toEqual([homes.get(client)]);
});

test('a client whose node fails goes to another and stays there', async () => {
  const { http } = await apply(backends);
  await until(() => healthy() === 3);
  const [home] = await nodesOf(http, '127.0.0.20');
  await backends.find(({ name }) => name === home)!.stop();
  const [next, ...more] = await nodesOf(http, '127.0.0.20');
  expect(more).toEqual([]);
  expect(next).not.toBe(home);
});

test('the time counts from the last connection; without affinity there is none', async () => {
  const { http } = await apply(backends);
  await until(() => healthy() === 3);
  const [home] = await nodesOf(http, '127.0.0.30');
  for (let i = 0; i < 3; i++) {
    ahead += HOUR_MS / 2;
    expect(await nodesOf(http, '127.0.0.30', 1)).toEqual([home]);
  }
  ahead += HOUR_MS;
  const after = await nodesOf(http, '127.0.0.30', 1);
  expect(after).not.toEqual([home]);
  await apply(backends, 0);
  expect(await nodesOf(http, '127.0.0.30', 6)).toEqual(['n1', 'n2', 'n3']);
});

test('a UDP client stays with its node over all its ports', async () => {
  const { udp } = await apply(backends);
  await until(() => healthy('pool-1') === 3);
  const nodes = new Map<string, Set<string | undefined>>();
  for (const client of ['127.0.0.40', '127.0.0.41', '127.0.0.42']) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => echo(udp, 'x', { localAddress: client })));
    nodes.set(client, new Set(answers.map((answer) => answer?.split(':')[0])));
  }
  expect([...nodes.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
  expect(new Set([...nodes.values()].flatMap((of) => [...of]))).toEqual(new Set(['n1', 'n2', 'n3']));
});
