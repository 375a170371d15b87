import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { cloudProviderSpec } from '../../../crds';
import { AzureAccount } from '../../../providers/azure/config/account';

const SUBSCRIPTION = '11111111-2222-4333-8444-555555555555';
const METADATA = 'http://169.254.169.254';

/** learn.microsoft.com, "Azure Government: Compare Azure Government and global Azure", "Azure China: Developer guide". */
const CLOUDS: [string, { login: string; resourceManager: string; audience: string }][] = [
  ['AzurePublicCloud', of('login.microsoftonline.com', 'management.azure.com', 'management.core.windows.net')],
  ['AzureChinaCloud', of('login.chinacloudapi.cn', 'management.chinacloudapi.cn', 'management.core.chinacloudapi.cn')],
  ['AzureUSGovernmentCloud', of('login.microsoftonline.us', 'management.usgovcloudapi.net', 'management.core.usgovcloudapi.net')],
  ['AzureUSGovernment', of('login.microsoftonline.us', 'management.usgovcloudapi.net', 'management.core.usgovcloudapi.net')],
];

function of(login: string, resourceManager: string, audience: string) {
  return { login: `https://${login}`, resourceManager: `https://${resourceManager}`, audience: `https://${audience}` };
}

describe('clouds of Azure’s', () => {
  const before = getGlobalDispatcher();
  let agent: MockAgent;

  // What goes anywhere else fails: nobody answers there.
  beforeEach(() => {
    agent = new MockAgent();
    agent.disableNetConnect();
    setGlobalDispatcher(agent);
  });
  afterEach(async () => {
    setGlobalDispatcher(before);
    await agent.close();
  });

  const open = (cloud: string, credentials: object): Promise<AzureAccount> => {
    const spec = { subscriptionID: SUBSCRIPTION, resourceGroup: 'g', tenantID: 'tenant', cloud, credentials };
    const { azure } = cloudProviderSpec.parse({ azure: spec });
    return AzureAccount.open(azure!, { clusterID: 'c', providerName: 'azure', readSecret: () => Promise.resolve(['planted']) }, {});
  };

  test.each(CLOUDS)('%s: a token is asked for at its login, for its resource manager, and goes there', async (cloud, endpoints) => {
    const clientID = '00000000-0000-0000-0000-000000000002';
    const account = await open(cloud, { clientID, clientSecretRef: { name: 'azure', key: 'secret' } });
    let form = '';
    const path = '/tenant/oauth2/v2.0/token';
    agent
      .get(endpoints.login)
      .intercept({ path, method: 'POST', body: (text) => (form = text) !== '' })
      .reply(200, { access_token: `of ${cloud}`, expires_in: 3600 });
    const { resourceManager, token } = account.clientOptions();
    expect(await token(`/subscriptions/${SUBSCRIPTION}`)).toBe(`of ${cloud}`);
    expect(new URLSearchParams(form).get('scope')).toBe(`${endpoints.audience}/.default`);
    expect([resourceManager, account.audience]).toEqual([endpoints.resourceManager, endpoints.audience]);
  });

  test.each(CLOUDS)('%s: the machine’s identity is asked for a token for its resource manager', async (cloud, { audience }) => {
    const account = await open(cloud, { managedIdentity: {} });
    const query = { 'api-version': '2018-02-01', resource: `${audience}/` };
    agent
      .get(METADATA)
      .intercept({ path: '/metadata/identity/oauth2/token', query })
      .reply(200, { access_token: 'token', expires_in: '3600' });
    expect(await account.clientOptions().token(`/subscriptions/${SUBSCRIPTION}`)).toBe('token');
  });

  test('one that there is not is refused, with those that there are', async () => {
    await expect(open('AzureGermanCloud', { managedIdentity: {} })).rejects.toMatchObject({
      code: 'Invalid',
      message: /AzurePublicCloud, AzureChinaCloud, AzureUSGovernmentCloud/ as never,
    });
  });
});
