import type { Family, Instance, LoadBalancer, TargetPool } from '../../../providers/local/api';
import type { Tier } from '../../../providers/local/cloud/data-plane/index';
import { CloudProcess, kernelPartsOf, processesOf, tierWorks } from './cloud-process';
import { echo, Load, request, until } from './client';

const TIERS: Tier[] = ['vpc-root', 'vpc-userns', 'loopback'];

describe.each(TIERS)('tier %s', (tier) => {
  const works = tierWorks(tier);
  const ran = works ? test : test.skip;
  // A host has only one IPv6 loopback address: too few for machines.
  const families: Family[] = tier === 'loopback' ? ['IPv4'] : ['IPv4', 'IPv6'];
  let cloud: CloudProcess;
  let nodes: Instance[];
  let tcp: TargetPool;
  let loadBalancer: LoadBalancer;

  beforeAll(async () => {
    if (!works) return;
    cloud = await CloudProcess.start(tier, CloudProcess.newFolder(tier));
    nodes = await Promise.all([1, 2, 3].map((number) => cloud.addNode(number, families)));
    tcp = await cloud.addPool('TCP', 30080, nodes);
    loadBalancer = await cloud.addLoadBalancer(tcp, await cloud.addPool('UDP', 30053, nodes));
  }, 60_000);

  afterAll(async () => {
    if (works) await cloud.remove();
  });

  const http = () => cloud.endpoint(loadBalancer, 'http');
  const setTargets = (members: Instance[]) =>
    cloud.client.setTargets(
      tcp.id,
      members.map(({ id }) => id),
      30080,
      {},
    );
  const fetchPod = (from: number, to: number, podNetwork: string, timeoutMs = 1000) => {
    const instance = nodes[from - 1];
    if (instance === undefined) throw new Error('no such node');
    return cloud.nodelet(instance).fetchPod({ ip: `${podNetwork}${to}${podNetwork.includes(':') ? '::' : '.'}2`, port: 8080, timeoutMs });
  };
  const addRoute = (number: number, destinationCIDR = `10.244.${number}.0/24`) => {
    const spec = {
      name: `route-${destinationCIDR}`,
      routeTableID: 'rtb-main',
      destinationCIDR,
      instanceID: nodes[number - 1]?.id,
    };
    return cloud.client.create('routes', spec, `route-${number}-${Math.random()}`, {});
  };
  const reaches = (from: number, to: number, podNetwork = '10.244.') =>
    fetchPod(from, to, podNetwork).then(
      (body) => body.includes(`node-${to}`),
      () => false,
    );

  ran('is the tier that was asked for, and says so', () => {
    expect(cloud.tier).toBe(tier);
    expect(cloud.reason).toContain(tier);
  });

  ran('answers TCP from all nodes, and UDP', async () => {
    const seen = new Set<string>();
    await until(async () => seen.add((await request(http())).node).size === 3);
    const dns = cloud.endpoint(loadBalancer, 'dns');
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => echo(dns, `hello ${i}`)));
    expect(answers.map((answer) => answer?.replace(/^node-\d: /, ''))).toEqual(Array.from({ length: 6 }, (_, i) => `hello ${i}`));
  });

  ran('refuses clients outside the source ranges, and takes them back', async () => {
    await cloud.client.update('loadbalancers', loadBalancer.id, { sourceRanges: ['198.51.100.0/24'] }, {});
    await until(() =>
      request(http()).then(
        () => false,
        (error: Error) => error.message.includes('ECONNRESET'),
      ),
    );
    expect(await echo(cloud.endpoint(loadBalancer, 'dns'), 'x', { timeoutMs: 300 })).toBeUndefined();
    // Where this machine's clients come from: its loopback addresses, or its end of the link to the VPC.
    await cloud.client.update('loadbalancers', loadBalancer.id, { sourceRanges: ['127.0.0.0/8', '10.208.0.0/14'] }, {});
    await until(() =>
      request(http()).then(
        () => true,
        () => false,
      ),
    );
    await cloud.client.update('loadbalancers', loadBalancer.id, { sourceRanges: [] }, {});
  });

  ran('lets no request fail while a target is removed and comes back five times under load', async () => {
    const load = new Load(http(), 8);
    try {
      for (let round = 0; round < 5; round++) {
        await setTargets(nodes.slice(1));
        await load.more(100);
        await setTargets(nodes);
        await load.more(10, 'node-1');
      }
    } finally {
      await load.stop();
    }
    expect(load.failures).toEqual([]);
    expect(load.answered).toBeGreaterThan(500);
  });

  ran('passes a node over that has been switched off', async () => {
    const [first] = nodes;
    if (first === undefined) throw new Error('no node');
    await cloud.client.update('instances', first.id, { power: 'stopped' }, {});
    await until(
      async () =>
        (await cloud.client.get('pools', tcp.id))?.health.find(({ instanceID }) => instanceID === first.id)?.state === 'unhealthy',
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => request(http())));
    expect(new Set(answers.map(({ node }) => node))).toEqual(new Set(['node-2', 'node-3']));
    await cloud.client.update('instances', first.id, { power: 'running' }, {});
    await until(async () => (await request(http())).node === 'node-1');
  });

  ran('carries pods by the route table alone: no route, no way; a route that is broken behind the cloud too', async () => {
    expect(await reaches(1, 3)).toBe(false);
    await addRoute(1);
    await addRoute(3);
    await until(() => reaches(1, 3));
    expect(await reaches(3, 1)).toBe(true);
    const [, there] = await cloud.client.list('routes');
    expect(there?.enforced).toBe(tier === 'loopback' ? 'userland' : 'kernel');
    await cloud.admin.drift({ kind: 'deleteKernelRoute', destinationCIDR: '10.244.3.0/24' });
    expect(await reaches(1, 3)).toBe(false);
    await cloud.admin.drift({ kind: 'deleteRoute', destinationCIDR: '10.244.3.0/24' });
    expect(await reaches(1, 3)).toBe(false);
    await addRoute(3);
    await until(() => reaches(1, 3));
  });

  ran('answers on addresses of both families, reaches the nodes by the client’s family, and knows ranges of both', async () => {
    const addresses = await Promise.all(
      (['IPv4', 'IPv6'] as const).map((family) => cloud.client.create('addresses', { name: `dual-${family}`, family }, family, {})),
    );
    expect(addresses.map(({ family, ip }) => [family, ip.includes(':')])).toEqual([
      ['IPv4', false],
      ['IPv6', true],
    ]);
    const udp = await cloud.addPool('UDP', 30053, nodes, 'dual-udp');
    const listeners = [
      { name: 'http', protocol: 'TCP', port: 80, poolID: tcp.id },
      { name: 'dns', protocol: 'UDP', port: 53, poolID: udp.id },
    ];
    const spec = { name: 'dual', addressIDs: addresses.map(({ id }) => id), listeners };
    const { id } = await cloud.client.create('loadbalancers', spec, 'dual', {});
    const dual = await cloud.whenReady(
      () => cloud.client.get('loadbalancers', id),
      ({ hostPorts }) => hostPorts.length === 4,
    );
    // In the order of the addresses.
    const [narrow, wide] = dual.hostPorts.filter(({ listener }) => listener === 'http');
    const wideDns = dual.hostPorts.filter(({ listener }) => listener === 'dns')[1];
    await until(async () => (await request(narrow!).catch(() => undefined))?.client.includes(':') === false);
    await until(async () => (await request(wide!).catch(() => undefined))?.client.includes(':') === families.includes('IPv6'));
    expect(await echo(wideDns!, 'six')).toMatch(/^node-\d: six$/);

    await cloud.client.update('loadbalancers', id, { sourceRanges: ['2001:db8::/32'] }, {});
    await expect(request(wide!)).rejects.toThrow('ECONNRESET');
    await cloud.client.update('loadbalancers', id, { sourceRanges: ['2001:db8::/32', '::1/128', 'fd00::/8', '127.0.0.0/8'] }, {});
    expect((await request(wide!)).node).toMatch(/^node-/);

    await cloud.client.update('loadbalancers', id, { addressIDs: [addresses[0]!.id] }, {});
    // Refused where the listener is closed, unreachable where the address has left with it.
    await expect(request(wide!)).rejects.toThrow(/ECONNREFUSED|ENETUNREACH/);
    await cloud.client.remove('loadbalancers', id, {});
    await cloud.client.remove('pools', udp.id, {});
  });

  (works && families.includes('IPv6') ? test : test.skip)('carries pods of IPv6 by routes of IPv6', async () => {
    const network = 'fd00:10:244:';
    expect(await reaches(1, 3, network)).toBe(false);
    await addRoute(1, `${network}1::/64`);
    await addRoute(3, `${network}3::/64`);
    await until(() => reaches(1, 3, network));
    await cloud.admin.drift({ kind: 'deleteKernelRoute', destinationCIDR: `${network}3::/64` });
    expect(await reaches(1, 3, network)).toBe(false);
    await cloud.admin.drift({ kind: 'deleteRoute', destinationCIDR: `${network}3::/64` });
    await addRoute(3, `${network}3::/64`);
    await until(() => reaches(1, 3, network));
  });

  ran('runs beside another cloud', async () => {
    const other = await CloudProcess.start(tier, CloudProcess.newFolder(tier));
    try {
      const node = await other.addNode(9);
      const pool = await other.addPool('TCP', 30080, [node]);
      const balancer = await other.addLoadBalancer(pool, await other.addPool('UDP', 30053, [node]));
      await until(async () => (await request(other.endpoint(balancer, 'http'))).node === 'node-9');
      expect((await request(http())).node).toMatch(/^node-[123]$/);
      expect(other.endpoint(balancer, 'http').ip).not.toBe(http().ip);
    } finally {
      await other.remove();
    }
  });

  ran('is as it was after being killed and started again: addresses, routes, traffic', async () => {
    const { directory } = cloud;
    expect(processesOf(directory).length).toBeGreaterThan(3);
    if (tier === 'vpc-root') expect(kernelPartsOf(directory).length).toBeGreaterThan(4);
    await cloud.end('SIGKILL');
    await until(() => processesOf(directory).length === 0);
    await until(() => kernelPartsOf(directory).length === 0);
    cloud = await CloudProcess.start(tier, directory);
    const again = await cloud.client.get('loadbalancers', loadBalancer.id);
    expect(again?.hostPorts).toEqual(loadBalancer.hostPorts);
    nodes = (await cloud.client.list('instances')).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const node of nodes) {
      await cloud.nodelet(node).serve({
        ports: [
          { port: 30080, protocol: 'TCP' },
          { port: 30053, protocol: 'UDP' },
        ],
        healthChecks: [],
      });
    }
    await until(async () => (await request(http()).catch(() => undefined))?.node === 'node-2');
    expect(await echo(cloud.endpoint(loadBalancer, 'dns'), 'x')).toMatch(/: x$/);
    await until(() => reaches(1, 3));
    if (families.includes('IPv6')) await until(() => reaches(1, 3, 'fd00:10:244:'));
  });

  ran('leaves nothing when it ends: no process, namespace, link or route', async () => {
    const { directory } = cloud;
    expect(await cloud.end('SIGTERM')).toBe(0);
    expect(processesOf(directory)).toEqual([]);
    expect(kernelPartsOf(directory)).toEqual([]);
  });
});
