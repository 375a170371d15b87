import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { loadProvider } from '../providers/registry';
import { systemClock } from './base/clock';
import { OperatorError } from './base/errors';
import { createLogger, type Logger } from './base/log';
import { CloudRegistry } from './cloud/providers/registry';
import { ClusterID } from './cluster-id';
import { KubeClient } from './kube/client';
import { loadKubeConfig, type KubeConfig } from './kube/kube-config';
import { SECRETS, type KubeObject } from './kube/object';
import { Leader } from './leader';
import { Leadership } from './leadership';
import type { OperatorOptions } from './options';
import { HealthChecks } from './server/health';
import { Metrics } from './server/metrics';
import { Servers } from './servers';
import { Stores } from './stores';
import { UpdateEngine } from './updates/engine';
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
  logger.info({ clusterID: await clusterID.first(), identity, extension: options.extension }, 'connected to the API server');
  const stores = new Stores(api, logger);
  const accounts = new Accounts(systemClock, (provider, verb, { kind }) => metrics.cloudCalled(provider, verb, kind));
  const clouds = {
    loadModule: loadProvider,
    clusterID: await clusterID.first(),
    readSecret: (name: string, key: string) => readSecret(api, options.namespace, name, key),
  };
  const registry = new CloudRegistry({ ...clouds, accounts, recordedOwner: (name) => recordOf(stores, name) });
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
  const health = healthOf(stores, leadership, logger);
  showIn(metrics, options, stores);
  const servers = new Servers(options, { health, metrics, logger, clouds, clusterID, providers: stores.providers.store });
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

function recordOf(stores: Stores, nodeName: string): { provider: string; providerID: string } | undefined {
  const { provider, providerID } = stores.instances.store.get(nodeName)?.spec ?? {};
  return provider === undefined || providerID === undefined ? undefined : { provider, providerID };
}

function connect(options: OperatorOptions, metrics: Metrics, logger: Logger): { kubeConfig: KubeConfig; api: KubeClient } {
  const kubeConfig = loadKubeConfig(options);
  const userAgent = `cloud-operator/${options.version}`;
  return { kubeConfig, api: new KubeClient(kubeConfig, { ...options.kubeApi, observer: metrics.requests, userAgent, logger }) };
}

function showIn(metrics: Metrics, options: OperatorOptions, stores: Stores): void {
  metrics.built(options.version);
  metrics.objects.follow('CloudLoadBalancer', stores.loadBalancers.store);
  metrics.objects.follow('CloudRoute', stores.routes.store);
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

async function readSecret(api: KubeClient, namespace: string, name: string, key: string): Promise<string> {
  const secret = await api.get<KubeObject & { data?: Record<string, string> }>(SECRETS, `${namespace}/${name}`);
  const value = secret?.data?.[key];
  if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8');
  const what = secret === undefined ? `Secret ${namespace}/${name} does not exist` : `Secret ${namespace}/${name} has no key "${key}"`;
  throw new OperatorError('Credentials', what, {
    remedy: `Create it: kubectl -n ${namespace} create secret generic ${name} --from-literal=${key}=…`,
  });
}
