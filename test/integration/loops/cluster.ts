import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, FIELD_MANAGERS } from '../../../crds';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import type { EventRecorder, KubeApi } from '../../../operator/kube/api';
import { KubeClient } from '../../../operator/kube/client';
import { KubeEventRecorder } from '../../../operator/kube/events';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import {
  EVENTS,
  type KubeObject,
  NAMESPACES,
  type Node,
  NODES,
  type ResourcePath,
  type Service,
  SERVICES,
} from '../../../operator/kube/object';
import { keepManagedFieldsOf, Reflector } from '../../../operator/kube/reflector';
import type { StoredCloudLoadBalancer, StoredCloudRoute } from '../../../operator/loops/kinds';
import { ROUTE_INDEXES } from '../../../operator/loops/route/loop';
import { PROJECT_ROOT } from '../../../operator/entry';
import { startTestCluster, type TestCluster } from '../../harness/cluster';
import { ownEvents } from '../../harness/own-events';
import { waitFor } from '../../harness/wait-for';

type KubeEvent = KubeObject & {
  reason: string;
  message: string;
  involvedObject: { uid: string; apiVersion: string };
  source: { component: string };
};

/** A real API server with our kinds, and the stores that the loops read. */
export class LoopCluster {
  readonly services: Reflector<Service>;
  readonly namespaces: Reflector<KubeObject>;
  readonly nodes: Reflector<Node>;
  readonly loadBalancers: Reflector<StoredCloudLoadBalancer>;
  readonly routes: Reflector<StoredCloudRoute>;
  /** Writes made through `api`: `patch services/demo/web`. */
  readonly writes: string[] = [];
  /** What the loops are given: counts writes, then does them. */
  readonly api: KubeApi;
  private readonly said = new Map<string, string[]>();
  private readonly end = new AbortController();
  private readonly recorders: KubeEventRecorder[] = [];
  private filling: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly cluster: TestCluster,
    readonly client: KubeClient,
  ) {
    const common = { api: client, logger: silentLogger };
    this.services = new Reflector<Service>({ ...common, resource: SERVICES, transform: keepManagedFieldsOf(FIELD_MANAGERS.service) });
    this.namespaces = new Reflector<KubeObject>({ ...common, resource: NAMESPACES });
    this.nodes = new Reflector<Node>({ ...common, resource: NODES });
    this.loadBalancers = new Reflector<StoredCloudLoadBalancer>({ ...common, resource: CLOUD_LOAD_BALANCERS });
    this.routes = new Reflector<StoredCloudRoute>({ ...common, resource: CLOUD_ROUTES, indexes: ROUTE_INDEXES });
    this.api = this.counting(client);
  }

  static async start(): Promise<LoopCluster> {
    const cluster = await startTestCluster();
    try {
      await cluster.kubectl(['apply', '--server-side', '-f', join(PROJECT_ROOT, 'crds', 'generated')]);
      await cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
      const kubeConfig = loadKubeConfig({ kubeconfig: cluster.kubeconfigPath });
      const loops = new LoopCluster(cluster, new KubeClient(kubeConfig, { userAgent: 'cloud-operator/test', logger: silentLogger }));
      const stores = [loops.services, loops.namespaces, loops.nodes, loops.loadBalancers, loops.routes];
      loops.filling = Promise.all(stores.map((store) => store.start(loops.end.signal)));
      return loops;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  async stop(): Promise<void> {
    this.end.abort(new Error('the test is over'));
    await this.filling;
    await Promise.all(this.recorders.map((recorder) => recorder.flush(1_000)));
    await this.client.close();
    await this.cluster.stop();
  }

  /** Writes real Events, and notes each one as it was said: the API server only counts the repeated ones. */
  recorder(component: string): EventRecorder {
    const recorder = new KubeEventRecorder({ api: this.client, component, logger: silentLogger, clock: systemClock });
    this.recorders.push(recorder);
    return {
      event: (target, type, reason, message) => {
        const { uid } = target.metadata;
        this.said.set(uid, [...(this.said.get(uid) ?? []), `${reason}: ${message}`]);
        recorder.event(target, type, reason, message);
      },
    };
  }

  async namespace(name: string): Promise<void> {
    await this.client.create(NAMESPACES, undefined, { metadata: { name } });
  }

  /** The loops' Events on one object that the API server has. */
  async events(uid: string): Promise<KubeEvent[]> {
    const events = ownEvents(await this.client.list<KubeEvent>(EVENTS));
    return events.filter(({ involvedObject }) => involvedObject.uid === uid);
  }

  /** `reason: message` of what was said of one object, in order. */
  saidOf(uid: string): string[] {
    return this.said.get(uid) ?? [];
  }

  /** Waits until exactly this was said of one object; a text stands for an Event's reason. */
  async expectSaid(uid: string, wanted: (string | RegExp)[]): Promise<void> {
    const fits = (text: string | undefined, pattern: string | RegExp): boolean =>
      text !== undefined && (typeof pattern === 'string' ? text.startsWith(`${pattern}:`) : pattern.test(text));
    await waitFor(
      () => {
        const said = this.saidOf(uid);
        if (said.length === wanted.length && wanted.every((pattern, index) => fits(said[index], pattern))) return true;
        throw new Error(said.join(' | '));
      },
      { timeoutMs: 10_000, what: `the events ${wanted.join(', ')}` },
    );
  }

  private counting(client: KubeClient): KubeApi {
    const writing = new Set(['create', 'apply', 'patch', 'remove']);
    return new Proxy<KubeApi>(client, {
      get: (target, name: keyof KubeApi) => {
        const method = target[name].bind(target) as (...args: unknown[]) => unknown;
        return (...args: unknown[]): unknown => {
          if (writing.has(name)) this.writes.push(`${name} ${(args[0] as ResourcePath).plural}/${args[1] as string}`);
          return method(...args);
        };
      },
    });
  }
}
