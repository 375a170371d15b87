import { ChangeBook } from './base/change-book';
import { systemClock } from './base/clock';
import { permissionsOf } from './access-check';
import { OperatorError } from './base/errors';
import { Bootstrap, type IdentityRights } from './bootstrap';
import type { Logger } from './base/log';
import { CloudControllers } from './cloud/controllers';
import { EarlyProviders } from './cloud/providers/early-providers';
import { UnobservedNodes } from './cloud/instances/unobserved-nodes';
import { InstanceDirectory } from './cloud/instances/instance-directory';
import type { CloudRegistry } from './cloud/providers/registry';
import type { ClusterID } from './cluster-id';
import type { KubeClient } from './kube/client';
import type { Leadership } from './leadership';
import { KubeEventRecorder } from './kube/events';
import type { KubeConfig } from './kube/kube-config';
import { KeyedQueue, type KeyedQueueOptions } from './kube/queue';
import type { BackOffLimits } from './kube/back-off';
import { confirmationRule } from './loops/lifecycle/confirmations';
import { IpamLoop } from './loops/ipam/loop';
import { LIFECYCLE_LOOP_DEFAULTS, LifecycleLoop } from './loops/lifecycle/loop';
import { NODE_LOOP_DEFAULTS, NODE_RETRY, NodeLoop, type NodeLoopDependencies } from './loops/node/loop';
import { RouteLoop } from './loops/route/loop';
import { ServiceLoop } from './loops/service/loop';
import { SERVICE_RETRY } from './loops/service/rules';
import { ACCOUNT_NAMESPACE, accountOf, LOOP_ACCOUNTS, queueOf, type ControllerName, type QueuedController } from './flags/controllers';
import { LoopAccounts } from './loop-accounts';
import { permissionsOfAccount } from './permissions';
import { ManagedControllers, type ManagedController } from './managed-controllers';
import type { OperatorOptions } from './options';
import type { HealthChecks } from './server/health';
import type { Metrics } from './server/metrics';
import type { Stores } from './stores';
import type { Updates } from './updates/update';

/** `source.component` of the loops' Events, in upstream's spellings. */
const EVENT_SOURCES: Record<ControllerName, string> = {
  'cloud-node-controller': 'cloud-node-controller',
  'cloud-node-lifecycle-controller': 'cloud-node-lifecycle-controller',
  'service-lb-controller': 'service-controller',
  'node-route-controller': 'route_controller',
  'node-ipam-controller': 'cidrAllocator',
};

export interface LeaderParts {
  options: OperatorOptions;
  kubeConfig: KubeConfig;
  leadership: Pick<Leadership, 'api' | 'migratedApi' | 'isValid' | 'runMigrated'>;
  stores: Stores;
  registry: CloudRegistry;
  updates: Updates;
  clusterID: Pick<ClusterID, 'known'>;
  identity: string;
  /** What the servers' own clients need to be allowed. */
  servingRights: readonly IdentityRights[];
  metrics: Metrics;
  health: HealthChecks;
  logger: Logger;
}

/** What only the leader does: the loops, and the controllers of the Cloud* kinds. */
export class Leader {
  private readonly changes = new ChangeBook();
  private readonly recorders: KubeEventRecorder[] = [];
  private readonly queues: KeyedQueue[] = [];
  private readonly directory: InstanceDirectory;
  private readonly accounts: LoopAccounts | undefined;
  /** Once the cluster's id can be read: nothing of ours is in a cloud without it. */
  private readonly controllers: Promise<CloudControllers>;
  private providerHealthChanged: (provider: string) => void = () => undefined;

  constructor(private readonly parts: LeaderParts) {
    this.directory = new InstanceDirectory(parts.registry, systemClock, (provider) => this.providerHealthChanged(provider));
    this.accounts = loopAccounts(parts);
    this.controllers = parts.clusterID.known.then((clusterID) => this.cloudControllers(clusterID));
    // Whoever waits for it sees why it doesn't come.
    this.controllers.catch(() => undefined);
  }

  /** Works until the signal is aborted. What needs nothing but Nodes begins at once (design: Bootstrap). */
  async run(signal: AbortSignal): Promise<void> {
    const early = this.earlyProviders();
    await Promise.race([early.begin(signal), aborted(signal)]);
    this.controllers.then(({ connected }) => connected.then(() => early.end())).catch(() => undefined);
    const { options, registry, leadership } = this.parts;
    const migrating = options.leaderElection?.migration?.controllers ?? new Set();
    const loops = this.managed();
    const managed = this.managing(loops.filter(({ name }) => !migrating.has(name)));
    const migrated = this.managing(loops.filter(({ name }) => migrating.has(name)));
    const stopFollowing = registry.onChange(() => [managed, migrated].forEach((some) => some.requeueAll()));
    try {
      await together(signal, [
        (ended) => this.runControllers(ended),
        (ended) => this.endWork(ended),
        (ended) => managed.run(ended),
        (ended) => leadership.runMigrated((held) => migrated.run(held), ended),
        (ended) => this.bootstrap().run(ended),
      ]);
    } finally {
      early.end();
      stopFollowing();
      this.queues.forEach((queue) => queue.close());
      await Promise.all(this.recorders.map((recorder) => recorder.flush()));
      await this.accounts?.close();
    }
  }

  /**
   * Not after the controllers, whose passes wait for their updates and their calls to the cloud, but before them: what waits is refused, for a worker or for
   * the end of a Retry-After, and what runs has its grace to store its steps in flight, while the lease is still held.
   */
  private async endWork(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    const { registry, updates } = this.parts;
    registry.accounts.end(new OperatorError('Canceled', 'the operator ends: it calls no cloud any more'));
    await updates.close();
  }

  private async runControllers(signal: AbortSignal): Promise<void> {
    const controllers = await Promise.race([this.controllers, aborted(signal)]);
    await controllers?.run(signal);
  }

  private async cloudControllers(clusterID: string): Promise<CloudControllers> {
    const { parts } = this;
    const { stores, options, metrics, leadership, logger } = parts;
    await parts.registry.know(clusterID);
    const controllers = new CloudControllers({
      ...parts,
      ...{ clusterID, api: leadership.api, isValid: leadership.isValid },
      stores: {
        nodes: stores.nodes.store,
        providers: stores.providers.store,
        loadBalancers: stores.loadBalancers.store,
        routes: stores.routes.store,
        stacks: stores.stacks.store,
        instances: stores.instances.store,
      },
      directory: this.directory,
      changes: this.changes,
      ...(options.extension === undefined ? {} : { extension: options.extension }),
      events: this.recorder(leadership.api, 'cloud-operator'),
      serviceEvents: this.recorder(leadership.api, 'service-controller'),
      updateDeadlineMs: options.updateDeadlineMs,
      promptNodeRemoval: options.promptNodeRemoval,
      clusterCIDRs: options.clusterCIDRs,
      // A pass that waits for its update holds its place: there must be more places than updates that can hang.
      workers: Math.max(32, options.workers * 4),
      retryBudget: options.retryBudget,
      makeQueue: (name, backOff, delayOf) => this.queue(name, backOff, delayOf),
      onSwept: (provider, leftovers) => metrics.swept(provider, leftovers),
      onDrift: (provider, kind, policy) => metrics.drift.found(provider, kind, policy),
      onHostsSynced: (tookMs, failed) => metrics.controllers.hostsSynced(tookMs, failed),
      onNodeSync: (tookMs) => metrics.controllers.nodesSynced(tookMs),
      onUpdate: (provider, result, tookMs) => metrics.updated(provider, result, tookMs),
      clock: systemClock,
      random: Math.random,
      logger: logger.child({ part: 'cloud' }),
    });
    this.providerHealthChanged = (provider) => controllers.providerHealthChanged(provider);
    return controllers;
  }

  private managing(loops: readonly ManagedController[]): ManagedControllers {
    const { options, health, metrics, logger } = this.parts;
    return new ManagedControllers(loops, {
      ...{ startIntervalMs: options.controllerStartIntervalMs, minResyncMs: options.minResyncMs },
      ...{ health, metrics, logger, clock: systemClock, random: Math.random },
    });
  }

  private earlyProviders(): EarlyProviders {
    const { options, stores, registry, logger } = this.parts;
    const { defaultProvider: fromFlags } = options;
    for (const warning of fromFlags?.warnings ?? []) logger.warn({ provider: fromFlags?.name }, `--cloud-config: ${warning}`);
    return new EarlyProviders({ providers: stores.providers, registry, logger, ...(fromFlags === undefined ? {} : { fromFlags }) });
  }

  private bootstrap(): Bootstrap {
    const { options, stores, leadership, logger } = this.parts;
    const { defaultProvider } = options;
    return new Bootstrap({
      ...{
        api: leadership.api,
        servicesApi: this.asLoop('service-lb-controller', leadership.api),
        stores,
        rights: this.rights(),
        installCRDs: options.installCRDs,
        clock: systemClock,
        logger,
      },
      ...(defaultProvider === undefined ? {} : { defaultProvider }),
      begun: this.controllers.then(({ connected }) => connected),
      onMissingRights: (rules) => void this.controllers.then((controllers) => controllers.lacksRights(rules)).catch(() => undefined),
      onStale: (stale) => void this.controllers.then((controllers) => controllers.missesChanges(stale)).catch(() => undefined),
      watchesServices: options.controllers.has('service-lb-controller'),
    });
  }

  private rights(): IdentityRights[] {
    const { options, leadership, servingRights } = this.parts;
    const { accounts } = this;
    const { api } = leadership;
    const table = permissionsOf(options);
    if (accounts === undefined) return [{ api, permissions: table }, ...servingRights];
    const loops = LOOP_ACCOUNTS.map((account) => ({ account, permissions: permissionsOfAccount(table, account) }));
    return [
      { api, permissions: permissionsOfAccount(table, undefined) },
      ...loops
        .filter(({ permissions }) => permissions.length > 0)
        .map(({ account, permissions }) => ({
          holder: `the ServiceAccount ${ACCOUNT_NAMESPACE}/${account}`,
          api: accounts.as(account, api),
          permissions,
        })),
      ...servingRights,
    ];
  }

  /** The client as the loop's ServiceAccount, where the flags say so. */
  private asLoop(name: ControllerName, api: KubeClient): KubeClient {
    const account = accountOf(name);
    return this.accounts === undefined || account === undefined ? api : this.accounts.as(account, api);
  }

  /** The loops that the flags select. Those that write our kinds wait until every CloudProvider that is there has been tried. */
  private managed(): ManagedController[] {
    const makers: Record<ControllerName, () => Omit<ManagedController, 'name'> | undefined> = {
      'cloud-node-controller': () => this.nodeLoop(),
      'cloud-node-lifecycle-controller': () => this.lifecycleLoop(),
      'service-lb-controller': () => this.later((controllers) => this.serviceLoop(controllers)),
      'node-route-controller': () => this.later(() => this.routeLoop()),
      'node-ipam-controller': () => this.ipamLoop(),
    };
    return [...this.parts.options.controllers].flatMap((name) => {
      const loop = makers[name]();
      return loop === undefined ? [] : [{ name, run: (signal) => loop.run(signal), requeueAll: () => loop.requeueAll?.() }];
    });
  }

  /** A loop that begins once the controllers of our kinds have; or never, when it is told to end before. */
  private later(make: (controllers: CloudControllers) => Omit<ManagedController, 'name'>): Omit<ManagedController, 'name'> {
    let loop: Omit<ManagedController, 'name'> | undefined;
    const run = async (signal: AbortSignal): Promise<void> => {
      const begun = this.controllers.then((controllers) => controllers.connected.then(() => controllers));
      const controllers = await Promise.race([begun, aborted(signal)]);
      if (controllers === undefined || signal.aborted) return;
      loop = make(controllers);
      await loop.run(signal);
    };
    return { run, requeueAll: () => loop?.requeueAll?.() };
  }

  private serviceLoop({ vouchedLoadBalancers }: CloudControllers): ServiceLoop {
    const { stores, registry, options } = this.parts;
    return new ServiceLoop({
      ...this.common('service-lb-controller', SERVICE_RETRY),
      services: stores.services.store,
      namespaces: stores.namespaces.store,
      cloudLoadBalancers: vouchedLoadBalancers,
      nodes: stores.nodes.store,
      clouds: registry,
      changes: this.changes,
      workers: options.concurrency.services,
    });
  }

  private nodeLoop(): NodeLoop {
    const { options } = this.parts;
    const { concurrency, nodeStatusUpdateMs: statusUpdateMs } = options;
    const common = this.common('cloud-node-controller', NODE_RETRY);
    const settings = {
      ...NODE_LOOP_DEFAULTS,
      workers: concurrency.nodes,
      statusUpdateWorkers: concurrency.nodeStatusUpdates,
      statusUpdateMs,
    };
    return new NodeLoop({ ...common, ...this.unobserved(), settings });
  }

  private lifecycleLoop(): LifecycleLoop {
    const { options } = this.parts;
    const settings = {
      ...LIFECYCLE_LOOP_DEFAULTS,
      periodMs: options.nodeMonitorPeriodMs,
      workers: options.concurrency.nodeLifecycle,
      confirmation: confirmationRule(options.nodeDeletionGraceMs),
    };
    const common = this.loopParts('cloud-node-lifecycle-controller');
    return new LifecycleLoop({ ...common, ...this.unobserved(), settings });
  }

  /** What the loops see that write to Nodes. */
  private unobserved(): Pick<NodeLoopDependencies, 'nodes' | 'instances' | 'observes'> {
    const { stores, registry } = this.parts;
    const nodes = new UnobservedNodes(stores.nodes.store, registry);
    return { nodes, instances: this.directory, observes: (provider) => registry.observes(provider) };
  }

  private routeLoop(): RouteLoop {
    const { stores, registry, options } = this.parts;
    return new RouteLoop({
      ...this.common('node-route-controller', NODE_RETRY),
      nodes: stores.nodes.store,
      cloudRoutes: stores.routes.store,
      clouds: registry,
      owners: registry.owners,
      clusterCidrs: options.clusterCIDRs,
      changes: this.changes,
      workers: 4,
    });
  }

  /** undefined = without settings there is nothing to give out. */
  private ipamLoop(): IpamLoop | undefined {
    const { stores, options, metrics, registry } = this.parts;
    if (options.nodeCidrs === undefined) return undefined;
    const cidrMetrics = metrics.nodeCidrs();
    return new IpamLoop({
      ...this.common('node-ipam-controller', NODE_RETRY),
      nodes: stores.nodes.store,
      metrics: (clusterCidr, blocks) => cidrMetrics.of(clusterCidr, blocks),
      observes: (node) => registry.observesNode(node),
      settings: options.nodeCidrs,
    });
  }

  private common(name: QueuedController, retry: { baseMs: number; maxMs?: number; capMs?: number }): CommonLoopParts {
    const backOff: BackOffLimits = { baseMs: retry.baseMs, maxMs: retry.maxMs ?? retry.capMs ?? retry.baseMs };
    return { ...this.loopParts(name), queue: this.queue(queueOf(name), backOff) };
  }

  /** Each loop has a client of its own, with its own share of requests (contract 7.3). */
  private loopParts(name: ControllerName): Omit<CommonLoopParts, 'queue'> {
    const { leadership, options, metrics, logger } = this.parts;
    const component = EVENT_SOURCES[name];
    const migrating = options.leaderElection?.migration?.controllers.has(name) === true;
    const api = this.asLoop(name, migrating ? leadership.migratedApi : leadership.api);
    return {
      api: api.withOptions({ ...options.kubeApi, userAgent: `cloud-operator/${options.version}/${component}` }),
      events: this.recorder(api, component),
      metrics: metrics.controllers,
      clock: systemClock,
      logger: logger.child({ loop: component }),
    };
  }

  private queue(name: string, backOff: BackOffLimits, delayOf?: KeyedQueueOptions['delayOf']): KeyedQueue {
    const { metrics, logger } = this.parts;
    const queue = new KeyedQueue({ name, logger, backOff, metrics: metrics.forQueue(name), ...(delayOf === undefined ? {} : { delayOf }) });
    metrics.watchQueue(queue);
    this.queues.push(queue);
    return queue;
  }

  private recorder(api: KubeClient, component: string): KubeEventRecorder {
    const recorder = new KubeEventRecorder({ api, component, logger: this.parts.logger });
    this.recorders.push(recorder);
    return recorder;
  }
}

/** undefined = the loops work as the operator itself. */
function loopAccounts({ options, leadership, logger }: LeaderParts): LoopAccounts | undefined {
  if (!options.serviceAccountCredentials) return undefined;
  return new LoopAccounts({ api: leadership.api, clock: systemClock, random: Math.random, logger });
}

interface CommonLoopParts {
  api: KubeClient;
  events: KubeEventRecorder;
  queue: KeyedQueue;
  metrics: Metrics['controllers'];
  clock: typeof systemClock;
  logger: Logger;
}

/** All until they have ended; when one fails, the others are told to end. @throws what the first one threw */
async function together(signal: AbortSignal, works: ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const fail = (thrown: unknown): void => {
    // Whoever was told to end while it still waited for its caches says just that.
    if (thrown !== either.reason) failed.abort(thrown);
  };
  await Promise.allSettled(works.map((work) => work(either).catch(fail)));
  failed.signal.throwIfAborted();
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
