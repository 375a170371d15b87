import { Fleet } from '../../../dev/nodes/fleet';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NODES, SERVICES, type KubeCondition, type Node, type Service } from '../../../operator/kube/object';
import { silentLogger } from '../../../operator/base/log';
import type { Instance } from '../../../providers/local/api';
import type { Tier } from '../../../providers/local/cloud/data-plane/index';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { CloudProcess, tierWorks } from './cloud-process';
import { echo, request, until } from './client';

const tier = (['vpc-root', 'vpc-userns', 'loopback'] as Tier[]).find(tierWorks) ?? 'loopback';

let cluster: TestCluster;
let cloud: CloudProcess;
let kube: KubeClient;
let fleet: Fleet;

beforeAll(async () => {
  [cluster, cloud] = await Promise.all([startTestCluster(), CloudProcess.start(tier, CloudProcess.newFolder(tier))]);
  kube = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }));
  fleet = await Fleet.start({
    kubeconfig: cluster.kubeconfigPath,
    endpoint: cloud.url,
    token: cloud.token,
    count: 3,
    logger: silentLogger,
  });
}, CLUSTER_START_MS);

afterAll(async () => {
  await fleet?.stop();
  await kube?.close();
  await cloud?.remove();
  await cluster?.stop();
});

const instances = async (): Promise<Instance[]> => (await cloud.client.list('instances')).sort((a, b) => (a.name < b.name ? -1 : 1));

async function createService(name: string, spec: object): Promise<Service> {
  return kube.create<Service>(SERVICES, 'default', { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
}

/** Through a load balancer of the cloud: the host reaches NodePorts in no other way. */
async function balance(name: string, port: number, protocol: 'TCP' | 'UDP') {
  const targets = (await instances()).map(({ id }) => ({ instanceID: id, port }));
  const pool = await cloud.client.create('pools', { name, protocol, targets }, name, {});
  const address = await cloud.client.create('addresses', { name }, name, {});
  const listeners = [{ name: 'it', protocol, port: 80, poolID: pool.id }];
  const balancer = await cloud.client.create('loadbalancers', { name, addressIDs: [address.id], listeners }, name, {});
  const ready = await cloud.whenReady(
    () => cloud.client.get('loadbalancers', balancer.id),
    ({ hostPorts }) => hostPorts.length === 1,
  );
  return cloud.endpoint(ready, 'it');
}

const nodePortOf = (service: Service) => service.spec.ports?.[0]?.nodePort ?? 0;

describe(`fleet, tier ${tier}`, () => {
  test('registers Nodes as kubelets of an external cloud provider do, each with an instance', async () => {
    const nodes = await kube.list<Node>(NODES);
    expect(nodes.map(({ metadata }) => metadata.name).sort()).toEqual(['node-1', 'node-2', 'node-3']);
    for (const { metadata, spec, status } of nodes) {
      expect(spec.taints).toContainEqual({ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' });
      expect(spec.providerID).toBeUndefined();
      expect(spec.podCIDRs).toEqual([`10.244.${metadata.name.slice('node-'.length)}.0/24`]);
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }) as KubeCondition);
    }
    expect((await instances()).map(({ name, podCIDRs }) => [name, podCIDRs])).toEqual(
      nodes.map(({ metadata, spec }) => [metadata.name, spec.podCIDRs]),
    );
  });

  test('opens the NodePorts of Services on every node, and closes them', async () => {
    const http = await createService('web', { type: 'NodePort', ports: [{ port: 80 }] });
    const dns = await createService('dns', { type: 'NodePort', ports: [{ port: 53, protocol: 'UDP' }] });
    const web = await balance('web', nodePortOf(http), 'TCP');
    const seen = new Set<string>();
    await until(async () => {
      const answer = await request(web).catch(() => undefined);
      return answer !== undefined && seen.add(answer.node).size === 3;
    });
    const udp = await balance('dns', nodePortOf(dns), 'UDP');
    await until(async () => /^node-\d: hi$/.test((await echo(udp, 'hi', { timeoutMs: 300 })) ?? ''));
    await kube.remove(SERVICES, 'default/web');
    await until(() =>
      request(web).then(
        () => false,
        () => true,
      ),
    );
  });

  test('a node whose Node was deleted serves on, and registers again with the same machine', async () => {
    const [first] = await instances();
    const service = await createService('again', { type: 'NodePort', ports: [{ port: 80 }] });
    const again = await balance('again', nodePortOf(service), 'TCP');
    await fleet.removeNode('node-1');
    expect(await kube.get<Node>(NODES, 'node-1')).toBeUndefined();
    expect(fleet.names).toEqual(['node-2', 'node-3']);
    await until(async () => (await request(again).catch(() => undefined))?.node === 'node-1');
    await fleet.addNode('node-1');
    expect((await kube.get<Node>(NODES, 'node-1'))?.spec.podCIDR).toBe('10.244.1.0/24');
    expect((await instances())[0]?.id).toBe(first?.id);
  });

  test('says that a node is not ready, and ready again', async () => {
    const ready = async () => (await kube.get<Node>(NODES, 'node-2'))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    await fleet.setReady('node-2', false);
    expect(await ready()).toBe('False');
    await fleet.setReady('node-2', true);
    expect(await ready()).toBe('True');
  });

  test('pods reach each other when the cloud has routes, and not without', async () => {
    await expect(fleet.fetchPod('node-1', 'node-3', 500)).rejects.toThrow();
    for (const { id, name, podCIDRs } of await instances()) {
      await cloud.client.create('routes', { name, routeTableID: 'rtb-main', destinationCIDR: podCIDRs[0], instanceID: id }, name, {});
    }
    await until(async () => (await fleet.fetchPod('node-1', 'node-3').catch(() => '')).includes('node-3'));
  });

  test('takes more nodes, and terminates them', async () => {
    await fleet.addNode();
    expect((await instances()).map(({ name }) => name)).toContain('node-4');
    await fleet.removeNode('node-4', { terminate: true });
    await until(async () => (await instances()).length === 3);
    expect(await kube.get<Node>(NODES, 'node-4')).toBeUndefined();
    await expect(fleet.addNode('worker')).rejects.toThrow('"worker" is not a name for a node');
  });

  test('a second fleet takes over the machines that are there', async () => {
    await fleet.stop();
    const ids = (await instances()).map(({ id }) => id);
    fleet = await Fleet.start({
      kubeconfig: cluster.kubeconfigPath,
      endpoint: cloud.url,
      token: cloud.token,
      count: 3,
      logger: silentLogger,
    });
    expect((await instances()).map(({ id }) => id)).toEqual(ids);
    await until(async () => (await fleet.fetchPod('node-2', 'node-1').catch(() => '')).includes('node-1'));
  });

  test('removes everything', async () => {
    await fleet.removeAll();
    expect(await kube.list<Node>(NODES)).toEqual([]);
    await until(async () => (await instances()).length === 0);
  });
});
