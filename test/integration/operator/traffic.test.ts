import { readFileSync } from 'node:fs';
import { Fleet } from '../../../dev/nodes/fleet';
import { silentLogger } from '../../../operator/base/log';
import { NODES, SERVICES, type Service, type ServiceIngress } from '../../../operator/kube/object';
import type { LoadBalancer } from '../../../providers/local/api';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { tierWorks } from '../data-plane/cloud-process';
import { Load, request, until, type Endpoint } from '../data-plane/client';
import { Scene, serviceOf } from './scene';

/**
 * What upstream's load balancer tests don't notice: traffic that goes to Nodes which must not have it, and health checks that are ignored. Real
 * packets from Services to nodes decide here, not what an object says.
 */
const tier = (['vpc-root', 'vpc-userns', 'loopback'] as const).find(tierWorks) ?? 'loopback';
const EXCLUDE = 'node.kubernetes.io/exclude-from-external-load-balancers';

let cluster: OperatorCluster;
let scene: Scene;
let fleet: Fleet;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ tier });
  scene = new Scene(cluster);
  const token = readFileSync(cluster.tokenFile, 'utf8').trim();
  fleet = await Fleet.start({
    ...{ kubeconfig: cluster.kubeconfigPath, endpoint: cluster.cloudEndpoint, token, count: 4, logger: silentLogger },
    ...(tier !== 'loopback' && { ipFamilies: ['IPv4', 'IPv6'] }),
  });
  for (const name of fleet.names) await scene.initialized(name);
}, OPERATOR_CLUSTER_START_MS);

afterAll(async () => {
  await fleet?.stop();
  await cluster?.stop();
});

/** Where this machine reaches the load balancer of default/<name>, one place for each of its addresses. */
async function endpointsOf(name: string): Promise<Endpoint[]> {
  const owned = async () => (await cluster.resources.list('loadbalancers')).find(({ tags }) => tags.owner === `default/${name}`)?.hostPorts;
  return scene.until(`the ports of ${name}`, async () => {
    const ports = await owned();
    return (ports?.length ?? 0) > 0 && ports;
  });
}

/** Exactly these nodes answer: each of them, and over many connections no other. */
async function expectExactly(to: Endpoint, names: string[]): Promise<void> {
  await until(async () => (await nodesBehind(to)).join() === names.join());
  for (let round = 0; round < 3; round++) expect(await nodesBehind(to)).toEqual(names);
}

async function nodesBehind(to: Endpoint): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: 16 }, () => request(to).catch(() => undefined)));
  return [...new Set(answers.map((answer) => answer?.node ?? 'nobody'))].sort();
}

const policy = (name: string, spec: object) => cluster.kube.patch(SERVICES, `default/${name}`, 'merge', { spec });

const label = (name: string, value: string | null) =>
  cluster.kube.patch(NODES, name, 'merge', { metadata: { labels: { [EXCLUDE]: value } } });

describe(`traffic, tier ${tier}`, () => {
  test('goes to the Nodes that may have it, and to no other', async () => {
    await label('node-2', 'true');
    await cluster.apply(serviceOf('exact'));
    const [http] = await endpointsOf('exact');
    await expectExactly(http!, ['node-1', 'node-3', 'node-4']);
    await label('node-2', null);
    await expectExactly(http!, ['node-1', 'node-2', 'node-3', 'node-4']);
    // That this would show a load balancer with wrong targets: one that has been given them.
    await label('node-2', 'true');
    await expectExactly(http!, ['node-1', 'node-3', 'node-4']);
    const pool = (await cluster.resources.list('pools')).find(({ tags }) => tags.owner === 'default/exact')!;
    const { targets } = pool;
    const wrong = { instanceID: fleet.instance('node-2').id, port: targets[0]!.port };
    await cluster.cloud.drift({ kind: 'setTargets', id: pool.id, targets: [...targets.slice(1), wrong] });
    await until(async () => (await nodesBehind(http!)).includes('node-2'));
    await label('node-2', null);
  });

  test('of policy Local goes only to Nodes that answer the Service’s health check, and one that ceases to leaves without a failed request', async () => {
    fleet.setLocalEndpoints('node-4', 0);
    await cluster.apply(serviceOf('local', { spec: { externalTrafficPolicy: 'Local' } }));
    const [http] = await endpointsOf('local');
    await expectExactly(http!, ['node-1', 'node-2', 'node-3']);
    const load = new Load(http!, 4);
    await load.more(20);
    fleet.setLocalEndpoints('node-1', 0);
    fleet.setLocalEndpoints('node-4', 1);
    await load.more(10, 'node-4');
    await expectExactly(http!, ['node-2', 'node-3', 'node-4']);
    await load.stop();
    expect(load.failures).toEqual([]);
    for (const name of fleet.names) fleet.setLocalEndpoints(name, 0);
    await expectExactly(http!, ['nobody']);
    for (const name of fleet.names) fleet.setLocalEndpoints(name, 1);
  });

  test('reaches Services without node ports with the client’s own address, handed on as it is', async () => {
    const { noPassthrough } = await cluster.cloud.topology();
    const annotations = { 'local.cloud-operator.dev/engine': 'Passthrough' };
    await cluster.apply(serviceOf('through', { annotations, spec: { allocateLoadBalancerNodePorts: false } }));
    if (noPassthrough !== undefined) {
      const stalled = await scene.until('a refusal', async () => {
        const conditions = (await scene.loadBalancer('through'))?.status?.conditions ?? [];
        return conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
      });
      expect(stalled.message).toContain(noPassthrough);
      return;
    }
    const [http] = await endpointsOf('through');
    await expectExactly(http!, fleet.names);
    const service = await scene.until<Service>('an address', async () => {
      const found = await scene.service('through');
      return (found?.status?.loadBalancer?.ingress?.length ?? 0) > 0 && found;
    });
    expect(service.spec.ports?.[0]?.nodePort).toBeUndefined();
    expect(service.status?.loadBalancer?.ingress).toEqual([{ ip: http!.ip, ipMode: 'VIP' }]);
    // Not the router's, which a proxy's targets see.
    expect((await request(http!)).client).toMatch(/^10\.2(08|09|10|11)\./);
  });

  test('comes in on addresses of both families', async () => {
    await cluster.apply(serviceOf('plain'));
    const port = await scene.until('a node port', async () => (await scene.service('plain'))?.spec.ports?.[0]?.nodePort);
    await cluster.apply({
      apiVersion: 'cloud-operator.dev/v1alpha1',
      kind: 'CloudLoadBalancer',
      metadata: { name: 'dual', namespace: 'default' },
      spec: { provider: 'local', local: {}, ipFamilies: ['IPv6', 'IPv4'], listeners: [{ name: 'http', port: 80, nodePort: port }] },
    });
    const dual = await scene.ready('dual');
    expect(dual.status?.ingress?.map(({ ip }) => ip?.includes(':'))).toEqual([true, false]);
    const endpoints = await endpointsOf('dual');
    expect(endpoints).toHaveLength(2);
    for (const endpoint of endpoints) await expectExactly(endpoint, fleet.names);
  });

  test('comes in on both addresses of a dual-stack Service; the first one serves on while the second comes and goes', async () => {
    await cluster.apply(serviceOf('stacked'));
    const [first] = await ingressOf('stacked', ['IPv4']);
    const [v4] = await endpointsOf('stacked');
    await expectExactly(v4!, fleet.names);
    const load = new Load(v4!, 2);
    await load.more(20);

    await policy('stacked', { ipFamilyPolicy: 'RequireDualStack' });
    const both = await ingressOf('stacked', ['IPv4', 'IPv6']);
    expect(both[0]).toEqual(first);
    const endpoints = await endpointsOf('stacked');
    expect(endpoints).toHaveLength(2);
    for (const endpoint of endpoints) await expectExactly(endpoint, fleet.names);

    await policy('stacked', { ipFamilyPolicy: 'SingleStack' });
    expect(await ingressOf('stacked', ['IPv4'])).toEqual([first]);
    await scene.until('one address in the cloud', async () => (await addressesOf('stacked')).length === 1);
    await expect(request(endpoints.find(({ ip }) => ip !== v4!.ip)!)).rejects.toThrow();
    await load.more(20);
    await load.stop();
    expect(load.failures).toEqual([]);
  });

  test('of a Service that prefers both families, IPv6 first, has the addresses in that order', async () => {
    await cluster.apply(serviceOf('preferring', { spec: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] } }));
    await ingressOf('preferring', ['IPv6', 'IPv4']);
    for (const endpoint of await endpointsOf('preferring')) await expectExactly(endpoint, fleet.names);
  });

  test.each(['Node', 'Passthrough'])(
    'R-08 engine %s: a port that stays never misses a connection while others come and go',
    async (engine) => {
      const { noPassthrough } = await cluster.cloud.topology();
      if (engine === 'Passthrough' && noPassthrough !== undefined) return;
      const name = `ports-${engine.toLowerCase()}`;
      const ranges = ['10.0.0.0/8', '127.0.0.0/8'];
      const [https, metrics] = [
        { name: 'https', port: 443 },
        { name: 'metrics', port: 9090 },
      ];
      const withPorts = (...ports: { name: string; port: number }[]) =>
        serviceOf(name, {
          ...{ ports, annotations: { 'local.cloud-operator.dev/engine': engine } },
          spec: { loadBalancerSourceRanges: ranges },
        });
      await cluster.apply(withPorts(https));
      const address = await ingressOf(name, ['IPv4']);
      const at = { https: await endpointOf(name, 'https'), metrics: undefined as Endpoint | undefined };
      await expectExactly(at.https, fleet.names);

      const staying = new Load(at.https, 4);
      await staying.more(20);
      await cluster.apply(withPorts(https, metrics));
      at.metrics = await endpointOf(name, 'metrics');
      await expectExactly(at.metrics, fleet.names);
      expect((await balancerOf(name)).sourceRanges).toEqual(ranges);
      await staying.more(20);
      await staying.stop();
      expect(staying.failures).toEqual([]);

      const other = new Load(at.metrics, 4);
      await other.more(20);
      await cluster.apply(withPorts(metrics));
      await scene.until('no port 443', async () => (await balancerOf(name)).listeners.every(({ port }) => port !== 443));
      await scene.until('no pool of port 443', async () => {
        const pools = (await cluster.resources.list('pools')).filter(({ tags }) => tags.owner === `default/${name}`);
        return pools.length === 1 && pools[0]!.name.endsWith('-9090');
      });
      await expect(request(at.https)).rejects.toThrow();
      expect((await balancerOf(name)).sourceRanges).toEqual(ranges);
      expect(await ingressOf(name, ['IPv4'])).toEqual(address);
      await other.more(20);
      await other.stop();
      expect(other.failures).toEqual([]);
    },
  );
});

/** What the Service says once it has addresses of just these families. */
async function ingressOf(name: string, families: ('IPv4' | 'IPv6')[]): Promise<ServiceIngress[]> {
  return scene.until(`addresses of ${families.join(' and ')} of ${name}`, async () => {
    const ingress = (await scene.service(name))?.status?.loadBalancer?.ingress ?? [];
    return ingress.map(({ ip }) => (ip?.includes(':') === true ? 'IPv6' : 'IPv4')).join() === families.join() && ingress;
  });
}

async function balancerOf(name: string): Promise<LoadBalancer> {
  const found = (await cluster.resources.list('loadbalancers')).find(({ tags }) => tags.owner === `default/${name}`);
  if (found === undefined) throw new Error(`there is no load balancer of ${name}`);
  return found;
}

async function endpointOf(name: string, listener: string): Promise<Endpoint> {
  return scene.until(`port ${listener} of ${name}`, async () =>
    (await balancerOf(name)).hostPorts.find((one) => one.listener === listener),
  );
}

async function addressesOf(name: string): Promise<unknown[]> {
  return (await cluster.resources.list('addresses')).filter(({ tags }) => tags.owner === `default/${name}`);
}
