import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProviderOf } from '../../../operator/cli/default-provider';

describe('the CloudProvider of --cloud-provider=azure', () => {
  const directory = mkdtempSync(join(tmpdir(), 'azure-json-'));
  const file = join(directory, 'azure.json');
  afterAll(() => rmSync(directory, { recursive: true }));

  const subscriptionID = '11111111-2222-4333-8444-555555555555';
  const text = {
    subscriptionId: subscriptionID,
    resourceGroup: 'cluster',
    location: 'westeurope',
    aadClientId: 'me',
    aadClientSecret: 'planted',
  };

  test('is what upstream’s file says, named by --cluster-name; who the operator is stays in the file', () => {
    writeFileSync(file, JSON.stringify(text));
    const found = defaultProviderOf('azure', file, { clusterName: 'prod' });
    expect(found).toMatchObject({
      name: 'azure',
      spec: {
        default: true,
        region: 'westeurope',
        azure: { subscriptionID, resourceGroup: 'cluster', clusterName: 'prod', credentials: { cloudConfigFile: file } },
      },
    });
    expect(JSON.stringify(found)).not.toContain('planted');
  });

  test('is the spec of a CloudProvider, where the file is one', () => {
    writeFileSync(file, `region: westeurope\nazure:\n  subscriptionID: ${subscriptionID}\n  resourceGroup: cluster\n  clusterName: own\n`);
    expect(defaultProviderOf('azure', file, { clusterName: 'prod' })?.spec.azure).toMatchObject({ clusterName: 'own' });
  });

  test('needs a file, and fields in it that upstream needs too', () => {
    expect(() => defaultProviderOf('azure', '')).toThrow('--cloud-provider=azure needs --cloud-config');
    writeFileSync(file, JSON.stringify({ ...text, resourceGroup: '' }));
    expect(() => defaultProviderOf('azure', file)).toThrow(/resourceGroup must be set/);
  });
});
