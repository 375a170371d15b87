import { API_VERSION, FIELD_MANAGERS, CLOUD_PROVIDERS } from '../crds';
import { systemClock } from './base/clock';
import type { Logger } from './base/log';
import { CloudControllers } from './cloud/controllers';
import { InstanceDirectory } from './cloud/instance-directory';
import type { CloudRegistry } from './cloud/registry';
import type { KubeClient } from './kube/client';
import { KubeEventRecorder } from './kube/events';
import type { KubeConfig } from './kube/kube-config';
import { KeyedQueue } from './kube/queue';
import type { BackOffLimits } from './kube/back-off';
import { LIFECYCLE_LOOP_DEFAULTS, LifecycleLoop } from './loops/lifecycle/loop';
import { NODE_LOOP_DEFAULTS, NODE_RETRY, NodeLoop } from './loops/node/loop';
import { RouteLoop } from './loops/route/loop';
import { ServiceLoop } from './loops/service/loop';
import { SERVICE_RETRY } from './loops/service/rules';
import type { OperatorOptions } from './options';
import type { Metrics } from './server/metrics';
import type { Stores } from './stores';
import type { Updates } from './updates/update';

export interface LeaderParts {
  options: OperatorOptions;
  kubeConfig: KubeConfig;
  api: KubeClient;
  stores: Stores;
  registry: CloudRegistry;
  updates: Updates;
  clusterID: string;
  identity: string;
  /** True while the lease allows cloud writes. */
  isValid: () => boolean;
  metrics: Metrics;
  logger: Logger;
}

/** What only the leader does: the loops, and the controllers of the Cloud* kinds. */
export class Leader {
  private readonly recorders: KubeEventRecorder[] = [];
  private readonly queues: KeyedQueue[] = [];
  private readonly directory: InstanceDirectory;
  private readonly controllers: CloudControllers;

  constructor(private readonly parts: LeaderParts) {
    const { registry, stores, options, logger } = parts;
    this.directory = new InstanceDirectory(registry, systemClock, (provider) => this.controllers.providerHealthChanged(provider));
    this.controllers = new CloudControllers({
      ...parts,
      stores: {
        nodes: stores.nodes.store,
        providers: stores.providers.store,
        loadBalancers: stores.loadBalancers.store,
        routes: stores.routes.store,
        stacks: stores.stacks.store,
        instances: stores.instances.store,
      },
      directory: this.directory,
      ...(options.extension === undefined ? {} : { extension: options.extension }),
      events: this.recorder('cloud-operator'),
      // A pass that waits for its update holds its place: there must be more places than updates that can hang.
      workers: Math.max(32, options.workers * 4),
      retryBudget: options.retryBudget,
      makeQueue: (name, backOff, delayOf) => this.queue(name, backOff, delayOf),
      onUpdate: (provider, result, tookMs) => parts.metrics.updated(provider, result, tookMs),
      clock: systemClock,
      random: Math.random,
      logger: logger.child({ part: 'cloud' }),
    });
  }

  /** Works until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.bringUpDefaultProvider();
    const service = this.serviceLoop();
    const route = this.routeLoop();
    const stopFollowing = this.parts.registry.onChange(() => {
      service.requeueAll();
      route.requeueAll();
    });
    await Promise.all([
      this.controllers.run(signal),
      this.controllers.connected.then(() => service.run(signal)),
      this.nodeLoop().run(signal),
      this.lifecycleLoop().run(signal),
      ...(this.parts.options.controllers.has('node-route-controller') ? [this.controllers.connected.then(() => route.run(signal))] : []),
    ]);
    stopFollowing();
    this.queues.forEach((queue) => queue.close());
    await Promise.all(this.recorders.map((recorder) => recorder.flush()));
  }

  /** The CloudProvider from the flags works before its kind exists in the cluster, and is applied where it is absent (design: Words). */
  private async bringUpDefaultProvider(): Promise<void> {
    const { options, registry, api, logger } = this.parts;
    if (options.defaultProvider === undefined) return;
    const { name, spec } = options.defaultProvider;
    const entry = await registry.set(name, spec);
    if (entry.problem !== undefined)
      logger.warn({ provider: name, err: entry.problem }, 'the CloudProvider from the flags is not connected yet');
    if ((await api.get(CLOUD_PROVIDERS, name)) !== undefined) return;
    const body = { apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name }, spec };
    await api.apply(CLOUD_PROVIDERS, name, body, { fieldManager: FIELD_MANAGERS.cloud });
  }

  private serviceLoop(): ServiceLoop {
    const { stores, registry, api } = this.parts;
    return new ServiceLoop({
      ...this.common('service-controller', SERVICE_RETRY),
      api,
      services: stores.services.store,
      cloudLoadBalancers: this.controllers.vouchedLoadBalancers,
      nodes: stores.nodes.store,
      clouds: registry,
      workers: 4,
    });
  }

  private nodeLoop(): NodeLoop {
    const { stores, api } = this.parts;
    const common = this.common('cloud-node-controller', NODE_RETRY);
    return new NodeLoop({ ...common, api, nodes: stores.nodes.store, instances: this.directory, settings: NODE_LOOP_DEFAULTS });
  }

  private lifecycleLoop(): LifecycleLoop {
    const { stores, api, options } = this.parts;
    const { confirmation } = LIFECYCLE_LOOP_DEFAULTS;
    const settings = {
      ...LIFECYCLE_LOOP_DEFAULTS,
      periodMs: options.nodeMonitorPeriodMs,
      confirmation: { ...confirmation, graceMs: options.nodeDeletionGraceMs },
    };
    const common = this.common('cloud-node-lifecycle-controller', NODE_RETRY);
    return new LifecycleLoop({ ...common, api, nodes: stores.nodes.store, instances: this.directory, settings });
  }

  private routeLoop(): RouteLoop {
    const { stores, api, registry, options } = this.parts;
    return new RouteLoop({
      ...this.common('route_controller', NODE_RETRY),
      api,
      nodes: stores.nodes.store,
      cloudRoutes: stores.routes.store,
      clouds: registry,
      clusterCidrs: options.clusterCIDRs,
      workers: 4,
    });
  }

  private common(component: string, retry: { baseMs: number; maxMs?: number; capMs?: number }): CommonLoopParts {
    const logger = this.parts.logger.child({ loop: component });
    const backOff: BackOffLimits = { baseMs: retry.baseMs, maxMs: retry.maxMs ?? retry.capMs ?? retry.baseMs };
    return { events: this.recorder(component), queue: this.queue(component, backOff), clock: systemClock, logger };
  }

  private queue(name: string, backOff: BackOffLimits, delayOf?: (key: string) => number | undefined): KeyedQueue {
    const { metrics, logger } = this.parts;
    const queue = new KeyedQueue({ name, logger, backOff, metrics: metrics.forQueue(name), ...(delayOf === undefined ? {} : { delayOf }) });
    metrics.watchQueue(queue);
    this.queues.push(queue);
    return queue;
  }

  private recorder(component: string): KubeEventRecorder {
    const recorder = new KubeEventRecorder({ api: this.parts.api, component, logger: this.parts.logger });
    this.recorders.push(recorder);
    return recorder;
  }
}

interface CommonLoopParts {
  events: KubeEventRecorder;
  queue: KeyedQueue;
  clock: typeof systemClock;
  logger: Logger;
}
