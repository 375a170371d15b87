import type { CloudProviderSpec } from '../crds';
import type { ExtensionModule } from './updates/extension-module';
import type { StatePlace } from './updates/state/open';

/** Everything that `cloud-operator run` can be told. Times are in milliseconds. */
export interface OperatorOptions {
  /** Of this program. */
  version: string;
  kubeconfig?: string;
  context?: string;
  /** The operator's own namespace. */
  namespace: string;
  /** Where the stacks' state is kept. */
  stateStore: StatePlace;
  /** Path of the Pulumi CLI. */
  pulumi: string;
  /** The CloudProvider from the command line: used until the cluster has one of that name, then applied if absent. */
  defaultProvider?: { name: string; spec: CloudProviderSpec };
  /** The extension in code, which only workers run. */
  extension?: ExtensionModule;
  clusterCIDRs: string[];
  configureCloudRoutes: boolean;
  /** Absent = it leads at once, without a Lease. */
  leaderElection?: LeaderElection;
  workers: number;
  /** How long a stack update may take. */
  updateDeadlineMs: number;
  /** Resident memory that a worker or an engine may use, in MB. */
  updateMemoryMB: number;
  /** After so many failures in a row, or so long, a stack that fails for a reason that may pass is Stalled. */
  retryBudget: { failures: number; ms: number };
  nodeMonitorPeriodMs: number;
  nodeDeletionGraceMs: number;
  bindAddress: string;
  port: number;
  logLevel: string;
}

/** A Lease, and client-go's durations for it. */
export interface LeaderElection {
  /** `<namespace>/<name>`. */
  lease: string;
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}
