import { sameID } from '../../../../providers/azure/client/resource-id';
import { refusal } from '../request';
import { partsIn } from '../resource';
import type { Rule } from '../rule';
import { subnetOf } from './addresses';

/** A Private Link Service takes addresses only of a subnet whose network policies for it are off (learn.microsoft.com, "Disable network policies for Private Link service source IP"). */
export const networkPolicies: Rule = ({ type, after }, cloud) => {
  if (type.toLowerCase() !== 'microsoft.network/privatelinkservices') return undefined;
  for (const part of partsIn(after, 'ipConfigurations')) {
    const subnet = subnetOf(part, cloud);
    if (subnet === undefined || subnet.properties.privateLinkServiceNetworkPolicies === 'Disabled') continue;
    const text = `Private link service network policy is not disabled on subnet ${subnet.id}.`;
    return refusal(400, 'PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled', text);
  }
  return undefined;
};

/** One service for each frontend. */
export const frontendOnce: Rule = ({ id, type, after }, cloud) => {
  if (type.toLowerCase() !== 'microsoft.network/privatelinkservices') return undefined;
  const frontends = (after?.properties.loadBalancerFrontendIpConfigurations ?? []) as { id: string }[];
  for (const frontend of frontends) {
    const holder = cloud.usersOf(frontend.id).find((one) => /\/privateLinkServices\//i.test(one) && !sameID(one, id));
    if (holder === undefined) continue;
    return refusal(400, 'PrivateLinkServiceFrontendInUse', `Frontend ${frontend.id} is already used by private link service ${holder}.`);
  }
  return undefined;
};
