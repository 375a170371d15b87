import type { AzureProviderSettings } from '../../../crds';

/** Where a CloudProvider's load balancers are, and whose they are. */
export interface AzureScope {
  clusterID: string;
  /** Azure's name of the region. */
  location: string;
  settings: AzureProviderSettings;
}

/** Azure's name of a region, which it also takes as `West Europe`, but always answers as `westeurope`. Pure. */
export function locationOf(region: string): string {
  return region.replaceAll(' ', '').toLowerCase();
}

/** The subscription of the network: load balancers, addresses, security groups, route tables. Pure. */
export function networkSubscriptionOf({ networkSubscriptionID, subscriptionID }: AzureProviderSettings): string {
  return networkSubscriptionID ?? subscriptionID;
}

/** The security group of the Nodes, by its id; undefined where the settings name none, so that clients are let in by hand. Pure. */
export function securityGroupIDOf(settings: AzureProviderSettings): string | undefined {
  const { securityGroupName: name, securityGroupResourceGroup, resourceGroup } = settings;
  if (name === undefined) return undefined;
  return `/subscriptions/${networkSubscriptionOf(settings)}/resourceGroups/${securityGroupResourceGroup ?? resourceGroup}/providers/Microsoft.Network/networkSecurityGroups/${name}`;
}
