/** A Kubernetes object as raw JSON; unknown fields are kept (design: House rules). */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: KubeMeta;
}

export interface KubeMeta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean; blockOwnerDeletion?: boolean }[];
  /** Who wrote which fields; of cached objects only those that somebody here reads, if any. */
  managedFields?: { manager?: string; operation?: string; subresource?: string; fieldsV1?: object }[];
}

/** A collection in the API: `{group: '', version: 'v1', plural: 'services', namespaced: true}`. */
export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export type ObjectKey = string;

export function keyOf(meta: { name: string; namespace?: string }): ObjectKey {
  return meta.namespace === undefined || meta.namespace === '' ? meta.name : `${meta.namespace}/${meta.name}`;
}

export function splitKey(key: ObjectKey): { namespace?: string; name: string } {
  const at = key.indexOf('/');
  return at < 0 ? { name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}

export const SERVICES: ResourcePath = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
export const NODES: ResourcePath = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const NAMESPACES: ResourcePath = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const SERVICE_ACCOUNTS: ResourcePath = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
export const SECRETS: ResourcePath = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
export const EVENTS: ResourcePath = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
export const LEASES: ResourcePath = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true };
export const CRDS: ResourcePath = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** A Service, with the fields that we read. */
export interface Service extends KubeObject {
  spec: {
    type?: string;
    clusterIP?: string;
    ports?: ServicePort[];
    loadBalancerClass?: string;
    loadBalancerIP?: string;
    loadBalancerSourceRanges?: string[];
    externalTrafficPolicy?: 'Cluster' | 'Local';
    healthCheckNodePort?: number;
    sessionAffinity?: 'None' | 'ClientIP';
    sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
    ipFamilies?: ('IPv4' | 'IPv6')[];
    ipFamilyPolicy?: string;
    externalIPs?: string[];
    allocateLoadBalancerNodePorts?: boolean;
  };
  status?: { loadBalancer?: { ingress?: ServiceIngress[] }; conditions?: KubeCondition[] };
}

export interface ServicePort {
  name?: string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  port: number;
  nodePort?: number;
  targetPort?: number | string;
  appProtocol?: string;
}

export interface ServiceIngress {
  ip?: string;
  hostname?: string;
  ipMode?: 'VIP' | 'Proxy';
  ports?: { port: number; protocol: string; error?: string }[];
}

export interface KubeCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
  lastHeartbeatTime?: string;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

/** A Node, with the fields that we read. */
export interface Node extends KubeObject {
  spec: { providerID?: string; podCIDR?: string; podCIDRs?: string[]; taints?: Taint[]; unschedulable?: boolean };
  status?: { addresses?: { type: string; address: string }[]; conditions?: KubeCondition[] };
}
