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
  leaderElect: boolean;
  workers: number;
  nodeMonitorPeriodMs: number;
  nodeDeletionGraceMs: number;
  bindAddress: string;
  port: number;
  logLevel: string;
}
