import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudProviderSpec } from '../../../crds';
import { AzureAccount } from '../../../providers/azure/config/account';

test('credentials that are read anew count as others only when they are: then they are used at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'azure-'));
  const file = join(folder, 'azure.json');
  const write = (aadClientSecret: string): void =>
    writeFileSync(file, JSON.stringify({ tenantId: 't', aadClientId: 'a', aadClientSecret }));
  write('planted');
  const { azure } = cloudProviderSpec.parse({
    azure: { subscriptionID: '00000000-0000-0000-0000-000000000001', resourceGroup: 'g', credentials: { cloudConfigFile: file } },
  });
  const readSecret = (): Promise<string[]> => Promise.reject(new Error('no secrets'));
  const account = await AzureAccount.open(azure!, { clusterID: 'c', providerName: 'azure', readSecret }, {});
  expect(await account.renew()).toBe(false);
  write('rotated');
  expect([await account.renew(), await account.renew()]).toEqual([true, false]);
  rmSync(folder, { recursive: true });
});
