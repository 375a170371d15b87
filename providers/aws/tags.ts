/** Our marks on everything that is made (design: Crashes and drift). They are part of the program's `tags`. */
export const TAG = {
  clusterID: 'cloud-operator.dev/cluster-id',
  stack: 'cloud-operator.dev/stack',
  /** Name of the resource in the stack's program. */
  resource: 'cloud-operator.dev/resource',
  /** UID of the owner in Kubernetes. */
  ownerUID: 'cloud-operator.dev/owner-uid',
  /** namespace/name, for people. */
  owner: 'cloud-operator.dev/owner',
  /** What the operator has given up. */
  released: 'cloud-operator.dev/released',
  /** `true`: it was taken over from another owner, and what can't be changed in place stays as it is. `false`: it takes the place of such a one. */
  adopted: 'cloud-operator.dev/adopted',
} as const;

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;

/** A tag as both APIs write it. */
export interface AwsTag {
  Key?: string | undefined;
  Value?: string | undefined;
}

/** Who made a resource: where its stack and its place in the program are found again. */
export interface Maker {
  clusterID: string;
  stack: string;
  /** Name of the resource in the program. */
  resource: string;
}

/** Tags as the APIs take them, by key. Pure. */
export function toAwsTags(tags: Tags): { Key: string; Value: string }[] {
  return Object.entries(tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}

/** Tags as the APIs give them, without those that only AWS can set. Pure. */
export function fromAwsTags(tags: readonly AwsTag[] | undefined): Record<string, string> {
  const ours = (tags ?? []).filter(({ Key = '' }) => !Key.startsWith('aws:'));
  return Object.fromEntries(ours.map(({ Key = '', Value = '' }): [string, string] => [Key, Value]).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** True when `maker` made the resource, by its tags, and it was not released since. Pure. */
export function madeBy({ resource, ...stack }: Maker, tags: Tags): boolean {
  return isOfStack(stack, tags) && tags[TAG.resource] === resource;
}

/** True for whatever the stack has made or taken over, by its tags, and not released since. Pure. */
export function isOfStack({ clusterID, stack }: Omit<Maker, 'resource'>, tags: Tags): boolean {
  return tags[TAG.clusterID] === clusterID && tags[TAG.stack] === stack && tags[TAG.released] === undefined;
}

/** True when another resource of the maker's stack has it, by its tags, and it was not released since. Pure. */
export function hasMoved({ clusterID, stack, resource }: Maker, tags: Tags): boolean {
  const { [TAG.resource]: other = resource } = tags;
  return other !== resource && madeBy({ clusterID, stack, resource: other }, tags);
}

/** Tags of cloud-provider-aws. */
const SERVICE_NAME = 'kubernetes.io/service-name';
const CLUSTER_PREFIX = 'kubernetes.io/cluster/';
/** Tags of the AWS Load Balancer Controller. */
const CONTROLLER = { cluster: 'elbv2.k8s.aws/cluster', service: 'service.k8s.aws/stack' } as const;

/**
 * True when another controller has made the resource for this Service of this cluster, and we have not: cloud-provider-aws, or the AWS Load Balancer
 * Controller (contract 11, providers 2.1). Pure.
 * @param service namespace/name
 */
export function isOfUpstream(tags: Tags, service: string, clusterName: string | undefined): boolean {
  if (clusterName === undefined || tags[TAG.clusterID] !== undefined) return false;
  const isOfProvider = isOfCluster(tags, clusterName) && tags[SERVICE_NAME] === service;
  return isOfProvider || (tags[CONTROLLER.cluster] === clusterName && tags[CONTROLLER.service] === service);
}

/** True when another controller has made the resource for this cluster, and we have not taken it over. Pure. */
export function isOfUpstreamCluster(tags: Tags, clusterName: string | undefined): boolean {
  if (clusterName === undefined || tags[TAG.clusterID] !== undefined) return false;
  return isOfCluster(tags, clusterName) || tags[CONTROLLER.cluster] === clusterName;
}

/** Names of clusters in the tags of cloud-provider-aws, without that of old clusters. Pure. */
export function clustersIn(tags: Tags): string[] {
  return Object.keys(tags).flatMap((key) => (key.startsWith(CLUSTER_PREFIX) ? key.slice(CLUSTER_PREFIX.length) : []));
}

/** True where tags of cloud-provider-aws name this cluster, and no other. Pure. */
export function isOfClusterAlone(tags: Tags, clusterName: string | undefined): boolean {
  const { KubernetesCluster: legacy } = tags;
  const names = new Set([...clustersIn(tags), ...(legacy === undefined ? [] : [legacy])]);
  return clusterName !== undefined && names.size === 1 && names.has(clusterName);
}

/**
 * Filters that find what is tagged for the cluster, as cloud-provider-aws does: each takes a listing of its own.
 * @param legacy also by the tag of old clusters, which the new one may stand beside or in place of. Pure.
 */
export function clusterFilters(clusterName: string, legacy = false): { Name: string; Values: string[] }[] {
  const filter = { Name: 'tag-key', Values: [CLUSTER_PREFIX + clusterName] };
  return legacy ? [filter, { Name: 'tag:KubernetesCluster', Values: [clusterName] }] : [filter];
}

/** The tags of what the cluster owns, by which cloud-provider-aws finds it. @param legacy also that of old clusters. Pure. */
export function clusterTags(clusterName: string, legacy: boolean): Record<string, string> {
  return { [CLUSTER_PREFIX + clusterName]: 'owned', ...(legacy && { KubernetesCluster: clusterName }) };
}

/** By the tags of cloud-provider-aws, the new one or that of old clusters. Pure. */
export function isOfCluster(tags: Tags, clusterName: string): boolean {
  return tags[CLUSTER_PREFIX + clusterName] !== undefined || tags.KubernetesCluster === clusterName;
}

/** The tags of something that is taken over: those of others stay, and what says that it was given up goes. Pure. */
export function tagsKept(has: Tags, wanted: Tags): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...has, ...wanted }).filter(([key]) => key !== TAG.released));
}

/** True for what was taken over and stays as it is where it can't be changed in place. Pure. */
export function isTakenOver(tags: Tags): boolean {
  return tags[TAG.adopted] === 'true';
}

/** The holder of a resource, in words: by our tags, else by upstream's. Pure. */
export function holderOf(tags: Tags): string {
  const clusterID = tags[TAG.clusterID];
  if (clusterID === undefined) return controllerOf(tags) ?? 'somebody who left no tags of ours';
  const released = tags[TAG.released] === undefined ? '' : 'nobody: it was released by ';
  return `${released}${tags[TAG.owner] ?? 'an unnamed owner'} (stack ${tags[TAG.stack] ?? 'unknown'}, cluster ${clusterID})`;
}

/** True when no controller, this one or another, has marked the resource as its own or as given up. Pure. */
export function isUnowned(tags: Tags): boolean {
  return tags[TAG.clusterID] === undefined && tags[TAG.released] === undefined && controllerOf(tags) === undefined;
}

function controllerOf(tags: Tags): string | undefined {
  const service = tags[SERVICE_NAME] ?? tags[CONTROLLER.service];
  const cluster = Object.keys(tags).find((key) => key.startsWith(CLUSTER_PREFIX));
  const name = cluster?.slice(CLUSTER_PREFIX.length) ?? tags[CONTROLLER.cluster];
  if (service === undefined && name === undefined) return undefined;
  return `another controller: Service ${service ?? 'unknown'}, cluster ${name ?? 'unknown'}`;
}

/** What turns the tags that are there into the wanted ones. Pure. */
export function tagChanges(has: Tags, wanted: Tags): { set: Tags; remove: string[] } {
  const set = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => has[key] !== value));
  return { set, remove: Object.keys(has).filter((key) => wanted[key] === undefined) };
}
