import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { KubeClient } from '../../../operator/kube/client';
import { KindController } from '../../../operator/kube/controller';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { CRDS, keyOf, NAMESPACES, type KubeObject, type ResourcePath } from '../../../operator/kube/object';
import { KeyedQueue } from '../../../operator/kube/queue';
import { Reflector } from '../../../operator/kube/reflector';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

const WIDGETS: ResourcePath = { group: 'demo.example', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };
const FINALIZER = 'demo.example/cleanup';

interface Widget extends KubeObject {
  spec: { size: number };
  status?: { size?: number; note?: string };
}

/** Mirrors spec.size to the status, and cleans up after deleted widgets. */
class WidgetController extends KindController<Widget> {
  readonly cleaned: string[] = [];
  failures = 0;

  protected override async reconcile(key: string): Promise<void> {
    const widget = this.options.store.get(key);
    if (widget === undefined) return;
    const event = this.eventFor(widget);
    const handled = await this.handleResourceFinalizer(event, FINALIZER, () => Promise.resolve(void this.cleaned.push(key)));
    if (handled) return;
    if (widget.spec.size < 0 && this.failures++ < 2) throw new OperatorError('Transient', 'try again');
    if (widget.status?.size !== widget.spec.size) await this.setResourceStatus(event.meta, { size: widget.spec.size });
  }

  note(widget: Widget, note: string | null) {
    return this.patchResourceStatus(this.eventFor(widget).meta, { note });
  }

  setFinalizers(widget: Widget, finalizers: string[]) {
    return this.setResourceFinalizers(this.eventFor(widget).meta, finalizers);
  }

  uri(namespace?: string) {
    return this.getCustomResourceApiUri('demo.example', 'v1', 'widgets', namespace);
  }

  register() {
    return this.registerCustomResourceDefinition('widgets.yaml');
  }

  watchAnother() {
    return this.watchResource('', 'v1', 'nodes', () => Promise.resolve());
  }
}

describe('KindController against a real API server', () => {
  let cluster: TestCluster;
  let client: KubeClient;
  let controller: WidgetController;
  let queue: KeyedQueue;
  let running: Promise<void>;
  const stop = new AbortController();

  beforeAll(async () => {
    cluster = await startTestCluster({ controllerManager: false });
    // What the base class would read of itself is broken: it must not matter.
    process.env.KUBECONFIG = '/no/such/kubeconfig';
    client = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
    await client.create(NAMESPACES, undefined, { metadata: { name: 'demo' } });
    const properties = {
      spec: { type: 'object', properties: { size: { type: 'integer' } } },
      status: { type: 'object', properties: { size: { type: 'integer' }, note: { type: 'string' } } },
    };
    await client.create(CRDS, undefined, {
      metadata: { name: 'widgets.demo.example' },
      spec: {
        group: 'demo.example',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: 'object', properties } },
          },
        ],
      },
    });
    const reflector = new Reflector<Widget>({ api: client, resource: WIDGETS, logger: silentLogger });
    running = reflector.start(stop.signal);
    queue = new KeyedQueue({ name: 'widgets', logger: silentLogger, backOff: { baseMs: 50, maxMs: 400 } });
    controller = new WidgetController({
      kubeConfig: client.kubeConfig,
      api: client,
      logger: silentLogger,
      resource: WIDGETS,
      store: reflector.store,
      queue,
      workers: 2,
      fieldManager: 'widget-controller',
    });
    const started = controller.start();
    await waitFor(() => (reflector.retryNow(), reflector.store.synced), { what: 'the CRD', timeoutMs: 15_000 });
    await started;
  }, CLUSTER_START_MS);

  afterAll(async () => {
    controller?.stop();
    await controller?.ended();
    queue?.close();
    stop.abort();
    await running;
    await client?.close();
    await cluster?.stop();
    delete process.env.KUBECONFIG;
  });

  const read = (name: string) => client.get<Widget>(WIDGETS, `demo/${name}`);
  const until = (what: string, condition: () => Promise<boolean>) => waitFor(condition, { what, timeoutMs: 10_000, pollMs: 20 });

  it('brings objects to their status, again after failures, and owns it by apply', async () => {
    await client.create(WIDGETS, 'demo', { metadata: { name: 'a' }, spec: { size: -1 } });
    await until('the status', async () => (await read('a'))?.status?.size === -1);
    expect(controller.failures).toBeGreaterThan(2);
    const { metadata } = (await read('a')) as Widget & {
      metadata: { managedFields: { manager: string; operation: string; subresource?: string }[] };
    };
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'widget-controller', operation: 'Apply', subresource: 'status' }),
    );
    expect(metadata.finalizers).toEqual([FINALIZER]);
  });

  it('patches the status without losing the rest of it', async () => {
    await client.create(WIDGETS, 'demo', { metadata: { name: 'b' }, spec: { size: 4 } });
    await until('the status', async () => (await read('b'))?.status?.size === 4);
    await controller.note((await read('b')) as Widget, 'seen');
    expect((await read('b'))?.status).toEqual({ size: 4, note: 'seen' });
    await controller.note((await read('b')) as Widget, null);
    expect((await read('b'))?.status).toEqual({ size: 4 });
  });

  it('cleans up and lets the object go, and leaves other finalizers alone', async () => {
    await client.create(WIDGETS, 'demo', { metadata: { name: 'c', finalizers: ['demo.example/other'] }, spec: { size: 1 } });
    await until('the finalizer', async () => (await read('c'))?.metadata.finalizers?.includes(FINALIZER) === true);
    await client.remove(WIDGETS, 'demo/c');
    await until('the cleanup', async () => (await read('c'))?.metadata.finalizers?.join() === 'demo.example/other');
    expect(controller.cleaned).toEqual(['demo/c']);
    await client.patch(WIDGETS, 'demo/c', 'merge', { metadata: { finalizers: [] } });
    await until('the end', async () => (await read('c')) === undefined);
  });

  it('does not overwrite finalizers that it has not seen', async () => {
    await client.create(WIDGETS, 'demo', { metadata: { name: 'd' }, spec: { size: 1 } });
    await until(
      'the finalizer and status',
      async () => (await read('d'))?.metadata.finalizers?.length === 1 && (await read('d'))?.status?.size === 1,
    );
    const stale = (await read('d')) as Widget;
    await client.patch(WIDGETS, 'demo/d', 'merge', { metadata: { finalizers: [FINALIZER, 'demo.example/new'] } });
    await expect(controller.setFinalizers(stale, [])).rejects.toMatchObject({ code: 'Conflict' });
    expect((await read('d'))?.metadata.finalizers).toEqual([FINALIZER, 'demo.example/new']);
  });

  it('says no to what it must not do', async () => {
    await expect(controller.register()).rejects.toMatchObject({ code: 'Invalid' });
    await expect(controller.watchAnother()).rejects.toMatchObject({ code: 'Invalid' });
    expect(controller.uri('demo')).toBe(`${cluster.url}/apis/demo.example/v1/namespaces/demo/widgets`);
    expect(keyOf({ name: 'x' })).toBe('x');
  });
});
