import { azureLoadBalancer, cloudLoadBalancerSpec, type AzureLoadBalancer } from '../../../crds';
import type { AzureInput, BalancerPlace } from '../../../providers/azure/load-balancers/arguments';
import type { Target } from '../../../providers/provider';

export const SUBSCRIPTION = '11111111-2222-4333-8444-555555555555';
export const HTTP = { name: 'http', port: 80, nodePort: 30080 };
export const HTTPS = { name: 'https', port: 443, nodePort: 30443 };

/** Where the cluster's load balancer is, as a CloudProvider with nothing special says. */
export function place(settings: Partial<BalancerPlace['settings']> = {}, name = 'kubernetes'): BalancerPlace {
  const all = {
    clusterName: 'kubernetes',
    resourceGroup: 'cluster',
    vnetName: 'net',
    subnetName: 'nodes',
    outboundSNAT: true,
    ...settings,
  };
  return { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', name, location: 'westeurope', settings: all };
}

/** One CloudLoadBalancer, by its number. */
export function balancer(number: number, core: object = {}, azure?: object, generation?: number): AzureInput {
  const digits = String(number).padStart(8, '0');
  const block: AzureLoadBalancer | undefined = azure === undefined ? undefined : azureLoadBalancer.parse(azure);
  const spec = {
    ...cloudLoadBalancerSpec.parse({ provider: 'azure', listeners: [HTTP], ...core }),
    ...(block !== undefined && { azure: block }),
  };
  return {
    uid: `${digits}-0000-4000-8000-111111111111`,
    ownerUID: `${digits}-0000-4000-8000-222222222222`,
    namespace: 'demo',
    name: `web-${number}`,
    spec,
    ...(generation !== undefined && { generation }),
  };
}

export const NODES: Target[] = [2, 1].map((number) => ({
  nodeName: `node-${number}`,
  providerID: `azure:///node-${number}`,
  addresses: [`10.0.0.${number}`, `fd00::${number}`],
}));
