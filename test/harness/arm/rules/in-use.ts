import { refusal } from '../request';
import { partsIn } from '../resource';
import type { Rule } from '../rule';

/**
 * Code and words of a refused delete, by type (learn.microsoft.com, "aka.ms/deletepublicip", "aka.ms/deletesubnet", "Can't delete load balancer with a
 * private link service").
 */
const CODES: Readonly<Record<string, string>> = {
  'microsoft.network/publicipaddresses': 'PublicIPAddressCannotBeDeleted',
  'microsoft.network/publicipprefixes': 'InUsePublicIPPrefixCannotBeDeleted',
  'microsoft.network/networksecuritygroups': 'InUseNetworkSecurityGroupCannotBeDeleted',
  'microsoft.network/routetables': 'InUseRouteTableCannotBeDeleted',
  'microsoft.network/virtualnetworks': 'InUseVirtualNetworkCannotBeDeleted',
  'microsoft.network/loadbalancers': 'CannotDeleteLoadBalancerWithPrivateLinkService',
};

/** What others name is not deleted. */
export const inUse: Rule = ({ id, type, after }, cloud) => {
  if (after !== undefined) return undefined;
  const [user] = cloud.usersOf(id);
  if (user === undefined) return undefined;
  const code = CODES[type.toLowerCase()] ?? 'InUseResourceCannotBeDeleted';
  return refusal(400, code, `Resource ${id} can not be deleted since it is still allocated to resource ${user}.`);
};

/** Nor is a subnet, by itself or by a network that is written without it. */
export const subnetInUse: Rule = ({ before, after }, cloud) => {
  const kept = new Set(partsIn(after, 'subnets').map(({ id }) => id.toLowerCase()));
  const going = after === undefined ? [] : partsIn(before, 'subnets').filter(({ id }) => !kept.has(id.toLowerCase()));
  for (const { id } of going) {
    const [user] = cloud.usersOf(id);
    if (user === undefined) continue;
    return refusal(400, 'InUseSubnetCannotBeDeleted', `Subnet ${id} is in use by ${user} and cannot be deleted.`);
  }
  return undefined;
};

/** Frontends that a Private Link Service stands on stay in their load balancer. */
export const frontendInUse: Rule = ({ before, after }, cloud) => {
  const list = 'frontendIPConfigurations';
  const kept = new Set(partsIn(after, list).map(({ id }) => id.toLowerCase()));
  const going = after === undefined ? [] : partsIn(before, list).filter(({ id }) => !kept.has(id.toLowerCase()));
  for (const { id } of going) {
    const user = cloud.usersOf(id).find((one) => /\/privateLinkServices\//i.test(one));
    if (user === undefined) continue;
    return refusal(400, 'InUseFrontendIPConfigurationCannotBeDeleted', `Frontend ${id} is in use by ${user} and cannot be deleted.`);
  }
  return undefined;
};
