import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudProviderSpec } from '../../../crds';
import type { CallOutcome } from '../../../providers/call-gate';
import { AzureAccount } from '../../../providers/azure/config/account';
import { OPERATOR, startScene } from '../../harness/arm/scene';

const OWN = '00000000-0000-0000-0000-000000000001';
const NETWORKS = '00000000-0000-0000-0000-00000000000A';

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

test('a network of another tenant is spoken to with tokens of that one, also by workers; a managed identity has none', async () => {
  const application = { ...OPERATOR, clientID: OWN, secret: 'planted' };
  const server = await startScene({ applications: [application, { ...application, tenantID: 'networks' }] });
  const open = (credentials: object): Promise<AzureAccount> => {
    const subscriptions = { subscriptionID: OWN, networkSubscriptionID: NETWORKS };
    const tenants = { tenantID: application.tenantID, networkTenantID: 'networks' };
    const { azure } = cloudProviderSpec.parse({
      azure: { ...subscriptions, ...tenants, resourceGroup: 'g', resourceManagerEndpoint: server.url, credentials },
    });
    return AzureAccount.open(
      azure!,
      { clusterID: 'c', providerName: 'azure', readSecret: () => Promise.resolve([application.secret]) },
      {},
    );
  };
  const account = await open({ clientID: application.clientID, clientSecretRef: { name: 'azure', key: 'secret' } });
  const { token } = account.clientOptions();
  const tenantFor = async (subscription: string): Promise<string | undefined> =>
    server.identity.tenantOf(await token(`/subscriptions/${subscription}/resourceGroups/g`));
  expect([await tenantFor(OWN), await tenantFor(NETWORKS)]).toEqual([application.tenantID, 'networks']);
  await account.ensure();
  expect(server.identity.tenantOf(account.token?.value ?? '')).toBe('networks');
  await expect(open({ managedIdentity: {} })).rejects.toMatchObject({ code: 'Invalid', field: 'spec.azure.networkTenantID' });
  await server.stop();
});

describe('what the credentials are worth', () => {
  const APPLICATION = { ...OPERATOR, clientID: '00000000-0000-0000-0000-000000000002', secret: 'planted' };
  let server: Awaited<ReturnType<typeof startScene>>;
  let account: AzureAccount;
  let outcomes: CallOutcome[];

  beforeEach(async () => {
    server = await startScene({ applications: [APPLICATION] });
    outcomes = [];
    const { azure } = cloudProviderSpec.parse({
      azure: {
        subscriptionID: '00000000-0000-0000-0000-000000000001',
        resourceGroup: 'g',
        resourceManagerEndpoint: server.url,
        tenantID: APPLICATION.tenantID,
        credentials: { clientID: APPLICATION.clientID, clientSecretRef: { name: 'azure', key: 'secret' } },
      },
    });
    const calls = { acquire: () => Promise.resolve((outcome: CallOutcome) => void outcomes.push(outcome)) };
    const readSecret = (): Promise<string[]> => Promise.resolve([APPLICATION.secret]);
    account = await AzureAccount.open(azure!, { clusterID: 'c', providerName: 'azure', readSecret, calls }, {});
  });
  afterEach(() => server.stop());

  test('is told to the account before an update, also while a token of before still holds for calls', async () => {
    server.identity.lifetimeS = 600;
    await account.ensure();
    server.identity.expired.add(APPLICATION.secret);
    await expect(account.ensure()).rejects.toMatchObject({ code: 'Credentials' });
    expect(outcomes).toEqual([{ kind: 'Answered' }, { kind: 'Refused', message: expect.stringContaining('AADSTS7000222') as string }]);
  });

  test('nobody is asked while a token holds for an update', async () => {
    await account.ensure();
    await account.ensure();
    expect([outcomes.length, server.identity.requests.length]).toEqual([1, 1]);
  });

  test('is asked for once when a worker’s token was refused', async () => {
    await account.ensure();
    server.identity.expired.add(APPLICATION.secret);
    await expect(account.renew()).rejects.toMatchObject({ message: /AADSTS7000222/ as never });
    expect(await account.renew()).toBe(false);
    expect(server.identity.requests).toHaveLength(2);
  });
});
