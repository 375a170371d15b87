import type { CloudLoadBalancerSpec } from '../../../crds';
import type { Problem } from '../../provider';
import { sameID } from '../client/resource-id';
import { arePreConfigured } from '../load-balancers/nodes-behind';
import { hasFloatingIP } from '../load-balancers/rules';
import type { AzureScope } from '../load-balancers/scope';
import { familyOf } from '../security-groups/security-rule';
import { linkGroupsOf } from './links';

type PrivateLink = NonNullable<NonNullable<CloudLoadBalancerSpec['azure']>['privateLink']>;

/** What of a Private Link Service can't be, in words for its author. Pure. */
export function validatePrivateLink(spec: CloudLoadBalancerSpec, settings: AzureScope['settings']): Problem[] {
  const { privateLink } = spec.azure ?? {};
  if (privateLink === undefined) return [];
  return [...validateFrontend(spec, settings), ...validatePlace(spec, privateLink, settings), ...validateSettings(privateLink)].map(
    ([field, value, message]) => ({ severity: 'Error', field: `spec.azure.privateLink${field}`, value, message }),
  );
}

/** Field below the block, value, message. */
type Finding = [string, string, string];

/** Azure makes none on a load balancer whose pools have addresses (MicrosoftDocs/azure-docs#75134), which ours have. */
function validateFrontend(spec: CloudLoadBalancerSpec, settings: AzureScope['settings']): Finding[] {
  const value = spec.azure?.privateLink?.name ?? '';
  if (spec.scheme === 'Public' && hasFloatingIP(spec, 'IPv4')) {
    return [['', value, 'a Private Link Service needs scheme Internal, or spec.azure.floatingIP: false.']];
  }
  if (!spec.ipFamilies.includes('IPv4')) {
    return [['', value, 'a Private Link Service is for IPv4 alone. Add IPv4 to spec.ipFamilies, or remove it.']];
  }
  if (arePreConfigured(spec.scheme, settings)) return [];
  const message =
    'Azure has no Private Link Services on load balancers whose pools have the addresses of Nodes, as ours have. Have the pools filled with the interfaces of machines, and say so by spec.azure.preConfiguredPools of the CloudProvider (docs/clouds/azure.md); or remove it.';
  return [['', value, message]];
}

function validatePlace(
  spec: CloudLoadBalancerSpec,
  { resourceGroup, subnetName }: PrivateLink,
  settings: AzureScope['settings'],
): Finding[] {
  const findings: Finding[] = [];
  const groups = linkGroupsOf(settings);
  if (resourceGroup !== undefined && !groups.some((one) => sameID(one, resourceGroup))) {
    const message = `${resourceGroup} is none of the resource groups in which the CloudProvider has something: ${groups.join(', ')}. Name one of them, or make it the CloudProvider's spec.azure.privateLinkServiceResourceGroup.`;
    findings.push(['.resourceGroup', resourceGroup, message]);
  }
  if (spec.scheme === 'Public' && subnetName === undefined && settings.subnetName === undefined) {
    findings.push(['.subnetName', '', 'nothing says from which subnet its addresses are. Name one.']);
  }
  return findings;
}

function validateSettings({ addresses = [], addressCount = 1, visibility = [], autoApproval = [] }: PrivateLink): Finding[] {
  const findings: Finding[] = [];
  const wrong = addresses.find((address) => familyOf(address) !== 'IPv4');
  if (wrong !== undefined) findings.push(['.addresses', wrong, `${wrong} is no IPv4 address, and others it can't have. Remove it.`]);
  if (addresses.length > addressCount) {
    const message = `it names ${addresses.length} addresses, and the service has ${addressCount}. Name fewer, or raise addressCount.`;
    findings.push(['.addresses', addresses.join(','), message]);
  }
  const blind = visibility.includes('*') ? [] : autoApproval.filter((one) => !visibility.includes(one));
  if (blind.length > 0) {
    findings.push([
      '.autoApproval',
      blind.join(','),
      `${blind.join(', ')} would be approved and can't see it. Write the same into visibility.`,
    ]);
  }
  return findings;
}
