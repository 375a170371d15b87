import {
  type CloudLoadBalancer,
  CloudLoadBalancerKind,
  type CloudRoute,
  CloudRouteKind,
  GROUP,
  type KindDefinition,
  VERSION,
} from '../../crds';
import type { KubeObject, ResourcePath } from '../kube/object';

/** One of our objects as the API server sends it: with UID and resourceVersion. */
export type StoredCloudLoadBalancer = CloudLoadBalancer & KubeObject;
export type StoredCloudRoute = CloudRoute & KubeObject;

export const CLOUD_LOAD_BALANCERS = pathOf(CloudLoadBalancerKind);
export const CLOUD_ROUTES = pathOf(CloudRouteKind);

function pathOf({ plural, kind, scope }: KindDefinition): ResourcePath {
  return { group: GROUP, version: VERSION, plural, kind, namespaced: scope === 'Namespaced' };
}
