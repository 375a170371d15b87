import { Option } from 'commander';

/** Where `run` and upstream's managers have their Lease. */
export function leaseOption(): Option {
  return new Option('--lease <namespace/name>', 'Lease of the operator, where --leader-elect-resource-* say another one').default(
    'kube-system/cloud-controller-manager',
  );
}
