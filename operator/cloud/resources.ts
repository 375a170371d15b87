import { GROUP, VERSION } from '../../crds';
import type { KubeObject, ResourcePath } from '../kube/object';

function path(plural: string, kind: string, namespaced: boolean): ResourcePath {
  return { group: GROUP, version: VERSION, plural, kind, namespaced };
}

export const CLOUD_PROVIDERS = path('cloudproviders', 'CloudProvider', false);
export const CLOUD_LOAD_BALANCERS = path('cloudloadbalancers', 'CloudLoadBalancer', true);
export const CLOUD_ROUTES = path('cloudroutes', 'CloudRoute', false);
export const CLOUD_STACKS = path('cloudstacks', 'CloudStack', false);
export const CLOUD_INSTANCES = path('cloudinstances', 'CloudInstance', false);

/** An object of one of our kinds, as it comes from the API server. */
export type Stored<Spec, Status> = KubeObject & { spec: Spec; status?: Status };
