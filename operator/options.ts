import type { CloudProviderSpec } from '../crds';
import type { ExtensionModule } from './updates/extension-module';
import type { ControllerName } from './flags/controllers';
import type { NodeCidrSettings } from './loops/ipam/settings';
import type { WebhookName } from './flags/webhooks';
import type { ServingOptions, WebhookServingOptions } from './server/options';
import type { StatePlace } from './updates/state/open';

/** Everything that `cloud-operator run` and `controller-manager` can be told. Times are in milliseconds. */
export interface OperatorOptions {
  /** Of this program. */
  version: string;
  kubeconfig?: string;
  context?: string;
  /** Address of the API server, in place of the kubeconfig's. */
  master?: string;
  /** Requests to the API server a second (0 = no limit), and at once; for each client. */
  kubeApi: { qps: number; burst: number };
  /** Each loop works as a ServiceAccount of its own. */
  serviceAccountCredentials: boolean;
  /** The operator's own namespace. */
  namespace: string;
  /** Where the stacks' state is kept. */
  stateStore: StatePlace;
  /** What protects the state's data keys that are made from now on: `default`, or the URL of a key in a KMS. */
  secretsProvider: string;
  /** Path of the Pulumi CLI. */
  pulumi: string;
  /** The CloudProvider from the command line: used until the cluster has one of that name, then applied if absent. `warnings`: what its file says without effect. */
  defaultProvider?: { name: string; spec: CloudProviderSpec; warnings?: string[] };
  /** The extension in code, which only workers run. */
  extension?: ExtensionModule;
  /** The leader brings the CRDs of this release where they are absent or older. */
  installCRDs: boolean;
  clusterCIDRs: string[];
  /** Which pod CIDRs Nodes get; absent = none, somebody else gives them. */
  nodeCidrs?: NodeCidrSettings;
  /** Those that run: selected, and not switched off by a flag of their own. */
  controllers: ReadonlySet<ControllerName>;
  /** Between the starts of two controllers. */
  controllerStartIntervalMs: number;
  concurrency: Concurrency;
  /** Every object is looked at again after once to twice this time. */
  minResyncMs: number;
  nodeStatusUpdateMs: number;
  nodeMonitorPeriodMs: number;
  nodeDeletionGraceMs: number;
  /** A Node that gained the autoscaler's taint or a deletion timestamp leaves the load balancers at once, not at the next change that counts. */
  promptNodeRemoval: boolean;
  /** Absent = it leads at once, without a Lease. */
  leaderElection?: LeaderElection;
  workers: number;
  /** How long a stack update may take. */
  updateDeadlineMs: number;
  /** Resident memory that a worker or an engine may use, in MB. */
  updateMemoryMB: number;
  /** After so many failures in a row, or so long, a stack that fails for a reason that may pass is Stalled. */
  retryBudget: { failures: number; ms: number };
  /** The HTTPS server; absent = none. */
  serving?: ServingOptions;
  /** Those that were asked for; served only with the gate CloudControllerManagerWebhook. Absent = none. */
  webhooks?: { names: WebhookName[]; enabled: boolean; serving: WebhookServingOptions };
  /** Whether the HTTPS server has the page for people too. */
  ui: boolean;
  /** Sends OpenTelemetry traces to this OTLP receiver, or to the one that its environment variables name; absent = nowhere. */
  tracing?: { endpoint?: string };
  /** Port of plain HTTP on 127.0.0.1, 0 = any free one; absent = none. */
  port?: number;
  /** What /configz shows. */
  configuration: Record<string, unknown>;
  logLevel: string;
}

/** How many keys a controller works on at the same time. */
export interface Concurrency {
  services: number;
  nodes: number;
  nodeStatusUpdates: number;
  nodeLifecycle: number;
}

/** A Lease, and client-go's durations for it. */
export interface LeaderElection {
  /** `<namespace>/<name>`. */
  lease: string;
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
  /** Controllers that need a second Lease too, which they share with another manager (contract 7.5). */
  migration?: { lease: string; controllers: ReadonlySet<ControllerName> };
}
