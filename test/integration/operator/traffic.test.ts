import { readFileSync } from 'node:fs';
import { Fleet } from '../../../dev/nodes/fleet';
import { silentLogger } from '../../../operator/base/log';
import { NODES, type Service } from '../../../operator/kube/object';
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
});
