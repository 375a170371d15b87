import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeletClient } from '../../../dev/nodes/nodelet-client';
import { compiled } from '../../../operator/entry';
import { noPassthrough } from '../../../providers/local/cloud/data-plane/vpc/passthrough-probe';
import { CloudProcess, tierWorks } from './cloud-process';
import type { Answer } from './client';
import { until } from './client';

const ran = tierWorks('vpc-root') ? test : test.skip;
const passes = tierWorks('vpc-root') && noPassthrough('netns') === undefined ? test : test.skip;

/** Three network namespaces as kind makes them: a bridge with its gateway, and two nodes that the cloud knows nothing of. */
const NETWORK = `t${process.pid}`;
const NODES = [1, 2].map((number) => ({
  name: `kind-${number}`,
  netns: `${NETWORK}-${number}`,
  ip: `172.30.0.1${number}`,
  later: `172.30.0.2${number}`,
  pods: `10.99.${number}.0/24`,
}));

const sh = (script: string) => {
  const { status, stderr } = spawnSync('sh', ['-ec', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};
const inside = (netns: string, ...command: string[]) => spawnSync('ip', ['netns', 'exec', netns, ...command], { encoding: 'utf8' }).stdout;
const GET = `require('http').get({host: process.argv[1], port: process.argv[2], agent: false, timeout: 3000}, (r) => r.pipe(process.stdout))`;
const get = (netns: string, ip: string, port: number): Answer | undefined => {
  const said = inside(netns, process.execPath, '-e', GET, ip, String(port));
  return said === '' ? undefined : (JSON.parse(said) as Answer);
};

let folder: string;
let cloud: CloudProcess;
let processes: ChildProcess[];
let nodelets: NodeletClient[];

beforeAll(async () => {
  if (!tierWorks('vpc-root')) return;
  folder = mkdtempSync(join(tmpdir(), 'kind-'));
  sh(`ip netns add ${NETWORK}; ip -n ${NETWORK} link set lo up
    ip -n ${NETWORK} link add kind0 type bridge; ip -n ${NETWORK} addr add 172.30.0.1/24 dev kind0; ip -n ${NETWORK} link set kind0 up
    ip -n ${NETWORK} route add default via 172.30.0.254`);
  for (const { netns, ip, later, pods } of NODES) {
    const link = `k${netns}`.slice(0, 15);
    sh(`ip netns add ${netns}; ip -n ${NETWORK} link add ${link} type veth peer name eth0 netns ${netns}; ip -n ${NETWORK} link set ${link} master kind0 up
      ip -n ${netns} link set lo up; ip -n ${netns} addr add ${ip}/24 dev eth0; ip -n ${netns} addr add ${later}/24 dev eth0; ip -n ${netns} link set eth0 up; ip -n ${netns} route add default via 172.30.0.1
      ip -n ${netns} link add cni0 type bridge; ip -n ${netns} addr add ${pods.replace('0/24', '1/24')} dev cni0; ip -n ${netns} link set cni0 up`);
  }
  processes = NODES.map(({ name, netns, ip, later, pods }) => {
    const socket = join(folder, name);
    const env = {
      PATH: process.env['PATH'],
      NODE_NAME: name,
      LOCALCLOUD_INSTANCE: name,
      LOCALCLOUD_ADDRESS: `${ip},${later}`,
      LOCALCLOUD_POD_CIDRS: pods,
      LOCALCLOUD_SOCKET: socket,
    };
    return spawn('ip', ['netns', 'exec', netns, process.execPath, compiled('dev/nodes/nodelet')], {
      env,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  });
  await until(() => NODES.every(({ name }) => existsSync(join(folder, name))));
  nodelets = NODES.map(({ name }) => new NodeletClient(join(folder, name), () => undefined));
  cloud = await CloudProcess.start('netns', CloudProcess.newFolder('netns'), { namespace: `/run/netns/${NETWORK}` });
}, 60_000);

afterAll(async () => {
  if (!tierWorks('vpc-root')) return;
  await cloud?.remove();
  for (const nodelet of nodelets ?? []) nodelet.close();
  for (const child of processes ?? []) child.kill('SIGKILL');
  for (const netns of [...NODES.map((node) => node.netns), NETWORK]) spawnSync('ip', ['netns', 'delete', netns]);
  rmSync(folder, { recursive: true, force: true });
});

const serve = (external: { ip: string; port: number; protocol: 'TCP' }[] = []) =>
  Promise.all(nodelets.map((nodelet) => nodelet.serve({ ports: [{ port: 30080, protocol: 'TCP' }], healthChecks: [], external })));

async function balance(name: string, port: number, mode: 'proxy' | 'passthrough'): Promise<string> {
  const targets = (await cloud.client.list('instances')).map(({ id }) => ({ instanceID: id, port }));
  const healthCheck = { protocol: 'TCP', port: 30080, intervalMs: 200 };
  const pool = await cloud.client.create('pools', { name, protocol: 'TCP', targets, healthCheck }, name, {});
  const address = await cloud.client.create('addresses', { name }, name, {});
  const listeners = [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }];
  await cloud.client.create('loadbalancers', { name, mode, addressIDs: [address.id], listeners }, name, {});
  return address.ip;
}

const seen = (netns: string, ip: string) => new Set(Array.from({ length: 6 }, () => get(netns, ip, 80)?.node));

ran('machines of others are registered with their addresses, and get the traffic of load balancers in their network', async () => {
  await expect(cloud.client.create('instances', { name: 'x' }, 'x', {})).rejects.toMatchObject({ code: 'Invalid', field: 'addresses' });
  for (const { name, ip, pods } of NODES) {
    const made = await cloud.client.create('instances', { name, addresses: [ip], podCIDRs: [pods] }, name, {});
    expect(made).toMatchObject({ addresses: [{ family: 'IPv4', ip }], providerID: `local:///local-a/${made.id}` });
  }
  await serve();
  const ip = await balance('web', 30080, 'proxy');
  await until(() => seen(NETWORK, ip).size === 2);
  expect(get(NODES[0]!.netns, ip, 80)?.node).toMatch(/^kind-/);
});

passes('packets are handed on as they are there too, from a machine and from the network’s own processes', async () => {
  const ip = await balance('through', 80, 'passthrough');
  await serve([{ ip, port: 80, protocol: 'TCP' }]);
  await until(() => seen(NETWORK, ip).size === 2);
  expect(get(NETWORK, ip, 80)?.client).toBe('172.30.0.1');
});

passes('a target to which no way leads keeps nothing from the others, while it is there and afterwards', async () => {
  const [balancer] = await cloud.client.list('loadbalancers', { name: 'through' });
  const [pool] = await cloud.client.list('pools', { name: 'through' });
  const ip = balancer!.hostPorts[0]!.ip;
  const machines = (await cloud.client.list('instances')).map(({ id }) => id);
  const lost = await cloud.client.create('instances', { name: 'lost', addresses: ['192.0.2.9'], podCIDRs: [] }, 'lost', {});
  const setTargets = (...ids: string[]) => cloud.client.setTargets(pool!.id, ids, 80, {});
  for (const others of [[lost.id], []]) {
    await setTargets(...machines, ...others);
    await until(() => seen(NETWORK, ip).size === 2);
    await setTargets(machines[0]!, ...others);
    await until(() => seen(NETWORK, ip).size === 1);
  }
  await setTargets(...machines);
  await until(() => seen(NETWORK, ip).size === 2);
  await cloud.client.remove('instances', lost.id, {});
});

ran('routes to their pods stand in that network', async () => {
  const fetchPod = () => nodelets[0]!.fetchPod({ ip: '10.99.2.2', port: 8080, timeoutMs: 1000 });
  await expect(fetchPod()).rejects.toThrow();
  for (const { id, name, podCIDRs } of await cloud.client.list('instances')) {
    await cloud.client.create('routes', { name, routeTableID: 'rtb-main', destinationCIDR: podCIDRs[0], instanceID: id }, name, {});
  }
  await until(async () => (await fetchPod().catch(() => '')).includes('kind-2'));
});

ran('a machine’s new address reaches the load balancers’ targets and the routes to its pods', async () => {
  const { ip, later, netns, name } = NODES[1]!;
  const [machine] = await cloud.client.list('instances', { name });
  await cloud.client.update('instances', machine!.id, { addresses: [later] }, {});
  sh(
    `ip -n ${netns} addr del ${ip}/24 dev eth0; ip -n ${netns} addr replace ${later}/24 dev eth0; ip -n ${netns} route replace default via 172.30.0.1`,
  );
  const web = (await cloud.client.list('loadbalancers')).find((balancer) => balancer.name === 'web')!;
  await until(() => seen(NETWORK, web.hostPorts[0]!.ip).size === 2);
  expect(inside(NETWORK, 'ip', 'route', 'show', 'proto', '77')).toContain(`10.99.2.0/24 via ${later}`);
});

ran('killed and started again it goes on; when it ends, nothing of it is left in their network', async () => {
  const { directory } = cloud;
  const [balancer] = await cloud.client.list('loadbalancers');
  await cloud.end('SIGKILL');
  cloud = await CloudProcess.start('netns', directory, { namespace: `/run/netns/${NETWORK}` });
  await until(() => seen(NETWORK, balancer!.hostPorts[0]!.ip).size === 2);
  expect(await cloud.end('SIGTERM')).toBe(0);
  expect(inside(NETWORK, 'ip', 'route').trim().split('\n')).toEqual([
    expect.stringContaining('default via 172.30.0.254'),
    expect.stringContaining('172.30.0.0/24 dev kind0'),
  ]);
  expect(inside(NETWORK, 'ip', '-brief', 'address', 'show', 'dev', 'lo')).not.toContain('10.2');
  expect(inside(NETWORK, 'ip', 'rule')).not.toContain('fwmark');
  expect(inside(NETWORK, 'ip', 'address')).toContain('172.30.0.1/24');
});
