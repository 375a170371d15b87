import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExternalPort } from '../../../dev/nodes/nodelet-protocol';
import type { Instance, LoadBalancer, TargetPool } from '../../../providers/local/api';
import { noPassthrough } from '../../../providers/local/cloud/data-plane/vpc/passthrough-probe';
import { CloudProcess, tierWorks } from './cloud-process';
import { echo, Load, request, until, type Endpoint } from './client';

const obstacle = tierWorks('vpc-root') ? noPassthrough('vpc-root') : 'not root';
const ran = obstacle === undefined ? test : test.skip;
const HEALTH_PORT = 32000;

describe(`passthrough: ${obstacle ?? 'vpc-root'}`, () => {
  let cloud: CloudProcess;
  let nodes: Instance[];
  let pools: { tcp: TargetPool; udp: TargetPool };
  let balancer: LoadBalancer;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    cloud = await CloudProcess.start('vpc-root', CloudProcess.newFolder('vpc-root'));
    nodes = await Promise.all([1, 2, 3].map((number) => cloud.addNode(number, ['IPv4', 'IPv6'])));
    const addresses = await Promise.all(
      (['IPv4', 'IPv6'] as const).map((family) => cloud.client.create('addresses', { name: family, family }, family, {})),
    );
    for (const node of nodes)
      await serve(
        node,
        addresses.map(({ ip }) => ip),
      );
    pools = { tcp: await addPool('TCP', 80), udp: await addPool('UDP', 53) };
    const listeners = [
      { name: 'http', protocol: 'TCP', port: 80, poolID: pools.tcp.id },
      { name: 'dns', protocol: 'UDP', port: 53, poolID: pools.udp.id },
    ];
    const spec = { name: 'through', mode: 'passthrough', addressIDs: addresses.map(({ id }) => id), listeners };
    balancer = await cloud.client.create('loadbalancers', spec, 'through', {});
    // The kernel follows a moment after the health is told.
    await until(async () => (await healthy()) === 3 && !(await refused()));
  }, 60_000);

  afterAll(async () => {
    if (obstacle === undefined) await cloud.remove();
  });

  /** As kube-proxy of a Service without node ports. */
  const serve = (node: Instance, ips: string[], localEndpoints = 1): Promise<void> => {
    const external = ips.flatMap((ip): ExternalPort[] => [
      { ip, port: 80, protocol: 'TCP' },
      { ip, port: 53, protocol: 'UDP' },
    ]);
    return cloud.nodelet(node).serve({ ports: [], healthChecks: [{ port: HEALTH_PORT, localEndpoints }], external });
  };
  const ips = () => [...new Set(balancer.hostPorts.map(({ ip }) => ip))];
  const targets = (members: Instance[], port: number) => members.map(({ id }) => ({ instanceID: id, port }));
  const addPool = (protocol: 'TCP' | 'UDP', port: number): Promise<TargetPool> => {
    const healthCheck = { protocol: 'HTTP', port: HEALTH_PORT, path: '/healthz', intervalMs: 500, timeoutMs: 500 };
    const spec = { name: protocol, protocol, healthCheck, drainMs: 60_000, failOpen: false, targets: targets(nodes, port) };
    return cloud.client.create('pools', spec, protocol, {});
  };
  /** How many nodes are healthy at all their addresses. */
  const healthy = async () => {
    const rows = (await cloud.client.get('pools', pools.tcp.id))?.health ?? [];
    return nodes.filter(({ id }) => {
      const own = rows.filter(({ instanceID }) => instanceID === id);
      return own.length === 2 && own.every(({ state }) => state === 'healthy');
    }).length;
  };
  const at = (listener: string, family = '.'): Endpoint =>
    balancer.hostPorts.find((port) => port.listener === listener && port.ip.includes(family))!;
  /** A reset in answer to the first packet. */
  const refused = () =>
    request(at('http')).then(
      () => false,
      (error: Error) => error.message.includes('ECONNREFUSED'),
    );
  const setTargets = (members: Instance[]) =>
    cloud.client.setTargets(
      pools.tcp.id,
      members.map(({ id }) => id),
      80,
      {},
    );
  const nodesSeen = async (to: Endpoint, count: number): Promise<string[]> => {
    const answers = await Promise.all(Array.from({ length: count }, () => request(to)));
    return [...new Set(answers.map(({ node }) => node))].sort();
  };
  /** This machine's address as the load balancer's clients have it. */
  const ownAddress = (to: string) =>
    (JSON.parse(spawnSync('ip', ['-json', 'route', 'get', to], { encoding: 'utf8' }).stdout) as { prefsrc: string }[])[0]?.prefsrc;

  ran('packets reach all nodes with the client’s own address, over both families, TCP and UDP, without a node port', async () => {
    for (const family of ['.', ':']) {
      const http = at('http', family);
      expect(await nodesSeen(http, 12)).toEqual(['node-1', 'node-2', 'node-3']);
      expect(await request(http)).toMatchObject({ client: ownAddress(http.ip), port: 80 });
      expect(await echo(at('dns', family), 'hello')).toMatch(/^node-\d: hello$/);
    }
    expect(at('http')).toMatchObject({ port: 80 });
  });

  ran('under load nodes leave and come back without a failed request, and an open connection outlives its node’s membership', async () => {
    const socket = connect(80, at('http').ip);
    await new Promise((resolve) => socket.once('connect', resolve));
    const load = new Load(at('http'), 4);
    try {
      for (const gone of nodes) {
        await setTargets(nodes.filter((node) => node !== gone));
        await load.more(40);
        await setTargets(nodes);
        await load.more(10, gone.name);
      }
    } finally {
      await load.stop();
    }
    expect(load.failures).toEqual([]);
    socket.write('GET / HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const data of socket) text += String(data);
    expect(text).toContain('"node":"node-');
  });

  ran('what is left when the drain is over is reset', async () => {
    await cloud.client.update('pools', pools.tcp.id, { drainMs: 100 }, {});
    await setTargets(nodes.slice(0, 1));
    await until(async () => (await cloud.client.get('pools', pools.tcp.id))?.health.every(({ state }) => state !== 'draining') === true);
    const socket = connect(80, at('http').ip);
    await new Promise((resolve) => socket.once('connect', resolve));
    await setTargets(nodes.slice(1));
    await until(async () => (await cloud.client.get('pools', pools.tcp.id))?.health.every(({ state }) => state !== 'draining') === true);
    const ended = new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
    // The kernel follows a moment later; a request without an end has no answer until then.
    const sending = setInterval(() => socket.write('GET'), 20);
    socket.once('close', () => clearInterval(sending));
    expect((await ended).code).toBe('ECONNRESET');
    await cloud.client.update('pools', pools.tcp.id, { drainMs: 60_000 }, {});
    await setTargets(nodes);
    await until(async () => (await healthy()) === 3);
  });

  ran('only nodes that answer the health check get traffic; without one clients are reset', async () => {
    const [first] = nodes;
    const load = new Load(at('http'), 4);
    try {
      await serve(first!, ips(), 0);
      await until(async () => (await healthy()) === 2);
      await load.more(20);
    } finally {
      await load.stop();
    }
    expect(load.failures).toEqual([]);
    await until(async () => !(await nodesSeen(at('http'), 12)).includes('node-1'));
    expect(await nodesSeen(at('http'), 12)).toEqual(['node-2', 'node-3']);
    for (const node of nodes) await serve(node, ips(), 0);
    await until(refused);
    expect(await healthy()).toBe(0);
    for (const node of nodes) await serve(node, ips(), 1);
    await until(async () => (await healthy()) === 3);
  });

  ran('refuses clients outside the source ranges', async () => {
    await cloud.client.update(
      'loadbalancers',
      balancer.id,
      { sourceRanges: ['198.51.100.0/24', `${ownAddress(at('http', ':').ip)}/128`] },
      {},
    );
    expect(await refused()).toBe(true);
    expect(await echo(at('dns'), 'x', { timeoutMs: 200 })).toBeUndefined();
    expect((await request(at('http', ':'))).node).toMatch(/^node-/);
    await cloud.client.update('loadbalancers', balancer.id, { sourceRanges: [] }, {});
    expect((await request(at('http'))).node).toMatch(/^node-/);
  });

  ran('a client stays with its node while others come and go, and moves when its own goes', async () => {
    await cloud.client.update('pools', pools.tcp.id, { affinityMs: 3_600_000 }, {});
    const [home, ...others] = await nodesSeen(at('http'), 8);
    expect(others).toEqual([]);
    const stranger = nodes.find(({ name }) => name !== home)!;
    await setTargets(nodes.filter((node) => node !== stranger));
    expect(await nodesSeen(at('http'), 8)).toEqual([home]);
    await setTargets(nodes);
    await until(async () => (await healthy()) === 3);
    expect(await nodesSeen(at('http'), 8)).toEqual([home]);
    await setTargets(nodes.filter(({ name }) => name !== home));
    const [next, ...more] = await nodesSeen(at('http'), 8);
    expect(more).toEqual([]);
    expect(next).not.toBe(home);
  });

  ran('a load balancer that is removed answers nobody, and leaves no rule', async () => {
    await cloud.client.remove('loadbalancers', balancer.id, {});
    await expect(request(at('http'), { timeoutMs: 1000 })).rejects.toThrow();
    const netns = (await cloud.admin.topology()).netns.find((name) => name.endsWith('-vpc'))!;
    const inside = (...command: string[]) => spawnSync('ip', ['netns', 'exec', netns, ...command], { encoding: 'utf8' }).stdout;
    await until(() => !inside('ip', 'rule').includes('fwmark'));
    expect(inside('nft', 'list', 'ruleset')).not.toMatch(/numgen|set l/);
  });
});

test('a tier that can’t says why, naming the field', async () => {
  const cloud = await CloudProcess.start('loopback', CloudProcess.newFolder('loopback'));
  try {
    const address = await cloud.client.create('addresses', { name: 'a' }, 'a', {});
    const spec = { name: 'through', mode: 'passthrough', addressIDs: [address.id], listeners: [] };
    await expect(cloud.client.create('loadbalancers', spec, 'through', {})).rejects.toMatchObject({
      code: 'Invalid',
      field: 'mode',
      message: expect.stringContaining('passthrough is not possible: the tier loopback has no network of its own') as string,
    });
  } finally {
    await cloud.remove();
  }
});

(tierWorks('vpc-root') ? test : test.skip)('without the program nft it is said what to install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-nft-'));
  try {
    for (const program of ['unshare', 'sh', 'ip']) {
      symlinkSync(spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim(), join(folder, program));
    }
    expect(noPassthrough('vpc-root', { PATH: folder })).toMatch(/nft: (command )?not found; install the package nftables/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
