import { z } from 'zod';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import type { PartDescription } from './part-of-resource';

const schema = z.strictObject({ subnetId: z.string().min(1) });
export type SubnetPolicyInputs = z.infer<typeof schema>;

/**
 * Of a subnet that the policy for Private Link Services is off: from no other one they take addresses (learn.microsoft.com, "Disable network policies for
 * Private Link service source IP"). It stays off when they go, as upstream has it: others may be there.
 */
export const subnetPolicy: PartDescription<SubnetPolicyInputs> = {
  token: `${STATE_PACKAGE}AzureSubnetPolicy`,
  schema,
  idProperty: 'subnetId',
  idOf: ({ subnetId }) => subnetId,
  ofUsers: {
    remedy:
      'Name another one by spec.azure.privateLink.subnetName, or have its privateLinkServiceNetworkPolicies set to Disabled, which is then only looked at',
  },
  merged: (properties, wanted) => {
    if (wanted === undefined || properties.privateLinkServiceNetworkPolicies === 'Disabled') return undefined;
    return { ...properties, privateLinkServiceNetworkPolicies: 'Disabled' };
  },
};
