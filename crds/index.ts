import { CloudInstanceKind } from './cloud-instance';
import { CloudLoadBalancerKind } from './cloud-load-balancer';
import { CloudProviderKind } from './cloud-provider';
import { CloudRouteKind } from './cloud-route';
import { CloudStackKind } from './cloud-stack';
import type { KindDefinition } from './kind';

export * from './address';
export * from './aws-limits';
export * from './aws-load-balancer';
export * from './aws-provider';
export * from './aws-target-group';
export * from './azure-load-balancer';
export * from './azure-provider';
export * from './cloud-instance';
export * from './cloud-load-balancer';
export * from './cloud-provider';
export * from './cloud-route';
export * from './cloud-stack';
export * from './group';
export * from './kind';
export * from './label-selector';
export * from './maintenance-window';
export * from './paths';
export * from './policies';
export * from './provider-policy';
export * from './validate';

/** Every kind of the group, in the order in which their CRDs are written. */
export const KINDS: KindDefinition[] = [CloudProviderKind, CloudLoadBalancerKind, CloudRouteKind, CloudStackKind, CloudInstanceKind];
