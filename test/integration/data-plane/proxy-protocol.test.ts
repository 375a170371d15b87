import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import type { PoolPlan } from '../../../providers/local/cloud/data-plane';
import { Engine } from '../../../providers/local/cloud/data-plane/engine/engine';
import { until, type Endpoint } from './client';
import { loadBalancerPlan } from './plans';

const LB = '127.99.3.9';
const SIGNATURE = '0d0a0d0a000d0a515549540a';

/** What a target was sent on one connection: the header, taken apart, and the rest. */
interface Received {
  header: string;
  rest: string;
}

let engine: Engine;
let server: Server;
let received: Received[];

/** A target that speaks the PROXY protocol: it answers what came behind the header, and HTTP with 200. */
beforeEach(async () => {
  received = [];
  server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (data) => {
      const { header, rest } = takeApart(data);
      if (rest !== '') return answer(socket, header, rest);
      socket.once('data', (more) => answer(socket, header, more.toString()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.99.3.1', resolve));
  engine = new Engine({ clock: systemClock, logger: silentLogger, offsetPorts: true });
});

afterEach(async () => {
  await engine.close();
  await new Promise((resolve) => server.close(resolve));
});

function answer(socket: Socket, header: string, rest: string): void {
  received.push({ header, rest });
  socket.end(rest.startsWith('GET ') ? 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' : `got ${rest}`);
}

/** Written from the protocol's specification, apart from the engine's own code. */
function takeApart(data: Buffer): Received {
  if (data.subarray(0, 12).toString('hex') !== SIGNATURE) {
    const end = data.indexOf('\r\n');
    return { header: data.subarray(0, end).toString(), rest: data.subarray(end + 2).toString() };
  }
  const length = data.readUInt16BE(14);
  const [command = 0, family = 0] = data.subarray(12, 14);
  const body = data.subarray(16, 16 + length);
  const size = family === 0x11 ? 4 : 16;
  const address = (at: number): string =>
    size === 4 ? [...body.subarray(at, at + 4)].join('.') : body.subarray(at, at + 16).toString('hex');
  const ports = length === 0 ? [] : [body.readUInt16BE(2 * size), body.readUInt16BE(2 * size + 2)];
  const ends = length === 0 ? [] : [address(0), address(size)];
  return { header: [command.toString(16), family.toString(16), ...ends, ...ports].join(' '), rest: data.subarray(16 + length).toString() };
}

async function apply(pool: Partial<PoolPlan>, ips = [LB]): Promise<Endpoint[]> {
  const { address, port } = server.address() as AddressInfo;
  const plan = loadBalancerPlan([], { ips }, { ...pool, targets: [{ instanceID: 'n1', addresses: [address], port }] });
  plan.listeners.splice(1);
  return engine.applyLoadBalancer(plan);
}

/** Says hello from `localAddress`. @returns the client's port and the answer */
async function say(to: Endpoint, localAddress: string): Promise<{ port: number; text: string }> {
  const socket = connect({ host: to.ip, port: to.port, localAddress });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const port = socket.localPort ?? 0;
  socket.write('hello');
  let text = '';
  for await (const data of socket) text += String(data);
  return { port, text };
}

const hello = (): Received | undefined => received.find(({ rest }) => rest === 'hello');

test('v2 tells the client’s address and the load balancer’s, before the client’s own bytes', async () => {
  const [http] = await apply({ proxyProtocol: 'v2' });
  const { port, text } = await say(http!, '127.0.0.77');
  expect(text).toBe('got hello');
  expect(hello()?.header).toBe(`21 11 127.0.0.77 ${LB} ${port} ${http!.port}`);
});

test('v1 does in words; without it the target gets the client’s bytes alone; a change counts for the next connection', async () => {
  const [http] = await apply({ proxyProtocol: 'v1' });
  const { port, text } = await say(http!, '127.0.0.78');
  expect(text).toBe('got hello');
  expect(hello()?.header).toBe(`PROXY TCP4 127.0.0.78 ${LB} ${port} ${http!.port}`);
  received = [];
  await apply({ proxyProtocol: 'none' });
  const plain = connect({ host: http!.ip, port: http!.port });
  plain.write('only this\r\nhello');
  await until(() => received.length === 1);
  expect(received).toEqual([{ header: 'only this', rest: 'hello' }]);
  plain.destroy();
});

test('IPv6 clients are told in IPv6, also where the target is reached over IPv4', async () => {
  const [first] = await apply({ proxyProtocol: 'v2' }, ['::1']);
  const { port } = await say(first!, '::1');
  const one = `${'0'.repeat(31)}1`;
  expect(hello()?.header).toBe(`21 21 ${one} ${one} ${port} ${first!.port}`);
  received = [];
  await apply({ proxyProtocol: 'v1' }, ['::1']);
  const again = await say(first!, '::1');
  expect(hello()?.header).toBe(`PROXY TCP6 ::1 ::1 ${again.port} ${first!.port}`);
});

test.each([
  ['v1', 'PROXY UNKNOWN'],
  ['v2', '20 0'],
] as const)('an HTTP check of the target’s own port says %s that it is nobody’s connection', async (proxyProtocol, expected) => {
  const healthCheck = {
    protocol: 'HTTP' as const,
    path: '/healthz',
    intervalMs: 50,
    timeoutMs: 1000,
    healthyThreshold: 1,
    unhealthyThreshold: 1,
  };
  await apply({ proxyProtocol, healthCheck });
  await until(() => engine.health().get('pool-1')?.[0]?.state === 'healthy');
  expect(received[0]?.header).toBe(expected);
  expect(received[0]?.rest).toMatch(/^GET \/healthz HTTP\/1\.1\r\n/);
});
