import type { KubeObject } from '../../operator/kube/object';

/** How the API server calls who writes as `cloud-operator/<version>`. */
const MANAGER = 'cloud-operator';

/** Those of some Events that this operator has written: kube-apiserver writes some, too, as of a ClusterIP that its repair loop finds too early. */
export function ownEvents<T extends KubeObject>(events: readonly T[]): T[] {
  return events.filter(({ metadata }) => metadata.managedFields?.some(({ manager }) => manager === MANAGER) === true);
}
