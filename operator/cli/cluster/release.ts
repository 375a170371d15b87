import { CLEANUP_FINALIZER, CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES, CLOUD_STACKS } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { systemClock } from '../../base/clock';
import { FINALIZER_LOAD_BALANCER_CLEANUP } from '../../kube/node';
import { keyOf, SERVICES, type KubeObject, type ResourcePath, type Service } from '../../kube/object';
import type { ConnectionFlags, OutputFormat } from '../cluster-flags';
import { listOurs, withCluster, type Cluster } from './connect';
import { leaderOf } from '../../explain/operator-runs';
import { Deeds } from './done';
import { leaseOf } from './facts';
import type { StoredLoadBalancer } from '../../explain/kinds';

export interface ReleaseFlags extends ConnectionFlags {
  all?: boolean;
  dryRun?: boolean;
  lease: string;
  output: OutputFormat;
}

/** One object that is let go of. */
interface Release {
  resource: ResourcePath;
  object: KubeObject;
  /** What of its finalizers goes. */
  finalizer: string;
  /** Its deletion leaves the cloud as it is, also where an operator is started again. */
  orphan: boolean;
}

/**
 * `release --all`: lets go of everything on purpose, so that operator and CRDs can be deleted and nothing in the cloud is. Asks nothing of the cloud.
 * @throws OperatorError Conflict while an operator leads: it would put everything back
 */
export async function release(flags: ReleaseFlags): Promise<void> {
  if (flags.all !== true)
    throw new OperatorError('Invalid', 'release lets go of everything at once: say so with --all', {
      remedy: 'one object is let go of by spec.deletionPolicy: Orphan (docs/operate/levers.md)',
    });
  await withCluster(flags, async (cluster) => {
    await refuseWhileLed(cluster, flags.lease);
    const releases = await releasesOf(cluster);
    const deeds = new Deeds(flags.output);
    const dryRun = flags.dryRun === true;
    for (const one of releases) {
      if (!dryRun) await letGo(cluster, one);
      const { kind } = one.resource;
      const name = keyOf(one.object.metadata);
      deeds.did({ kind, name, finalizer: one.finalizer, dryRun }, `released${dryRun ? ' (dry run)' : ''}: ${kind} ${name}`);
    }
    deeds.say(lastWords(releases, dryRun).trimEnd());
    deeds.end();
  });
}

async function refuseWhileLed(cluster: Cluster, name: string): Promise<void> {
  const lease = await leaseOf(cluster, name);
  const remedy = `stop it first: kubectl -n cloud-operator-system scale deployment/cloud-operator --replicas=0, and wait a minute`;
  if (lease === 'Unreadable')
    throw new OperatorError('Credentials', `whether an operator leads can't be told: Lease ${name} can't be read`, {
      remedy: 'it needs get on Leases',
    });
  const holder = leaderOf(lease, systemClock.now());
  if (holder !== undefined)
    throw new OperatorError('Conflict', `${holder} leads (Lease ${name}), and would put everything back`, { remedy });
}

/** What there is, in the order in which it is let go of: first what an operator acts on. */
async function releasesOf(cluster: Cluster): Promise<Release[]> {
  const balancers = await listOurs<StoredLoadBalancer>(cluster, CLOUD_LOAD_BALANCERS);
  const owners = new Set(balancers.flatMap(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []));
  const services = (await cluster.api.list<Service>(SERVICES)).filter(({ metadata }) => owners.has(metadata.uid));
  const [routes, stacks, instances, providers] = await Promise.all(
    [CLOUD_ROUTES, CLOUD_STACKS, CLOUD_INSTANCES, CLOUD_PROVIDERS].map((resource) => listOurs<KubeObject>(cluster, resource)),
  );
  const ours = (resource: ResourcePath, objects: KubeObject[] = [], orphan = false): Release[] =>
    objects.map((object) => ({ resource, object, finalizer: CLEANUP_FINALIZER, orphan }));
  return [
    ...ours(CLOUD_LOAD_BALANCERS, balancers, true),
    ...ours(CLOUD_ROUTES, routes, true),
    ...services.map((object) => ({ resource: SERVICES, object, finalizer: FINALIZER_LOAD_BALANCER_CLEANUP, orphan: false })),
    ...ours(CLOUD_STACKS, stacks),
    ...ours(CLOUD_INSTANCES, instances),
    ...ours(CLOUD_PROVIDERS, providers),
  ].filter(({ object, finalizer, orphan }) => orphan || object.metadata.finalizers?.includes(finalizer) === true);
}

/** The version that was read: what somebody writes meanwhile is looked at anew. */
async function letGo({ api }: Cluster, { resource, object, finalizer, orphan }: Release): Promise<void> {
  const { finalizers = [], resourceVersion } = object.metadata;
  const left = finalizers.filter((one) => one !== finalizer);
  const spec = orphan ? { spec: { deletionPolicy: 'Orphan' } } : {};
  await api.patch(resource, keyOf(object.metadata), 'merge', { metadata: { resourceVersion, finalizers: left }, ...spec });
}

function lastWords(releases: readonly Release[], dryRun: boolean): string {
  if (releases.length === 0) return 'There is nothing to let go of.\n';
  if (dryRun) return `${releases.length} objects; nothing was changed.\n`;
  return `${releases.length} objects are let go of: what they stand for stays in the cloud, and nobody looks after it. Operator and CRDs can be deleted now (docs/install.md, Uninstall).\n`;
}
