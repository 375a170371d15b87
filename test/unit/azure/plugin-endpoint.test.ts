import type { JsonObject } from '../../../operator/base/json';
import { PluginAccess } from '../../../operator/updates/worker/plugin-access';
import { pluginEndpoint } from '../../../providers/azure/config/plugin-endpoint';
import { workerModule } from '../../../providers/azure/worker';

const TOKEN = 'a-token-of-many-letters';
const settings = {
  resourceManager: 'https://management.azure.com',
  audience: 'https://management.core.windows.net',
  networkSubscriptionID: 'subscription',
  clusterName: 'kubernetes',
  token: TOKEN,
  expiresAt: 1_800_000_000_000,
};

let access: PluginAccess | undefined;
const open = async (more: object = {}): Promise<Readonly<Record<string, string>>> => {
  access = await PluginAccess.open(workerModule, { ...settings, ...more });
  return access.environment;
};
afterEach(() => access?.close());

/** As an App Service's identity is asked. */
async function ask(
  { IDENTITY_ENDPOINT = '', IDENTITY_HEADER = '' }: Readonly<Record<string, string>>,
  { resource = 'https://management.core.windows.net/', version = '2019-08-01', header = IDENTITY_HEADER } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const query = new URLSearchParams({ 'api-version': version, resource });
  const answer = await fetch(`${IDENTITY_ENDPOINT}?${query.toString()}`, { headers: { 'X-IDENTITY-HEADER': header } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('the plugin asks a managed identity, and gets the update’s token there: no secret of the operator’s is in its environment', async () => {
  const environment = await open();
  expect(environment).toEqual({
    ARM_SUBSCRIPTION_ID: 'subscription',
    ARM_USE_MSI: 'true',
    ARM_ENVIRONMENT: 'public',
    IDENTITY_ENDPOINT: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/token$/) as string,
    IDENTITY_HEADER: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  const resource = 'https://management.core.windows.net/';
  const token = { access_token: TOKEN, expires_on: '1800000000', token_type: 'Bearer' };
  expect(await ask(environment)).toEqual({ status: 200, body: { ...token, resource } });
  expect(await ask(environment, { resource: 'https://management.azure.com' })).toMatchObject({ status: 200, body: token });
});

test.each([
  ['who does not know the header', { header: '0'.repeat(64) }, 401],
  ['who knows less of it', { header: '' }, 401],
  ['another API, for which the token is not made out', { resource: 'https://vault.azure.net' }, 400],
  ['another version of the protocol', { version: '2017-09-01' }, 400],
])('nothing is given to %s', async (_who, asked, status) => {
  const answer = await ask(await open(), asked);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).not.toContain(TOKEN);
});

test('it ends with the update', async () => {
  const environment = await open();
  access?.close();
  await expect(ask(environment)).rejects.toThrow('fetch failed');
});

test('token and header are taken out of what a plugin says', async () => {
  const { IDENTITY_HEADER = '' } = await open();
  expect(access?.redact(`Bearer ${TOKEN}, header ${IDENTITY_HEADER}`)).toBe('Bearer [secret], header [secret]');
});

test.each([
  ['https://management.usgovcloudapi.net', { ARM_ENVIRONMENT: 'usgovernment' }],
  ['https://management.chinacloudapi.cn', { ARM_ENVIRONMENT: 'china' }],
  ['https://management.local.azurestack.external', { ARM_METADATA_HOSTNAME: 'management.local.azurestack.external' }],
])('the cloud of %s', async (resourceManager, named) => {
  const { ARM_ENVIRONMENT, ARM_METADATA_HOSTNAME } = await open({ resourceManager });
  expect({ ARM_ENVIRONMENT, ARM_METADATA_HOSTNAME }).toEqual(named);
});

test('an update without a token is refused', async () => {
  const none: JsonObject = { ...settings };
  delete none.token;
  await expect(pluginEndpoint(none)).rejects.toMatchObject({ code: 'Credentials', message: 'the update came without a token for Azure' });
});
