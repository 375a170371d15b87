import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { KubeClient } from '../../../operator/kube/client';
import { NAMESPACES, SECRETS, SERVICES, type KubeObject, type Service } from '../../../operator/kube/object';
import { isAlreadyExists, statusOf } from '../../../operator/kube/status';
import type { ResourcePath } from '../../../operator/kube/object';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';

const CONFIG_MAPS: ResourcePath = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const WIDGETS: ResourcePath = { group: 'demo.example', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };

type ConfigMap = KubeObject & { data?: Record<string, string> };

describe('KubeClient against a real API server', () => {
  let cluster: TestCluster;
  let client: KubeClient;

  beforeAll(async () => {
    cluster = await startTestCluster();
    client = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { userAgent: 'cloud-operator/test' });
    await client.create(NAMESPACES, undefined, { metadata: { name: 'demo' } });
  }, CLUSTER_START_MS);

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  it('creates, reads, patches and removes', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'a' }, data: { x: '1' } });
    await client.patch(CONFIG_MAPS, 'demo/a', 'merge', { data: { y: '2' } });
    const read = await client.get<ConfigMap>(CONFIG_MAPS, 'demo/a');
    expect(read?.data).toEqual({ x: '1', y: '2' });
    await client.remove(CONFIG_MAPS, 'demo/a', { uid: read?.metadata.uid ?? '' });
    expect(await client.get(CONFIG_MAPS, 'demo/a')).toBeUndefined();
    await client.remove(CONFIG_MAPS, 'demo/a');
  });

  it('refuses to remove another object than the one named', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'b' } });
    await expect(client.remove(CONFIG_MAPS, 'demo/b', { uid: 'somebody-else' })).rejects.toMatchObject({ code: 'Conflict' });
    expect(await client.get(CONFIG_MAPS, 'demo/b')).toBeDefined();
  });

  it('tells AlreadyExists, Invalid with its field, and a missing resource apart', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'c' } });
    const again = await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'c' } }).catch((thrown: unknown) => thrown);
    expect(again).toMatchObject({ code: 'Conflict' });
    expect(isAlreadyExists(again)).toBe(true);
    const port0 = client.create(SERVICES, 'demo', { metadata: { name: 's' }, spec: { ports: [{ port: 0 }] } });
    await expect(port0).rejects.toMatchObject({
      code: 'Invalid',
      field: 'spec.ports[0].port',
      message: expect.stringContaining('between 1 and 65535') as string,
    });
    await expect(client.get(WIDGETS, 'demo/w')).rejects.toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('CustomResourceDefinition') as string,
    });
  });

  it('shows whose field an apply would take, and takes it by force', async () => {
    await client.apply(CONFIG_MAPS, 'demo/d', { metadata: { name: 'd' }, data: { x: '1' } }, { fieldManager: 'one' });
    const theirs = client.apply(CONFIG_MAPS, 'demo/d', { metadata: { name: 'd' }, data: { x: '2' } }, { fieldManager: 'two' });
    await expect(theirs).rejects.toMatchObject({ code: 'Conflict', message: expect.stringContaining('"one"') as string, field: '.data.x' });
    const forced = await client.apply<ConfigMap>(CONFIG_MAPS, 'demo/d', { data: { x: '2' } }, { fieldManager: 'two', force: true });
    expect(forced.data).toEqual({ x: '2' });
  });

  it('lists page by page, with kinds', async () => {
    const names = Array.from({ length: 620 }, (_, i) => `many-${String(i).padStart(4, '0')}`);
    const fast = client.withOptions({ qps: 0 });
    await Promise.all(names.map((name) => fast.create(SECRETS, 'demo', { metadata: { name, labels: { many: 'yes' } } })));
    const pages: number[] = [];
    for await (const page of client.pages(SECRETS, { namespace: 'demo', labelSelector: 'many=yes' })) pages.push(page.items.length);
    expect(pages).toEqual([500, 120]);
    const all = await client.list(SECRETS, { namespace: 'demo', labelSelector: 'many=yes' });
    expect(all.map((secret) => secret.metadata.name)).toEqual(names);
    expect(all[0]).toMatchObject({ apiVersion: 'v1', kind: 'Secret' });
  });

  it('writes the status of a Service and answers raw requests', async () => {
    await client.create(SERVICES, 'demo', { metadata: { name: 'lb' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    const status = { loadBalancer: { ingress: [{ ip: '198.51.100.7', ipMode: 'VIP' }] } };
    const patched = await client.patch<Service>(SERVICES, 'demo/lb', 'strategic', { status }, { subresource: 'status' });
    expect(patched.status?.loadBalancer).toEqual(status.loadBalancer);
    expect(await client.raw('GET', '/readyz')).toBe('ok');
    expect(await client.raw('GET', '/version')).toMatchObject({ major: '1' });
  });

  it('says what is wrong with the credentials', async () => {
    const config = loadKubeConfig({ kubeconfig: cluster.kubeconfigPath });
    config.users = [{ name: config.users[0]?.name ?? '', token: 'nonsense' }];
    const stranger = new KubeClient(config);
    const refused = await stranger.list(SERVICES).catch((thrown: unknown) => thrown);
    await stranger.close();
    expect(refused).toMatchObject({ code: 'Credentials', message: expect.stringContaining('kubeconfig') as string });
    expect(statusOf(refused)?.code).toBe(401);
  });
});
