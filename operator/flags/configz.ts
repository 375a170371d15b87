import { selectedControllers } from './controllers';
import { formatGoDuration } from '../base/go-duration';
import type { FlagValues } from './table';

/** What /configz shows: the flags as upstream's CloudControllerManagerConfiguration has them (contract 7.6), and ours as they are. */
export function configurationOf(values: FlagValues): Record<string, unknown> {
  const duration = (ms: number): string => formatGoDuration(ms);
  return {
    'cloudcontrollermanager.config.k8s.io': {
      Generic: genericOf(values),
      KubeCloudShared: {
        CloudProvider: { Name: values['cloud-provider'], CloudConfigFile: values['cloud-config'] },
        ExternalCloudVolumePlugin: values['external-cloud-volume-plugin'],
        UseServiceAccountCredentials: values['use-service-account-credentials'],
        AllowUntaggedCloud: values['allow-untagged-cloud'],
        RouteReconciliationPeriod: duration(values['route-reconciliation-period']),
        NodeMonitorPeriod: duration(values['node-monitor-period']),
        ClusterName: values['cluster-name'],
        ClusterCIDR: values['cluster-cidr'],
        AllocateNodeCIDRs: values['allocate-node-cidrs'],
        CIDRAllocatorType: values['cidr-allocator-type'],
        ConfigureCloudRoutes: values['configure-cloud-routes'],
        NodeSyncPeriod: duration(values['node-sync-period']),
      },
      NodeController: {
        ConcurrentNodeSyncs: values['concurrent-node-syncs'],
        ConcurrentNodeStatusUpdates: values['concurrent-node-status-updates'],
      },
      NodeLifecycleController: { ConcurrentNodeLifecycleSyncs: values['concurrent-node-lifecycle-syncs'] },
      ServiceController: { ConcurrentServiceSyncs: values['concurrent-service-syncs'] },
      NodeStatusUpdateFrequency: duration(values['node-status-update-frequency']),
      Webhook: { Webhooks: values.webhooks },
    },
    'cloud-operator.dev': {
      namespace: values.namespace,
      selectedControllers: [...selectedControllers(values.controllers)],
      stateStore: values['state-store'],
      ui: values.ui,
      nodeDeletionGrace: duration(values['node-deletion-grace']),
      promptNodeRemoval: values['prompt-node-removal'],
      retryFailures: values['retry-failures'],
      retryPeriod: duration(values['retry-period']),
      updateDeadline: duration(values['update-deadline']),
      updateMemory: values['update-memory'],
      workers: values.workers,
    },
  };
}

function genericOf(values: FlagValues): Record<string, unknown> {
  return {
    Port: values['secure-port'],
    Address: values['bind-address'],
    MinResyncPeriod: formatGoDuration(values['min-resync-period']),
    ClientConnection: {
      Kubeconfig: values.kubeconfig,
      AcceptContentTypes: '',
      ContentType: values['kube-api-content-type'],
      QPS: values['kube-api-qps'],
      Burst: values['kube-api-burst'],
    },
    ControllerStartInterval: formatGoDuration(values['controller-start-interval']),
    LeaderElection: {
      LeaderElect: values['leader-elect'],
      LeaseDuration: formatGoDuration(values['leader-elect-lease-duration']),
      RenewDeadline: formatGoDuration(values['leader-elect-renew-deadline']),
      RetryPeriod: formatGoDuration(values['leader-elect-retry-period']),
      ResourceLock: values['leader-elect-resource-lock'],
      ResourceName: values['leader-elect-resource-name'],
      ResourceNamespace: values['leader-elect-resource-namespace'],
    },
    Controllers: values.controllers,
    Debugging: { EnableProfiling: values.profiling, EnableContentionProfiling: values['contention-profiling'] },
    LeaderMigrationEnabled: values['enable-leader-migration'],
  };
}
