import type { DefaultProvider } from './default-provider';
import { STATE_DIRECTORY } from './state-directory';
import { programVersion } from './version';
import { configurationOf } from '../flags/configz';
import { leaderMigrationOf, lockOf, type LeaderMigration } from '../flags/leader-migration';
import { selectedControllers, type ControllerName } from '../flags/controllers';
import { FeatureGates } from '../flags/feature-gates';
import type { FlagValues } from '../flags/table';
import { parseTlsOptions } from '../flags/tls';
import { selectedWebhooks } from '../flags/webhooks';
import { OperatorError, toOperatorError } from '../base/errors';
import { makeFolder } from '../base/folder';
import { type NodeCidrSettings, parseNodeCidrs, splitServiceRanges } from '../loops/ipam/settings';
import { parseClusterCidrs } from '../loops/route/responsibility';
import type { LeaderElection, OperatorOptions } from '../options';
import type { ServingOptions } from '../server/options';
import { knownSecretsProvider } from '../updates/state/secrets-provider/registry';
import { findExtension } from '../updates/extension-module';
import { VALIDITY_MS } from '../updates/write-permit';
import { tracesAreAskedFor, tracesURL } from '../open-telemetry';

/** What was found outside the flags. */
export interface Surroundings {
  /** Path of the Pulumi CLI. */
  pulumi: string;
  provider?: DefaultProvider | undefined;
}

/**
 * Flags that were validated → options.
 * @throws OperatorError Invalid when the extension can't be found, for an unknown secrets provider, or as nodeCidrsOf and clusterCidrsOf do
 */
export function optionsOf(values: FlagValues, { pulumi, provider }: Surroundings): OperatorOptions {
  return {
    ...optional({
      kubeconfig: values.kubeconfig,
      context: values.context,
      master: values.master,
      defaultProvider: provider,
      extension: values.extension === '' ? undefined : findExtension(values.extension, process.cwd()),
      port: values.port === -1 ? undefined : values.port,
      tracing: tracingOf(values),
      serving: servingOf(values),
      webhooks: webhooksOf(values),
      nodeCidrs: nodeCidrsOf(values),
      leaderElection: electionOf(values),
    }),
    version: reportedVersion(values),
    serviceAccountCredentials: values['use-service-account-credentials'],
    namespace: values.namespace,
    stateStore: stateStoreOf(values),
    secretsProvider: knownSecretsProvider(values['secrets-provider']),
    pulumi,
    kubeApi: { qps: values['kube-api-qps'], burst: values['kube-api-burst'] },
    ui: values.ui,
    installCRDs: values['install-crds'],
    clusterCIDRs: clusterCidrsOf(values),
    ...controllersOf(values),
    workers: values.workers,
    updateDeadlineMs: values['update-deadline'],
    updateMemoryMB: values['update-memory'],
    retryBudget: { failures: values['retry-failures'], ms: values['retry-period'] },
    configuration: configurationOf(values),
    logLevel: logLevelOf(values),
  };
}

/**
 * What the flags of node IPAM mean; undefined without `--allocate-node-cidrs`, or when its controller is not selected.
 * @throws OperatorError Invalid in upstream's words; upstream ends with 255 then (contract 6.1, 7.4)
 */
export function nodeCidrsOf(values: FlagValues): NodeCidrSettings | undefined {
  splitServiceRanges(values['service-cluster-ip-range']);
  if (!selectedOf(values).has('node-ipam-controller')) return undefined;
  return parseNodeCidrs({
    clusterCidr: values['cluster-cidr'],
    serviceRanges: values['service-cluster-ip-range'],
    mask: values['node-cidr-mask-size'],
    maskIPv4: values['node-cidr-mask-size-ipv4'],
    maskIPv6: values['node-cidr-mask-size-ipv6'],
    allocatorType: values['cidr-allocator-type'],
  });
}

/**
 * The CIDRs that routes are kept for; without the route controller nobody reads them.
 * @throws OperatorError Invalid as readClusterCidrs does
 */
export function clusterCidrsOf(values: FlagValues): string[] {
  return selectedOf(values).has('node-route-controller') ? readClusterCidrs(values['cluster-cidr']) : [];
}

/** @throws OperatorError Invalid when `--cluster-cidr` can't be used for routes; upstream ends with 255 then (contract 5.1) */
export function readClusterCidrs(text: string): string[] {
  const texts = listOf(text);
  try {
    parseClusterCidrs(texts);
    return texts;
  } catch (cause) {
    throw new OperatorError('Invalid', `--cluster-cidr: ${toOperatorError(cause).message}`, { cause });
  }
}

/**
 * What `--enable-leader-migration` and its file say; undefined without it, or without an election.
 * @throws OperatorError Invalid when the file can't be used
 */
export function migrationOf(values: FlagValues): LeaderMigration | undefined {
  if (!values['enable-leader-migration'] || !values['leader-elect']) return undefined;
  return leaderMigrationOf(values['leader-migration-config']);
}

function selectedOf(values: FlagValues): Set<ControllerName> {
  const selected = new Set(selectedControllers(values.controllers));
  if (!values['configure-cloud-routes']) selected.delete('node-route-controller');
  if (!values['allocate-node-cidrs']) selected.delete('node-ipam-controller');
  const migration = migrationOf(values);
  for (const name of selected) if (migration !== undefined && lockOf(name, migration) === 'Elsewhere') selected.delete(name);
  return selected;
}

function controllersOf(values: FlagValues): OperatorControllers {
  const nodeSyncs = values['concurrent-node-syncs'];
  return {
    controllers: selectedOf(values),
    controllerStartIntervalMs: values['controller-start-interval'],
    concurrency: {
      services: values['concurrent-service-syncs'],
      nodes: nodeSyncs,
      nodeStatusUpdates: values['concurrent-node-status-updates'] || nodeSyncs,
      nodeLifecycle: values['concurrent-node-lifecycle-syncs'],
    },
    minResyncMs: values['min-resync-period'],
    nodeStatusUpdateMs: values['node-status-update-frequency'],
    nodeMonitorPeriodMs: values['node-monitor-period'],
    nodeDeletionGraceMs: values['node-deletion-grace'],
    promptNodeRemoval: values['prompt-node-removal'],
  };
}

function electionOf(values: FlagValues): LeaderElection | undefined {
  if (!values['leader-elect']) return undefined;
  const leaseDurationMs = values['leader-elect-lease-duration'];
  const renewDeadlineMs = values['leader-elect-renew-deadline'];
  if (leaseDurationMs - renewDeadlineMs <= VALIDITY_MS) {
    const least = VALIDITY_MS / 1000;
    throw new OperatorError(
      'Invalid',
      `--leader-elect-lease-duration must be more than ${least} s longer than --leader-elect-renew-deadline`,
    );
  }
  const lease = `${values['leader-elect-resource-namespace']}/${values['leader-elect-resource-name']}`;
  const migration = migrationOf(values);
  const migrated = migration === undefined ? {} : { migration: secondLease(values, migration) };
  return { lease, leaseDurationMs, renewDeadlineMs, retryPeriodMs: values['leader-elect-retry-period'], ...migrated };
}

function secondLease(values: FlagValues, migration: LeaderMigration): NonNullable<LeaderElection['migration']> {
  const controllers = new Set([...selectedOf(values)].filter((name) => lockOf(name, migration) === 'Migration'));
  return { lease: `${values['leader-elect-resource-namespace']}/${migration.leaderName}`, controllers };
}

function stateStoreOf(values: FlagValues): OperatorOptions['stateStore'] {
  if (values['state-store'] === 'directory')
    return { kind: 'Directory', path: folder('--state-directory', values['state-directory'] || STATE_DIRECTORY) };
  return { kind: 'Cluster', namespace: values['state-namespace'] || values.namespace };
}

/** Makes it where there is none. @throws OperatorError Invalid when something else is in its place, or it can't be made */
function folder(flag: string, path: string): string {
  try {
    makeFolder(path, 0o700);
    return path;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    throw new OperatorError('Invalid', `${flag} ${path} can't be used as a folder (${code}); name one that can be made or written to`, {
      cause,
    });
  }
}

/** The flag goes before the environment. @throws OperatorError Invalid for an endpoint that is no URL */
function tracingOf(values: FlagValues): OperatorOptions['tracing'] {
  const endpoint = values['otlp-endpoint'];
  if (endpoint === '') return tracesAreAskedFor(process.env) ? {} : undefined;
  tracesURL(endpoint);
  return { endpoint };
}

function servingOf(values: FlagValues): ServingOptions | undefined {
  if (values['secure-port'] === 0) return undefined;
  return {
    bindAddress: values['bind-address'] || '::',
    port: values['secure-port'],
    tls: parseTlsOptions(values, ''),
    authentication: {
      ...optional({ kubeconfig: values['authentication-kubeconfig'], clientCAFile: values['client-ca-file'] }),
      skipLookup: values['authentication-skip-lookup'],
      tolerateLookupFailure: values['authentication-tolerate-lookup-failure'],
      tokenTtlMs: values['authentication-token-webhook-cache-ttl'],
      requestHeader: {
        ...optional({ caFile: values['requestheader-client-ca-file'] }),
        allowedNames: values['requestheader-allowed-names'],
        usernameHeaders: values['requestheader-username-headers'],
        groupHeaders: values['requestheader-group-headers'],
        extraHeaderPrefixes: values['requestheader-extra-headers-prefix'],
        uidHeaders: values['requestheader-uid-headers'],
      },
    },
    authorization: {
      ...optional({ kubeconfig: values['authorization-kubeconfig'] }),
      alwaysAllowPaths: values['authorization-always-allow-paths'],
      allowTtlMs: values['authorization-webhook-cache-authorized-ttl'],
      denyTtlMs: values['authorization-webhook-cache-unauthorized-ttl'],
    },
  };
}

function webhooksOf(values: FlagValues): OperatorOptions['webhooks'] {
  const names = selectedWebhooks(values.webhooks);
  const port = values['webhook-secure-port'];
  if (names.length === 0 || port === 0) return undefined;
  const enabled = new FeatureGates(values['feature-gates']).has('CloudControllerManagerWebhook');
  return {
    names,
    enabled,
    serving: { bindAddress: values['webhook-bind-address'] || '::', port, tls: parseTlsOptions(values, 'webhook-') },
  };
}

/** `--log-level`, else klog's numbers: upstream's own code logs details from 4 on, requests from 6 on. */
function logLevelOf(values: FlagValues): string {
  if (values['log-level'] !== '') return values['log-level'];
  if (values.v >= 6) return 'trace';
  return values.v >= 4 ? 'debug' : 'info';
}

function reportedVersion({ version }: FlagValues): string {
  return typeof version === 'object' ? version.reported.replace(/^v/, '') : programVersion();
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

type Present<T> = { [N in keyof T]?: Exclude<T[N], undefined> };

/** Without what is undefined or an empty text. */
function optional<T extends Record<string, unknown>>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as Present<T>;
}

type OperatorControllers = Pick<
  OperatorOptions,
  | 'controllers'
  | 'controllerStartIntervalMs'
  | 'concurrency'
  | 'minResyncMs'
  | 'nodeStatusUpdateMs'
  | 'nodeMonitorPeriodMs'
  | 'nodeDeletionGraceMs'
  | 'promptNodeRemoval'
>;
