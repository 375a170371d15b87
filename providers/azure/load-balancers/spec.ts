import type { AzureLoadBalancer, CloudLoadBalancerSpec } from '../../../crds';

/** A load balancer's spec with the block of this cloud. */
export type AzureSpec = CloudLoadBalancerSpec & { azure?: AzureLoadBalancer | undefined };
