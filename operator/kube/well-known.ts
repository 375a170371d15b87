/** Names that Kubernetes and its clouds have agreed on (contract 8). */

/** kubelet sets it when it starts with an external cloud provider; the cloud-node loop takes it away. */
export const TAINT_UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
export const TAINT_SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown';
export const TAINT_AUTOSCALER_DELETES = 'ToBeDeletedByClusterAutoscaler';
export const TAINT_NETWORK_UNAVAILABLE = 'node.kubernetes.io/network-unavailable';

export const LABEL_EXCLUDE_FROM_LOAD_BALANCERS = 'node.kubernetes.io/exclude-from-external-load-balancers';
export const LABEL_ZONE = 'topology.kubernetes.io/zone';
export const LABEL_REGION = 'topology.kubernetes.io/region';
export const LABEL_ZONE_DEPRECATED = 'failure-domain.beta.kubernetes.io/zone';
export const LABEL_REGION_DEPRECATED = 'failure-domain.beta.kubernetes.io/region';
export const LABEL_INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
export const LABEL_INSTANCE_TYPE_DEPRECATED = 'beta.kubernetes.io/instance-type';
export const LABEL_HOSTNAME = 'kubernetes.io/hostname';

/** kubelet writes its `--node-ip` here. */
export const ANNOTATION_PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';
export const ANNOTATION_SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

export const FINALIZER_LOAD_BALANCER_CLEANUP = 'service.kubernetes.io/load-balancer-cleanup';

export const CONDITION_NETWORK_UNAVAILABLE = 'NetworkUnavailable';
export const CONDITION_LOAD_BALANCER_PORTS_ERROR = 'LoadBalancerPortsError';
