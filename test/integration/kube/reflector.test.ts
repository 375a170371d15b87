import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { createLogger, silentLogger } from '../../../operator/base/log';
import type { StoreChange } from '../../../operator/kube/api';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { CRDS, NAMESPACES, type KubeObject, type ResourcePath } from '../../../operator/kube/object';
import { Reflector, type ReflectorOptions } from '../../../operator/kube/reflector';
import { ControlPlane } from '../../../dev/cluster/control-plane';
import { ensureTools } from '../../../tools/ensure';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

const CONFIG_MAPS: ResourcePath = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const WIDGETS: ResourcePath = { group: 'demo.example', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };

type ConfigMap = KubeObject & { data?: Record<string, string> };

function widgetCrd(): object {
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
  };
  return {
    metadata: { name: 'widgets.demo.example' },
    spec: {
      group: 'demo.example',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

describe('Reflector against a real API server', () => {
  let cluster: TestCluster;
  let client: KubeClient;
  let stop: AbortController;
  const running: Promise<void>[] = [];
  let restarted: ControlPlane | undefined;

  beforeAll(async () => {
    cluster = await startTestCluster({ controllerManager: false });
    client = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
    await client.create(NAMESPACES, undefined, { metadata: { name: 'demo' } });
  }, CLUSTER_START_MS);

  afterAll(async () => {
    await client?.close();
    await restarted?.stop();
    await cluster?.stop();
  });

  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.splice(0));
  });

  /** The same data on the same port. */
  async function restart(): Promise<void> {
    const { directory, controlPlane } = cluster;
    await controlPlane.stop();
    const tools = await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager']);
    const options = { directory, tools, logDirectory: join(directory, 'logs'), controllerManager: false, fsync: false };
    restarted = await ControlPlane.start({ ...options, port: controlPlane.port });
    expect(restarted.port).toBe(controlPlane.port);
  }

  function reflect<T extends KubeObject>(resource: ResourcePath, options: Partial<ReflectorOptions<T>> = {}): Reflector<T> {
    const reflector = new Reflector<T>({ api: client, resource, logger: silentLogger, random: () => 0, ...options });
    running.push(reflector.start(stop.signal));
    return reflector;
  }

  const until = (what: string, condition: () => boolean) => waitFor(condition, { what, timeoutMs: 15_000, pollMs: 10 });

  it('follows objects through their lives, quickly', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'before' } });
    const reflector = reflect<ConfigMap>(CONFIG_MAPS, {
      selection: { namespace: 'demo' },
      indexes: { size: (map) => [map.data?.size ?? 'none'] },
    });
    await reflector.store.whenSynced();
    await until('the watch', () => reflector.status().phase === 'Watching');
    expect(reflector.store.get('demo/before')).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const told: { change: StoreChange<ConfigMap>; at: number }[] = [];
    reflector.store.onChange((change) => told.push({ change, at: systemClock.monotonic() }));
    const startedAt = systemClock.monotonic();
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'a' }, data: { size: 'big' } });
    await client.patch(CONFIG_MAPS, 'demo/a', 'merge', { data: { size: 'small' } });
    expect(await until('both', () => told.length === 2)).toBe(true);
    expect(reflector.store.byIndex('size', 'small').map((map) => map.metadata.name)).toEqual(['a']);
    expect(reflector.store.byIndex('size', 'big')).toEqual([]);
    await client.remove(CONFIG_MAPS, 'demo/a');
    await until('the deletion', () => told.length === 3);
    expect(told.map(({ change }) => [change.previous?.data?.size, change.current?.data?.size])).toEqual([
      [undefined, 'big'],
      ['big', 'small'],
      ['small', undefined],
    ]);
    expect((told[2]?.at ?? Infinity) - startedAt).toBeLessThan(2000);
    expect(reflector.store.get('demo/before')?.metadata).not.toHaveProperty('managedFields');
  });

  it('waits for a CRD, and works as soon as it is there', async () => {
    const reflector = reflect(WIDGETS);
    await until('Missing', () => reflector.status().phase === 'Missing');
    expect(reflector.store.synced).toBe(false);
    await client.create(CRDS, undefined, widgetCrd());
    await until('the sync', () => (reflector.retryNow(), reflector.store.synced));
    await until('the watch', () => reflector.status().phase === 'Watching');
    await client.create(WIDGETS, 'demo', { metadata: { name: 'w' }, spec: { any: 'thing' } });
    await until('the widget', () => reflector.store.get('demo/w') !== undefined);
    expect(reflector.store.get('demo/w')).toMatchObject({ spec: { any: 'thing' } });
  });

  it('gives what a selector no longer matches as deleted', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'picked', labels: { set: 'd' } } });
    const reflector = reflect<ConfigMap>(CONFIG_MAPS, { selection: { labelSelector: 'set=d' } });
    await reflector.store.whenSynced();
    await until('the watch', () => reflector.status().phase === 'Watching');
    await client.patch(CONFIG_MAPS, 'demo/picked', 'merge', { metadata: { labels: { set: 'other' } } });
    await until('its removal', () => reflector.store.list().length === 0);
  });

  it('lists again after a restart of the API server, which has forgotten its history, and finds what was deleted meanwhile', async () => {
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'doomed', labels: { set: 'c' } } });
    const selection = { namespace: 'demo', labelSelector: 'set=c' };
    const errors: string[] = [];
    const versions: string[] = [];
    const api: ReflectorOptions<ConfigMap>['api'] = {
      pages: (resource, options, signal) => client.pages(resource, options, signal),
      watch: (resource, options) => {
        versions.push(options.resourceVersion);
        return client.watch(resource, options);
      },
    };
    const logger = createLogger('test', { level: 'silent' });
    logger.warn = (bindings: { err: Error }) => void errors.push(bindings.err.message);
    logger.debug = logger.warn;
    const reflector = reflect<ConfigMap>(CONFIG_MAPS, { api, selection, logger });
    await reflector.store.whenSynced();
    await until('the watch', () => versions.length === 1);
    await restart();
    await client.remove(CONFIG_MAPS, 'demo/doomed');
    await client.create(CONFIG_MAPS, 'demo', { metadata: { name: 'new', labels: { set: 'c' } } });
    await until(
      'the new state',
      () =>
        reflector.store
          .list()
          .map(({ metadata }) => metadata.name)
          .join() === 'new',
    );
    expect(errors.join('\n')).toMatch(/ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET|ended inside|other side closed/);
    expect(reflector.store.synced).toBe(true);
    // Still older: the API server answers 410 now, in whatever way it likes.
    let tampered = 0;
    const stale: ReflectorOptions<ConfigMap>['api'] = {
      ...api,
      watch: (resource, options) => client.watch(resource, tampered++ === 0 ? { ...options, resourceVersion: '1' } : options),
    };
    const second = reflect<ConfigMap>(CONFIG_MAPS, { api: stale, selection, logger });
    await until('the 410', () => second.status().failures === 1);
    expect(second.status().lastError?.message).toContain('410');
    await client.remove(CONFIG_MAPS, 'demo/new');
    await until('the deletion', () => second.store.synced && second.store.list().length === 0);
    expect(tampered).toBe(2);
  });
});
