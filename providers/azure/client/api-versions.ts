import { OperatorError } from '../../../operator/base/errors';

/**
 * The version of the API that each type of resource is spoken to in. Those of Microsoft.Network are those of @pulumi/azure-native, so that a program
 * gives the same with either plugin.
 */
const API_VERSIONS: Readonly<Record<string, string>> = {
  'microsoft.network/loadbalancers': '2024-05-01',
  'microsoft.network/publicipaddresses': '2024-05-01',
  'microsoft.network/publicipprefixes': '2024-05-01',
  'microsoft.network/networksecuritygroups': '2024-05-01',
  'microsoft.network/routetables': '2024-05-01',
  'microsoft.network/virtualnetworks': '2024-05-01',
  'microsoft.network/networkinterfaces': '2024-05-01',
  'microsoft.network/privatelinkservices': '2024-05-01',
  'microsoft.compute/disks': '2024-03-02',
  'microsoft.compute/virtualmachines': '2024-11-01',
  'microsoft.compute/virtualmachinescalesets': '2024-11-01',
  // Interfaces and addresses of a scale set's machines are found below the set, but are network resources.
  'microsoft.compute/virtualmachinescalesets/networkinterfaces': '2018-10-01',
  'microsoft.compute/virtualmachinescalesets/publicipaddresses': '2018-10-01',
};

/**
 * The API version for a type such as `Microsoft.Network/loadBalancers`; a part of a resource has that of the whole, where it has none of its own. Pure.
 * @throws OperatorError Unknown when the type is none of ours
 */
export function apiVersionOf(type: string): string {
  const exact = type.toLowerCase();
  const outermost = exact.split('/').slice(0, 2).join('/');
  const version = [exact, outermost].find((one) => Object.hasOwn(API_VERSIONS, one));
  if (version === undefined) throw new OperatorError('Unknown', `no version of Azure's API is known for ${type}`);
  return API_VERSIONS[version] ?? '';
}
