import type { CloudLoadBalancer, CloudRoute } from '../../crds';
import type { KubeObject } from '../kube/object';

/** One of our objects as the API server sends it: with UID and resourceVersion. */
export type StoredCloudLoadBalancer = CloudLoadBalancer & KubeObject;
export type StoredCloudRoute = CloudRoute & KubeObject;
