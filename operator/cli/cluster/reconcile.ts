import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { SERVICES } from '../../kube/object';
import type { NamespaceFlags } from '../cluster-flags';
import { getOne, getOurs, withCluster, type Cluster } from './connect';
import type { StoredLoadBalancer, StoredProvider, StoredRoute } from '../../explain/kinds';
import { objectState } from '../../explain/object-state';
import { subjectOf, type Subject } from './subject';
import { until } from './wait';

export interface ReconcileFlags extends NamespaceFlags {
  /** In milliseconds. */
  timeout: number;
}

type Reconciled = StoredLoadBalancer | StoredRoute | StoredProvider;

const KINDS = [CLOUD_LOAD_BALANCERS, SERVICES, CLOUD_ROUTES, CLOUD_PROVIDERS];

/**
 * `reconcile`: asks for a pass now, for another try of what failed and a look at the cloud, and waits until the operator has made it. A CloudProvider
 * stands for everything of its cloud.
 * @throws OperatorError Transient when it has not in time
 */
export async function reconcile(names: readonly string[], flags: ReconcileFlags): Promise<void> {
  await withCluster(flags, async (cluster) => {
    const subjects = names.map((name) => madeBy(subjectOf(name, KINDS, cluster.namespace)));
    const token = new Date().toISOString();
    for (const { resource, key } of subjects) {
      await getOne(cluster, resource, key);
      await cluster.api.patch(resource, key, 'merge', { metadata: { annotations: { [ANNOTATIONS.reconcile]: token } } });
    }
    for (const subject of subjects) await handled(cluster, subject, token, flags.timeout);
  });
}

function madeBy({ resource, key }: Subject): Subject {
  return { resource: resource.kind === SERVICES.kind ? CLOUD_LOAD_BALANCERS : resource, key };
}

async function handled(cluster: Cluster, { resource, key }: Subject, token: string, timeoutMs: number): Promise<void> {
  let found: Reconciled | undefined;
  const echoed = async (): Promise<boolean> => {
    found = await getOurs<Reconciled>(cluster, resource, key);
    return found === undefined || found.status?.lastHandledReconcile === token;
  };
  const remedy = `see whether the operator runs: kubectl cloud explain ${resource.kind.toLowerCase()}/${key.split('/').at(-1) ?? key}`;
  await until(echoed, timeoutMs, () => new OperatorError('Transient', `${resource.kind} ${key} was not looked at in time`, { remedy }));
  process.stdout.write(`${resource.kind} ${key}: ${found === undefined ? 'gone' : told(found)}\n`);
}

function told(object: Reconciled): string {
  const { word, condition } = objectState(object);
  return condition === undefined ? word : `${word} (${condition.reason}): ${condition.message}`;
}
