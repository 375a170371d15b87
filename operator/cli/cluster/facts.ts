import { CLOUD_INSTANCES, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { isResourceMissing, statusOf } from '../../kube/status';
import { EVENTS, LEASES, NODES, type Node, type ResourcePath, type KubeObject } from '../../kube/object';
import type { Lease } from '../../kube/lease';
import { ASK_FOR_VIEW, getOurs, listOurs, type Cluster } from './connect';
import { finding, type Finding } from '../../explain/finding';
import type { MadeFacts } from '../../explain/load-balancer';
import type { TargetFacts } from '../../explain/targets';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeEvent,
  type StoredInstance,
  type StoredProvider,
  type StoredStack,
} from '../../explain/kinds';

/** All Nodes with what is known of their machines, by name; undefined = the user may not read one or the other. */
export async function targetFacts(cluster: Cluster): Promise<TargetFacts[] | undefined> {
  const [nodes, instances] = await Promise.all([
    clusterWide(cluster, NODES, cluster.api.list<Node>(NODES), undefined),
    clusterWide(cluster, CLOUD_INSTANCES, listOurs<StoredInstance>(cluster, CLOUD_INSTANCES), undefined),
  ]);
  if (nodes === undefined || instances === undefined) return undefined;
  const known = new Map(instances.map((instance) => [instance.spec.nodeName, instance]));
  const byName = (a: Node, b: Node): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  return nodes.sort(byName).map((node) => ({ node, instance: known.get(node.metadata.name) }));
}

/** The CloudStack that an object's status names; undefined also where the user may not read it. */
export async function stackOf(cluster: Cluster, stack: string | undefined): Promise<StoredStack | undefined> {
  return stack === undefined
    ? undefined
    : clusterWide(cluster, CLOUD_STACKS, getOurs<StoredStack>(cluster, CLOUD_STACKS, stack), undefined);
}

export async function providerNamed(cluster: Cluster, name: string): Promise<MadeFacts['provider']> {
  const reading: Promise<MadeFacts['provider']> = getOurs<StoredProvider>(cluster, CLOUD_PROVIDERS, name);
  return clusterWide(cluster, CLOUD_PROVIDERS, reading, 'Unreadable');
}

/** undefined = the user may not read them. */
export async function allProviders(cluster: Cluster): Promise<StoredProvider[] | undefined> {
  return clusterWide(cluster, CLOUD_PROVIDERS, listOurs<StoredProvider>(cluster, CLOUD_PROVIDERS), undefined);
}

/** What could not be looked at; empty = everything could. */
export function unreadFindings({ unread }: Pick<Cluster, 'unread'>): Finding[] {
  if (unread.size === 0) return [];
  const kinds = [...unread].sort().map((kind) => `${kind}s`);
  return [finding('note', `you may not read ${kinds.join(', ')}: what they say is left out`, ASK_FOR_VIEW)];
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

/** The same of a kind of the whole cluster; that it is left out is to be told (`unreadFindings`). */
async function clusterWide<T>({ unread }: Cluster, { kind }: ResourcePath, reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading;
  } catch (thrown) {
    if (statusOf(thrown)?.code !== 403) throw thrown;
    unread.add(kind);
    return otherwise;
  }
}
