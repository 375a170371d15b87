import { cloudProviderSpec } from '../../../crds';
import { azureProvider } from '../../../providers/azure';
import { callsLeftOfResource } from '../../../providers/azure/client/arm-answer';
import { typeIn } from '../../../providers/azure/client/resource-id';

const HEADER = 'x-ms-ratelimit-remaining-resource';
const SUBSCRIPTION = '0a1b2c3d-1111-4222-8333-444455556666';

test.each<[string | string[] | undefined, number | undefined]>([
  [undefined, undefined],
  ['Microsoft.Compute/HighCostGet;107', 107],
  ['Microsoft.Compute/HighCostGet3Min;159,Microsoft.Compute/HighCostGet30Min;12', 12],
  [['Microsoft.Compute/HighCostGet3Min;0', 'Microsoft.Compute/HighCostGet30Min;12'], 0],
  ['something else', undefined],
])('of %j there are %s left', (value, left) => {
  expect(callsLeftOfResource({ headers: { [HEADER]: value } })).toBe(left);
});

test('a path leads to a type of resources, which have limits of their own', () => {
  const group = `/subscriptions/${SUBSCRIPTION}/resourceGroups/g/providers`;
  const sets = 'microsoft.compute/virtualmachinescalesets';
  expect(
    [
      `${group}/Microsoft.Compute/virtualMachineScaleSets`,
      `${group}/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines`,
      `${group}/Microsoft.Network/loadBalancers/lb`,
      `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines`,
      `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Network`,
    ].map(typeIn),
  ).toEqual([sets, `${sets}/virtualmachines`, 'microsoft.network/loadbalancers', 'microsoft.compute/virtualmachines', undefined]);
});

test('CloudProviders of one subscription are one account where who they are is written the same', () => {
  const accountOf = (more: object): string | undefined =>
    azureProvider.accountOf?.(cloudProviderSpec.parse({ azure: { subscriptionID: SUBSCRIPTION, resourceGroup: 'one', ...more } }));
  const credentials = { managedIdentity: {} };
  const [one, ...same] = [{}, { resourceGroup: 'two', vnetName: 'net' }, { subscriptionID: SUBSCRIPTION.toUpperCase() }].map((more) =>
    accountOf({ credentials, ...more }),
  );
  expect(new Set(same)).toEqual(new Set([one]));
  const others = [{ credentials: {} }, { credentials, tenantID: 't' }, { credentials, cloud: 'AzureChinaCloud' }].map(accountOf);
  expect(new Set([one, ...others]).size).toBe(4);
});
