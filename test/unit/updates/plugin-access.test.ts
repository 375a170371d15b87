import { besidePlugin, PluginAccess } from '../../../operator/updates/worker/plugin-access';
import type { UpdateContext } from '../../../providers/worker-module';
import { pluginVariables } from '../../../providers/aws/config/plugin-variables';

const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'a-secret-of-many-letters', sessionToken: 'a-token-of-many-letters' };

test('what AWS plugins read, and nothing that is not set', () => {
  const endpoints = {
    EC2: 'http://127.0.0.1:1',
    ElasticLoadBalancing: 'http://127.0.0.1:3',
    ElasticLoadBalancingV2: 'http://127.0.0.1:2',
  };
  const { environment } = new PluginAccess(pluginVariables({ region: 'eu-central-1', credentials, endpoints, useFIPSEndpoints: true }));
  expect(environment).toEqual({
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'a-secret-of-many-letters',
    AWS_SESSION_TOKEN: 'a-token-of-many-letters',
    AWS_ENDPOINT_URL_EC2: 'http://127.0.0.1:1',
    AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING: 'http://127.0.0.1:3',
    AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: 'http://127.0.0.1:2',
    AWS_USE_FIPS_ENDPOINT: 'true',
  });
  expect(new PluginAccess(pluginVariables({ region: 'eu-central-1' })).environment).toEqual({ AWS_REGION: 'eu-central-1' });
});

test('secrets are taken out of messages wherever they stand, and nothing else is', () => {
  const access = new PluginAccess(pluginVariables({ region: 'eu-central-1', credentials }));
  const said = 'AKIAEXAMPLE in eu-central-1: "a-secret-of-many-letters" (a-token-of-many-letters, a-secret-of-many-letters)';
  expect(access.redact(said)).toBe('AKIAEXAMPLE in eu-central-1: "[secret]" ([secret], [secret])');
  const short = new PluginAccess([{ name: 'X', value: 'a', secret: true }]);
  expect(short.redact('a cat')).toBe('a cat');
});

test('types of ours are served beside an official plugin, where there is one', () => {
  const [theirs, ours] = ['aws', 'cloudoperator'].map((name) => ({ package: name, version: '1.0.0', types: [] }));
  const module = { program: () => Promise.resolve({}), resourceProviders: () => [theirs!, ours!] };
  const served = besidePlugin({ ...module, hasOfficialPlugin: true }, module);
  expect(served.resourceProviders({}, {} as UpdateContext)).toEqual([ours]);
  expect(() => besidePlugin(module, module)).toThrow('does not run with an official plugin');
});
