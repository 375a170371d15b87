import type { AWSProviderSettings } from '../../crds';

/** What decides the resources of a load balancer beside its own spec: the cluster, and the CloudProvider's settings. */
export interface LoadBalancerScope extends Pick<
  AWSProviderSettings,
  'vpcID' | 'clusterName' | 'subnetIDs' | 'fallbackSubnetID' | 'healthProbe' | 'networkSecurityGroups' | 'classicSecurityGroupID' | 'limits'
> {
  clusterID: string;
  legacyClusterTag: boolean;
  nodeRules: AWSProviderSettings['nodeRules'];
}

/** Whether the load balancers that say nothing themselves get a security group: an NLB without one can never get one. Pure. */
export function groupModeOf({
  networkSecurityGroups,
  nodeRules,
}: Pick<LoadBalancerScope, 'networkSecurityGroups' | 'nodeRules'>): 'Managed' | 'None' {
  return networkSecurityGroups ?? (nodeRules === 'Shared' ? 'Managed' : 'None');
}
