import type {
  CloudInstanceSpec,
  CloudInstanceStatus,
  CloudLoadBalancerSpec,
  CloudLoadBalancerStatus,
  CloudProviderSpec,
  CloudProviderStatus,
  CloudRouteSpec,
  CloudRouteStatus,
  CloudStackSpec,
  CloudStackStatus,
  Condition,
} from '../../crds';
import type { Stored } from '../cloud/stored';
import type { KubeObject, ResourcePath } from '../kube/object';

export type StoredLoadBalancer = Stored<CloudLoadBalancerSpec, CloudLoadBalancerStatus>;
export type StoredRoute = Stored<CloudRouteSpec, CloudRouteStatus>;
export type StoredProvider = Stored<CloudProviderSpec, CloudProviderStatus>;
export type StoredStack = Stored<CloudStackSpec, CloudStackStatus>;
export type StoredInstance = Stored<CloudInstanceSpec, CloudInstanceStatus>;

/** Any of our objects, as far as its state goes. */
export type Judged = Pick<KubeObject, 'metadata'> & {
  status?: { observedGeneration?: number | undefined; conditions?: Condition[] | undefined };
};

export const ENDPOINT_SLICES: ResourcePath = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

export interface EndpointSlice extends KubeObject {
  endpoints?: { nodeName?: string; conditions?: { ready?: boolean } }[] | null;
}

export interface KubeEvent extends KubeObject {
  involvedObject: { kind: string; name: string; namespace?: string };
  type: string;
  reason: string;
  message: string;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  count?: number;
}
