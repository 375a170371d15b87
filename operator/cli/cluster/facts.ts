import { CLOUD_INSTANCES, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { isResourceMissing, statusOf } from '../../kube/status';
import { EVENTS, LEASES, NODES, type Node, type ResourcePath, type KubeObject } from '../../kube/object';
import type { Lease } from '../../kube/lease';
import { getOurs, listOurs, type Cluster } from './connect';
import type { TargetFacts } from '../../explain/targets';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeEvent,
  type StoredInstance,
  type StoredProvider,
  type StoredStack,
} from '../../explain/kinds';

/** All Nodes with what is known of their machines, by name. */
export async function targetFacts(cluster: Cluster): Promise<TargetFacts[]> {
  const [nodes, instances] = await Promise.all([cluster.api.list<Node>(NODES), listOurs<StoredInstance>(cluster, CLOUD_INSTANCES)]);
  const known = new Map(instances.map((instance) => [instance.spec.nodeName, instance]));
  const byName = (a: Node, b: Node): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  return nodes.sort(byName).map((node) => ({ node, instance: known.get(node.metadata.name) }));
}

/** The CloudStack that an object's status names. */
export async function stackOf(cluster: Cluster, stack: string | undefined): Promise<StoredStack | undefined> {
  return stack === undefined ? undefined : getOurs<StoredStack>(cluster, CLOUD_STACKS, stack);
}

export async function providerNamed(cluster: Cluster, name: string): Promise<StoredProvider | undefined> {
  return getOurs<StoredProvider>(cluster, CLOUD_PROVIDERS, name);
}

/** Of one Service, or of all in a namespace; none where the cluster does not serve them, or the user may not read them. */
export async function slicesOf({ api }: Cluster, namespace: string, service?: string): Promise<EndpointSlice[]> {
  const selector = service === undefined ? {} : { labelSelector: `kubernetes.io/service-name=${service}` };
  return readable(api.list<EndpointSlice>(ENDPOINT_SLICES, { namespace, ...selector }), []);
}

/** Events of one object, the oldest first. */
export async function eventsOf(
  { api }: Cluster,
  { kind }: ResourcePath,
  { name, namespace }: KubeObject['metadata'],
): Promise<KubeEvent[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const found = await readable(api.list<KubeEvent>(EVENTS, { fieldSelector, ...(namespace === undefined ? {} : { namespace }) }), []);
  return found.sort((a, b) => timeOf(a) - timeOf(b));
}

function timeOf({ lastTimestamp, firstTimestamp, metadata }: KubeEvent): number {
  return Date.parse(lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp);
}

/** undefined = there is none, or the user may not read it: then nothing is said of it. */
export async function leaseOf({ api }: Cluster, lease: string): Promise<Lease | 'Unreadable' | undefined> {
  return readable<Lease | 'Unreadable' | undefined>(api.get<Lease>(LEASES, lease), 'Unreadable');
}

/** What a user may not read is left out: the rest is still worth telling. */
async function readable<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading;
  } catch (thrown) {
    if (statusOf(thrown)?.code === 403 || isResourceMissing(thrown)) return otherwise;
    throw thrown;
  }
}
