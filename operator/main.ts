import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { loadProvider } from '../providers/registry';
import { systemClock } from './base/clock';
import { OperatorError, toOperatorError } from './base/errors';
import { createLogger, type Logger } from './base/log';
import { watchCalls } from './cloud-calls';
import { ProviderSecrets } from './cloud/providers/provider-secrets';
import { CloudRegistry } from './cloud/providers/registry';
import { ClusterID } from './cluster-id';
import { KubeClient } from './kube/client';
import { loadKubeConfig, type KubeConfig } from './kube/kube-config';
import { Leader } from './leader';
import { Leadership } from './leadership';
import type { OperatorOptions } from './options';
import { HealthChecks } from './server/health';
import { Metrics } from './server/metrics';
import { Servers } from './servers';
import { Stores } from './stores';
import type { ExtensionModule } from './updates/extension-module';
import type { Answering } from './ui/overview';
import { Page } from './ui/page';
import { UpdateEngine } from './updates/engine';
import { exportsOf } from './updates/extension-exports';
import { openStateStore } from './updates/state/open';
import { Accounts } from './updates/limits/accounts';

/**
 * The operator: connects, waits for the lease, leads, and gives everything back in order when the signal is aborted.
 * @throws OperatorError when it can't begin, or has lost its lease
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const logger = createLogger('cloud-operator', { level: options.logLevel });
  const metrics = new Metrics();
  const { kubeConfig, api } = connect(options, metrics, logger);
  const identity = `${hostname()}_${randomUUID()}`;
  const leadership = new Leadership({ api, election: options.leaderElection, identity, metrics, logger });
  const clusterID = new ClusterID({ api, clock: systemClock, logger }, signal);
  announce({ clusterID: await clusterID.first(), identity, extension: options.extension }, logger);
  const stores = new Stores(api, logger);
  const accounts = new Accounts(systemClock, watchCalls(metrics, logger));
  const clouds = {
    loadModule: loadProvider,
    clusterID: await clusterID.first(),
    readSecret: (name: string, keys: readonly string[]) => new ProviderSecrets(api, options.namespace).read(name, keys),
  };
  const registry = new CloudRegistry({ ...clouds, accounts, recordedOwner: (name) => recordOf(stores, name) });
  const updates = updatesOf(options, { leadership, clusterID, accounts, logger });
  const health = healthOf(stores, leadership, logger);
  showIn(metrics, options, stores);
  const servers = new Servers(options, {
    health,
    metrics,
    logger,
    clouds,
    clusterID,
    providers: stores.providers.store,
    page: pageOf(options, stores, { identity, leads: leadership.isValid }),
  });
  const lead = (leading: AbortSignal): Promise<void> => {
    updates.warm();
    const made = { stores, registry, updates, metrics, health, servingRights: servers.rights() };
    return new Leader({ ...made, options, kubeConfig, leadership, clusterID, identity, logger }).run(leading);
  };
  const end = new AbortController();
  const stopped = AbortSignal.any([signal, end.signal]);
  const filling = stores.run(stopped);
  try {
    await servers.start(stopped);
    await leadership.run(lead, stopped);
  } finally {
    end.abort();
    await Promise.all([filling, updates.close(), registry.close(), servers.stop()]);
    await api.close();
  }
}

interface UpdateParts {
  leadership: Leadership;
  clusterID: ClusterID;
  accounts: Accounts;
  logger: Logger;
}

/** The engine, after what an operator that died here has left was ended: whoever leads by now may be on another machine, and this one may wait for long. */
function updatesOf(options: OperatorOptions, { leadership, clusterID, accounts, logger }: UpdateParts): UpdateEngine {
  const updates = new UpdateEngine({
    store: openStateStore(options.stateStore, leadership.api, {
      secretsProvider: options.secretsProvider,
      clusterID: () => clusterID.known,
      warn: (message) => logger.warn(message),
    }),
    tools: { pulumi: options.pulumi },
    logger: logger.child({ part: 'updates' }),
    clock: systemClock,
    workers: options.workers,
    deadlineMs: options.updateDeadlineMs,
    memoryMB: options.updateMemoryMB,
    accounts,
  });
  updates.endOrphans();
  return updates;
}

function announce(
  about: { clusterID: string | undefined; identity: string; extension: ExtensionModule | undefined },
  logger: Logger,
): void {
  logger.info(about, 'connected to the API server');
  void tellIfBroken(about.extension, logger);
}

/** It goes on all the same: Nodes need no extension, and what needs it is told by its own condition. */
async function tellIfBroken(module: ExtensionModule | undefined, logger: Logger): Promise<void> {
  if (module === undefined) return;
  try {
    await exportsOf(module);
  } catch (thrown) {
    const { message, remedy } = toOperatorError(thrown);
    logger.warn(
      { extension: module.path, error: message, remedy },
      "the extension can't be loaded: load balancers that are new or change wait, Stalled, until the operator is started with one that can",
    );
  }
}

function recordOf(stores: Stores, nodeName: string): { provider: string; providerID: string } | undefined {
  const { provider, providerID } = stores.instances.store.get(nodeName)?.spec ?? {};
  return provider === undefined || providerID === undefined ? undefined : { provider, providerID };
}

function connect(options: OperatorOptions, metrics: Metrics, logger: Logger): { kubeConfig: KubeConfig; api: KubeClient } {
  const kubeConfig = loadKubeConfig(options);
  const userAgent = `cloud-operator/${options.version}`;
  return { kubeConfig, api: new KubeClient(kubeConfig, { ...options.kubeApi, observer: metrics.requests, userAgent, logger }) };
}

function pageOf({ ui, version }: OperatorOptions, stores: Stores, about: { identity: string; leads: () => boolean }): Page | undefined {
  if (!ui) return undefined;
  const caches = {
    ...{ services: stores.services.store, nodes: stores.nodes.store, providers: stores.providers.store },
    ...{ loadBalancers: stores.loadBalancers.store, routes: stores.routes.store },
    ...{ stacks: stores.stacks.store, instances: stores.instances.store },
  };
  const answering = (): Answering => {
    const filling = stores.unsynced();
    return { version, identity: about.identity, leads: about.leads(), ...(filling === undefined ? {} : { filling }) };
  };
  return new Page(caches, answering, systemClock);
}

function showIn(metrics: Metrics, options: OperatorOptions, stores: Stores): void {
  metrics.built(options.version);
  metrics.objects.follow('Service', stores.services.store);
  metrics.objects.follow('CloudLoadBalancer', stores.loadBalancers.store);
  metrics.objects.follow('CloudRoute', stores.routes.store);
  metrics.objects.follow('CloudProvider', stores.providers.store);
  metrics.drift.follow(stores.stacks.store);
}

function healthOf(stores: Stores, leadership: Leadership, logger: Logger): HealthChecks {
  const health = new HealthChecks(logger);
  const caches = (): void => {
    const waiting = stores.unsynced();
    if (waiting !== undefined) throw new OperatorError('Transient', waiting);
  };
  health.add('caches', caches, ['readyz']);
  leadership.addTo(health);
  return health;
}
