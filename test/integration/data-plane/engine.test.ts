import { Agent } from 'node:http';
import { connect } from 'node:net';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { Engine } from '../../../providers/local/cloud/data-plane/engine/engine';
import { Backend } from './backend';
import { echo, Load, request, until, type Endpoint } from './client';
import { LB, loadBalancerPlan as plan, poolPlan as pool } from './plans';

let engine: Engine;
let backends: Backend[];
let load: Load | undefined;

beforeEach(async () => {
  engine = new Engine({ clock: systemClock, logger: silentLogger, offsetPorts: true });
  const first = await Backend.start('n1', '127.99.1.1');
  backends = [first, await Backend.start('n2', '127.99.1.2', first.port), await Backend.start('n3', '127.99.1.3', first.port)];
});

/** Every test must close what it opened: descriptors of TCP connections that nobody uses would keep the process alive. */
const openConnections = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

afterEach(async () => {
  await load?.stop();
  load = undefined;
  await engine.close();
  await Promise.all(backends.map((backend) => backend.stop()));
  await until(() => openConnections() === 0);
});

async function apply(...args: Parameters<typeof plan>): Promise<{ http: Endpoint; udp: Endpoint }> {
  const ports = await engine.applyLoadBalancer(plan(...args));
  const find = (name: string) => ports.find((port) => port.listener === name) ?? { ip: '', port: 0 };
  return { http: find('http'), udp: find('dns') };
}

const stateOf = (id: string, poolID = 'pool-1') =>
  engine
    .health()
    .get(poolID)
    ?.find((row) => row.instanceID === id);

async function spread(to: Endpoint, count: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const { node } = await request(to);
    counts[node] = (counts[node] ?? 0) + 1;
  }
  return counts;
}

const allHealthy = () => until(() => backends.every(({ name }) => stateOf(name)?.state === 'healthy'));

test('spreads TCP connections evenly, and is usable at once', async () => {
  const { http } = await apply(backends);
  await request(http);
  await allHealthy();
  expect(await spread(http, 30)).toEqual({ n1: 10, n2: 10, n3: 10 });
});

test('relays UDP both ways, each client to one target', async () => {
  const { udp } = await apply(backends);
  const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => echo(udp, `hello ${i}`)));
  expect(answers.map((answer) => answer?.split(':')[1])).toEqual(Array.from({ length: 9 }, (_, i) => `hello ${i}`));
  expect(new Set(answers.map((answer) => answer?.split(':')[0]))).toEqual(new Set(['n1', 'n2', 'n3']));
});

test('a UDP target where nobody listens is passed over without losing the datagram', async () => {
  await backends[1]?.stop();
  const { udp } = await apply(backends);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => echo(udp, `${i}`)));
  expect(new Set(answers.map((answer) => answer?.split(':')[0]))).toEqual(new Set(['n1', 'n3']));
});

test('refuses clients outside the source ranges, TCP by a reset and UDP by silence; a change holds at once', async () => {
  const { http, udp } = await apply(backends, { sourceRanges: ['127.0.0.2/32'] });
  await expect(request(http)).rejects.toThrow('ECONNRESET');
  expect((await request(http, { localAddress: '127.0.0.2' })).node).toMatch(/^n/);
  expect(await echo(udp, 'x', { timeoutMs: 300 })).toBeUndefined();
  expect(await echo(udp, 'x', { localAddress: '127.0.0.2' })).toMatch(/:x$/);
  await apply(backends, { sourceRanges: [] });
  expect((await request(http)).node).toMatch(/^n/);
});

test('listeners of several owners on one load balancer: each with its own addresses and source ranges', async () => {
  const other = '127.99.0.2';
  const [http] = plan(backends).listeners;
  const open = { ...http!, sourceRanges: [] };
  const closed = { ...http!, name: 'closed', port: 8081, sourceRanges: ['127.0.0.2/32'] };
  const elsewhere = { ...http!, name: 'elsewhere', ips: [other] };
  const listeners = [{ ...open, ips: [LB] }, closed, elsewhere];
  const ports = await engine.applyLoadBalancer(plan(backends, { ips: [LB, other], sourceRanges: ['10.0.0.0/8'], listeners }));
  const at = (name: string) => ports.filter(({ listener }) => listener === name);
  expect(at('http').map(({ ip }) => ip)).toEqual([LB]);
  expect((await request(at('http')[0]!)).node).toMatch(/^n/);
  expect(at('closed').map(({ ip }) => ip)).toEqual([LB, other]);
  await expect(request(at('closed')[0]!)).rejects.toThrow('ECONNRESET');
  expect((await request(at('closed')[0]!, { localAddress: '127.0.0.2' })).node).toMatch(/^n/);
  expect(at('elsewhere').map(({ ip }) => ip)).toEqual([other]);
  await expect(request(at('elsewhere')[0]!)).rejects.toThrow('ECONNRESET');
});

test('a source range that is none is refused, and what was there goes on', async () => {
  const { http } = await apply(backends);
  await expect(apply(backends, { sourceRanges: ['10.0.0.0/33'] })).rejects.toMatchObject({ code: 'Invalid' });
  expect((await request(http)).node).toMatch(/^n/);
});

test('an HTTP health check takes a target out after its threshold and back in', async () => {
  const healthCheck = {
    protocol: 'HTTP' as const,
    path: '/healthz',
    intervalMs: 50,
    timeoutMs: 1000,
    healthyThreshold: 2,
    unhealthyThreshold: 2,
  };
  const { http } = await apply(backends, {}, { healthCheck });
  await allHealthy();
  const [first] = backends;
  if (first === undefined) throw new Error('no backend');
  first.healthy = false;
  await until(() => stateOf('n1')?.state === 'unhealthy');
  expect(stateOf('n1')?.reason).toBe('HTTP 503');
  expect(Object.keys(await spread(http, 12)).sort()).toEqual(['n2', 'n3']);
  first.healthy = true;
  await until(() => stateOf('n1')?.state === 'healthy');
  expect(Object.keys(await spread(http, 12)).sort()).toEqual(['n1', 'n2', 'n3']);
});

test('when all checks fail all targets are tried', async () => {
  const healthCheck = { ...pool([]).healthCheck, port: 1 };
  const { http } = await apply(backends, {}, { healthCheck });
  await until(() => backends.every(({ name }) => stateOf(name)?.state === 'unhealthy'));
  expect(Object.keys(await spread(http, 6)).sort()).toEqual(['n1', 'n2', 'n3']);
});

test('without a target the client is reset, and served as soon as there is one', async () => {
  const { http } = await apply([]);
  await expect(request(http)).rejects.toThrow('ECONNRESET');
  await apply(backends);
  expect((await request(http)).node).toMatch(/^n/);
});

test('a removed target finishes what it has and gets nothing new', async () => {
  const [first] = backends;
  if (first === undefined) throw new Error('no backend');
  first.held = [];
  const { http } = await apply([first]);
  const slow = request(http);
  await until(() => first.held?.length === 1);
  await apply(backends.slice(1));
  expect(stateOf('n1')).toMatchObject({ state: 'draining', connections: 1 });
  expect(Object.keys(await spread(http, 6)).sort()).toEqual(['n2', 'n3']);
  first.held[0]?.();
  expect((await slow).node).toBe('n1');
  await until(() => stateOf('n1') === undefined);
});

test('after the drain time what is left is cut', async () => {
  const [first] = backends;
  if (first === undefined) throw new Error('no backend');
  first.held = [];
  const { http } = await apply([first], {}, { drainMs: 200 });
  const slow = request(http);
  const ended = expect(slow).rejects.toThrow('ECONNRESET');
  await until(() => first.held?.length === 1);
  await apply(backends.slice(1), {}, { drainMs: 200 });
  await ended;
  expect(stateOf('n1')).toBeUndefined();
});

test('a target that comes back while draining keeps its connections', async () => {
  const [first] = backends;
  if (first === undefined) throw new Error('no backend');
  first.held = [];
  const { http } = await apply([first], {}, { drainMs: 300 });
  const slow = request(http);
  await until(() => first.held?.length === 1);
  await apply(backends.slice(1), {}, { drainMs: 300 });
  await apply(backends, {}, { drainMs: 300 });
  await new Promise((resolve) => setTimeout(resolve, 400));
  first.held[0]?.();
  expect((await slow).node).toBe('n1');
});

test('adding, changing and removing listeners leaves the connections of the others alone', async () => {
  const { http } = await apply(backends);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await request(http, { agent });
  const two = plan(backends);
  two.listeners.push({ name: 'alt', protocol: 'TCP', port: 8081, idleTimeoutMs: 1000, pool: pool(backends.slice(0, 1), { id: 'pool-3' }) });
  const ports = await engine.applyLoadBalancer(two);
  expect(await spread(ports.find((port) => port.listener === 'alt') ?? http, 3)).toEqual({ n1: 3 });
  const one = plan(backends);
  one.listeners.splice(1);
  await engine.applyLoadBalancer(one);
  await expect(request({ ip: LB, port: 8081 })).rejects.toThrow('ECONNREFUSED');
  // The same connection, so the same node, whatever the turn.
  expect(await request(http, { agent })).toEqual(before);
  expect([...engine.health().keys()]).toEqual(['pool-1']);
  agent.destroy();
});

test('ports that are taken are offered with an offset', async () => {
  const taken = await Backend.start('other', LB, 8080);
  const { http } = await apply(backends);
  expect(http).toMatchObject({ ip: LB, port: 16080 });
  expect((await request(http)).node).toMatch(/^n/);
  await taken.stop();
});

test('a silent connection is ended after the idle time', async () => {
  const idle = plan(backends);
  for (const listener of idle.listeners) listener.idleTimeoutMs = 150;
  const [port] = await engine.applyLoadBalancer(idle);
  const socket = connect(port?.port ?? 0, port?.ip);
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
  expect(error.code).toBe('ECONNRESET');
  await until(() => backends.every(({ name }) => stateOf(name)?.connections === 0));
});

test('half-closed connections still carry the answer', async () => {
  const { http } = await apply(backends);
  const socket = connect({ host: http.ip, port: http.port, allowHalfOpen: true });
  socket.end('GET / HTTP/1.0\r\n\r\n');
  let text = '';
  for await (const data of socket) text += String(data);
  expect(text).toContain('"node":"n');
});

test('a client that does not read is cut in the end, and no descriptor stays', async () => {
  const [first] = backends;
  if (first === undefined) throw new Error('no backend');
  const { http } = await apply([first], {}, { drainMs: 100 });
  const socket = connect(http.port, http.ip);
  socket.write('GET /flood HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(() => first.flooding);
  await apply(backends.slice(1), {}, { drainMs: 100 });
  await until(() => stateOf('n1') === undefined && !first.flooding);
  socket.destroy();
});

test('a removed load balancer refuses, cuts what it had and leaves nothing', async () => {
  const { http } = await apply(backends);
  const socket = connect(http.port, http.ip);
  await new Promise((resolve) => socket.once('connect', resolve));
  const cut = new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
  await engine.removeLoadBalancer('lb-1');
  expect((await cut).code).toBe('ECONNRESET');
  await expect(request(http)).rejects.toThrow('ECONNREFUSED');
  expect(engine.health().size).toBe(0);
  await engine.removeLoadBalancer('lb-1');
});

test('under constant load a target is removed and comes back ten times, one dies and returns: no request fails', async () => {
  const [first, second, third] = backends;
  if (first === undefined || second === undefined || third === undefined) throw new Error('no backends');
  const { http } = await apply(backends);
  await allHealthy();
  load = new Load(http, 8);
  for (let round = 0; round < 10; round++) {
    await apply([second, third]);
    await load.more(50);
    await apply(backends);
    await load.more(10, 'n1');
  }
  // Nobody listens any more, and nobody has told the load balancer; in-flight requests end first, as on an orderly shutdown.
  first.held = undefined;
  await apply([second, third]);
  await until(() => stateOf('n1') === undefined);
  await first.stop();
  await apply(backends);
  await load.more(200);
  backends[0] = await Backend.start('n1', first.address, first.port);
  await load.more(50, 'n1');
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(load.answered).toBeGreaterThan(800);
});
