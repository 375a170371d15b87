import type { FlagDefaults } from './table';

/** How `run` differs from `controller-manager`: health in plain HTTP for this machine only. */
export const RUN_DEFAULTS: FlagDefaults = {
  'concurrent-service-syncs': 4,
  'kube-api-burst': 100,
  'kube-api-qps': 50,
  port: 10258,
  'secure-port': 0,
};
