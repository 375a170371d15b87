import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { SERVICES } from '../../kube/object';
import type { NamespaceFlags, OutputFormat } from '../cluster-flags';
import { getOne, getOurs, handsOn, withCluster, type Cluster } from './connect';
import type { StoredLoadBalancer, StoredProvider, StoredRoute } from '../../explain/kinds';
import { Deeds } from './done';
import { objectState } from '../../explain/object-state';
import { subjectOf, type Subject } from './subject';
import { until } from './wait';

export interface ReconcileFlags extends NamespaceFlags {
  /** In milliseconds. */
  timeout: number;
  output: OutputFormat;
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
      const object = await getOne(cluster, resource, key);
      const handedOn = resource.kind === CLOUD_LOAD_BALANCERS.kind && (await handsOn(cluster, key, object, ANNOTATIONS.reconcile));
      const asked = handedOn ? SERVICES : resource;
      await cluster.api.patch(asked, key, 'merge', { metadata: { annotations: { [ANNOTATIONS.reconcile]: token } } });
    }
    const deeds = new Deeds(flags.output);
    for (const subject of subjects) {
      const found = await handled(cluster, subject, token, flags.timeout);
      tell(deeds, subject, found);
    }
    deeds.end();
  });
}

function madeBy({ resource, key }: Subject): Subject {
  return { resource: resource.kind === SERVICES.kind ? CLOUD_LOAD_BALANCERS : resource, key };
}

async function handled(cluster: Cluster, { resource, key }: Subject, token: string, timeoutMs: number): Promise<Reconciled | undefined> {
  let found: Reconciled | undefined;
  const echoed = async (): Promise<boolean> => {
    found = await getOurs<Reconciled>(cluster, resource, key);
    return found === undefined || found.status?.lastHandledReconcile === token;
  };
  const remedy = `see whether the operator runs: kubectl cloud explain ${resource.kind.toLowerCase()}/${key.split('/').at(-1) ?? key}`;
  await until(echoed, { timeoutMs }, () => new OperatorError('Transient', `${resource.kind} ${key} was not looked at in time`, { remedy }));
  return found;
}

function tell(deeds: Deeds, { resource: { kind }, key: name }: Subject, found: Reconciled | undefined): void {
  if (found === undefined) return deeds.did({ kind, name, state: 'Gone' }, `${kind} ${name}: gone`);
  const { word: state, condition } = objectState(found);
  const { reason, message } = condition ?? {};
  deeds.did(
    { kind, name, state, reason, message },
    `${kind} ${name}: ${condition === undefined ? state : `${state} (${reason}): ${message}`}`,
  );
}
