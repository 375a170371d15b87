import { CloudInstanceKind } from './cloud-instance';
import { CloudLoadBalancerKind } from './cloud-load-balancer';
import { CloudProviderKind } from './cloud-provider';
import { CloudRouteKind } from './cloud-route';
import { CloudStackKind } from './cloud-stack';
import { GROUP, VERSION } from './group';
import type { KindDefinition } from './kind';

/** Where the API server serves a kind. */
export interface KindPath {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
}

function pathOf({ plural, kind, scope }: KindDefinition): KindPath {
  return { group: GROUP, version: VERSION, plural, kind, namespaced: scope === 'Namespaced' };
}

export const CLOUD_PROVIDERS = pathOf(CloudProviderKind);
export const CLOUD_LOAD_BALANCERS = pathOf(CloudLoadBalancerKind);
export const CLOUD_ROUTES = pathOf(CloudRouteKind);
export const CLOUD_STACKS = pathOf(CloudStackKind);
export const CLOUD_INSTANCES = pathOf(CloudInstanceKind);
