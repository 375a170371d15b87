import type { Annotation } from './annotation';
import { OF_LOAD_BALANCER } from './annotations-load-balancer';
import { OF_HEALTH_CHECK, OF_SECURITY_GROUPS, OF_TRAFFIC } from './annotations-traffic';

/** Every annotation of this cloud that has an effect, in the order in which they are read: a later one stands before an earlier one. */
export const ANNOTATIONS: readonly Annotation[] = [...OF_LOAD_BALANCER, ...OF_TRAFFIC, ...OF_HEALTH_CHECK, ...OF_SECURITY_GROUPS];

/** Annotations of the AWS Load Balancer Controller whose work is not done here, and what to do about it. */
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  'multi-cluster-target-group':
    'target groups are not shared by clusters here. Remove it, or leave the Service to the AWS Load Balancer Controller',
  'quic-enabled-ports': 'QUIC needs targets that are Pods. Remove it, or leave the Service to the AWS Load Balancer Controller',
  'eip-allocations-discovery-tags': 'addresses are not looked for by tags. Name them by the annotation eip-allocations',
};

/** As above, of annotations whose name goes on. */
export const UNSUPPORTED_PREFIXES: Readonly<Record<string, string>> = {
  'actions.': 'weighted target groups are not there yet. Remove it, or leave the Service to the AWS Load Balancer Controller',
};

/** `listener-attributes.<protocol>-<port>`: attributes of the listener on one port. */
export const LISTENER_ATTRIBUTES = 'listener-attributes.';
