import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { azureProviderSettings } from '../../../crds';
import { ProviderSecrets } from '../../../operator/cloud/providers/provider-secrets';
import { clientAssertion } from '../../../providers/azure/client/client-assertion';
import { isAzureJson, parseAzureJson, type AzureJson } from '../../../providers/azure/config/azure-json';
import { FIELDS, WITHOUT_EFFECT } from '../../../providers/azure/config/azure-json-fields';
import { credentialsOf } from '../../../providers/azure/config/credentials';
import { identityOf, type IdentityVariables } from '../../../providers/azure/config/identity';
import { settingsOf } from '../../../providers/azure/config/settings';

const SUBSCRIPTION = '0a1b2c3d-1111-4222-8333-444455556666';
const LEAST = { subscriptionId: SUBSCRIPTION, resourceGroup: 'cluster' };

/** What a file with these fields beside the needed ones gives. */
function settings(fields: object): { spec: object; warnings: string[] } {
  const { config, warnings } = parseAzureJson(JSON.stringify({ ...LEAST, ...fields }));
  const result = settingsOf(config);
  return { spec: result.spec, warnings: [...warnings, ...result.warnings] };
}

const azure = (fields: object): object => ({ azure: { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', ...fields } });
const SELECTOR = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'e', operator: 'NotIn', values: ['f'] }] };
const OTHER = '99999999-1111-4222-8333-444455556666';

const ROWS: [field: keyof typeof FIELDS, fields: object, spec: object][] = [
  ['subscriptionId', {}, azure({})],
  ['resourceGroup', {}, azure({})],
  ['cloud', { cloud: 'AzureChinaCloud' }, azure({ cloud: 'AzureChinaCloud' })],
  [
    'resourceManagerEndpoint',
    { resourceManagerEndpoint: 'https://management.local' },
    azure({ resourceManagerEndpoint: 'https://management.local' }),
  ],
  ['tenantId', { tenantId: 't' }, azure({ tenantID: 't' })],
  [
    'networkResourceTenantID',
    { tenantId: 't', networkResourceTenantID: 'u', networkResourceSubscriptionID: OTHER },
    azure({ tenantID: 't', networkTenantID: 'u', networkSubscriptionID: OTHER }),
  ],
  ['networkResourceSubscriptionID', { networkResourceSubscriptionID: OTHER }, azure({ networkSubscriptionID: OTHER })],
  ['location', { location: 'westeurope' }, { region: 'westeurope', ...azure({}) }],
  ['vnetName', { vnetName: 'net' }, azure({ vnetName: 'net' })],
  ['vnetResourceGroup', { vnetResourceGroup: 'g' }, azure({ vnetResourceGroup: 'g' })],
  ['subnetName', { subnetName: 'nodes' }, azure({ subnetName: 'nodes' })],
  ['securityGroupName', { securityGroupName: 'sg' }, azure({ securityGroupName: 'sg' })],
  ['securityGroupResourceGroup', { securityGroupResourceGroup: 'g' }, azure({ securityGroupResourceGroup: 'g' })],
  ['routeTableName', { routeTableName: 'rt' }, azure({ routeTableName: 'rt' })],
  ['routeTableResourceGroup', { routeTableResourceGroup: 'g' }, azure({ routeTableResourceGroup: 'g' })],
  ['loadBalancerName', { loadBalancerName: 'lb' }, azure({ loadBalancerName: 'lb' })],
  ['loadBalancerResourceGroup', { loadBalancerResourceGroup: 'g' }, azure({ loadBalancerResourceGroup: 'g' })],
  ['loadBalancerSku', { loadBalancerSku: 'Standard' }, azure({})],
  ['loadBalancerBackendPoolConfigurationType', { loadBalancerBackendPoolConfigurationType: 'nodeIP' }, azure({})],
  [
    'preConfiguredBackendPoolLoadBalancerTypes',
    { preConfiguredBackendPoolLoadBalancerTypes: 'external' },
    azure({ preConfiguredPools: 'External' }),
  ],
  ['privateLinkServiceResourceGroup', { privateLinkServiceResourceGroup: 'g' }, azure({ privateLinkServiceResourceGroup: 'g' })],
  [
    'multipleStandardLoadBalancerConfigurations',
    {
      multipleStandardLoadBalancerConfigurations: [
        { name: 'kubernetes', primaryVMSet: 'pool' },
        {
          name: 'lb-2',
          allowServicePlacement: false,
          serviceLabelSelector: SELECTOR,
          nodeSelector: { matchLabels: { c: 'd' } },
        },
      ],
    },
    azure({
      loadBalancers: [
        { name: 'kubernetes', primaryVMSet: 'pool' },
        { name: 'lb-2', allowServicePlacement: false, serviceSelector: SELECTOR, nodeSelector: { matchLabels: { c: 'd' } } },
      ],
    }),
  ],
  ['maximumLoadBalancerRuleCount', { maximumLoadBalancerRuleCount: 1500 }, azure({ limits: { rulesPerLoadBalancer: 1500 } })],
  [
    'clusterServiceLoadBalancerHealthProbeMode',
    { clusterServiceLoadBalancerHealthProbeMode: 'shared' },
    azure({ healthProbe: { mode: 'Shared' } }),
  ],
  [
    'clusterServiceSharedLoadBalancerHealthProbePort',
    { clusterServiceSharedLoadBalancerHealthProbePort: 10355 },
    azure({ healthProbe: { port: 10355 } }),
  ],
  [
    'clusterServiceSharedLoadBalancerHealthProbePath',
    { clusterServiceSharedLoadBalancerHealthProbePath: '/h' },
    azure({ healthProbe: { path: '/h' } }),
  ],
  ['disableOutboundSNAT', { disableOutboundSNAT: true }, azure({ outboundSNAT: false })],
  ['excludeMasterFromStandardLB', { excludeMasterFromStandardLB: false }, azure({ excludeControlPlane: false })],
  ['tags', { tags: 'a=b,c=d' }, azure({ tags: { a: 'b', c: 'd' } })],
  ['tagsMap', { tags: 'a=b,Team=net', tagsMap: { 'a,b': 'c=d', team: 'web' } }, azure({ tags: { a: 'b', 'a,b': 'c=d', team: 'web' } })],
  ['routeUpdateWaitingInSeconds', { routeUpdateWaitingInSeconds: 0 }, azure({ routeWaitSeconds: 0 })],
  ['cloudProviderRateLimit', { cloudProviderRateLimit: false, cloudProviderRateLimitQPS: 6 }, azure({})],
  [
    'cloudProviderRateLimitQPS',
    { cloudProviderRateLimit: true, cloudProviderRateLimitQPS: 6 },
    { limits: { callsPerSecond: 6 }, ...azure({}) },
  ],
  [
    'cloudProviderRateLimitBucket',
    { cloudProviderRateLimit: true, cloudProviderRateLimitBucket: 20 },
    { limits: { burst: 20 }, ...azure({}) },
  ],
];

/** Who the operator is, which is no setting. */
const OF_IDENTITY = [
  'aadClientId',
  'aadClientSecret',
  'aadClientCertPath',
  'aadClientCertPassword',
  'useManagedIdentityExtension',
  'userAssignedIdentityID',
  'useFederatedWorkloadIdentityExtension',
  'aadFederatedTokenFile',
];

describe('azure.json', () => {
  test('every field that is read has a row here', () => {
    expect([...ROWS.map(([field]) => field), ...OF_IDENTITY].sort()).toEqual(Object.keys(FIELDS).sort());
  });

  test.each(ROWS)('%s', (_field, fields, spec) => {
    expect(settings(fields)).toEqual({ spec, warnings: [] });
    expect(azureProviderSettings.safeParse((spec as { azure: object }).azure).error).toBeUndefined();
  });

  test.each(Object.keys(WITHOUT_EFFECT))('%s has no effect, and says why', (field) => {
    const { spec, warnings } = settings({ [field]: 'x' });
    expect(spec).toEqual(azure({}));
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${field} has no effect: .{10}`))]);
  });

  test('unknown fields are warned of, with the one that was meant; names are the same in capitals or not', () => {
    expect(settings({ vnetNam: 'x', flavoured: 1, virtualMachineRateLimit: {} }).warnings).toEqual([
      'vnetNam is not known, and without effect; did you mean vnetName?',
      'flavoured is not known, and without effect',
      'virtualMachineRateLimit has no effect: all calls share cloudProviderRateLimitQPS, and what Azure says is left',
    ]);
    expect(settings({ VNETNAME: 'net', subnetName: '' })).toEqual({ spec: azure({ vnetName: 'net' }), warnings: [] });
  });

  test('YAML is read too', () => {
    expect(parseAzureJson('subscriptionId: s\nuseManagedIdentityExtension: true\n').config).toEqual({
      subscriptionId: 's',
      useManagedIdentityExtension: true,
    });
  });

  const refused: [string, object, RegExp][] = [
    ['a Basic load balancer', { loadBalancerSku: 'basic' }, /loadBalancerSku.*standard/],
    ['pools of Pods', { loadBalancerBackendPoolConfigurationType: 'podIP' }, /nodeIP/],
    ['an unknown probe mode', { clusterServiceLoadBalancerHealthProbeMode: 'x' }, /shared, servicenodeport/],
    ['tags without a key', { tags: '=b' }, /^tags: /],
    [
      'a selector that is none',
      withSelector({
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'In' },
        ],
      }),
      /^multipleStandardLoadBalancerConfigurations kubernetes: serviceLabelSelector.matchExpressions.1: values must be set with In/,
    ],
    ['a selector of something else', withSelector({ matchLabel: { a: 'b' } }), /kubernetes: serviceLabelSelector: .*matchLabel/],
    ['a load balancer without a name', { multipleStandardLoadBalancerConfigurations: [{}] }, /one has no name/],
    ['another tenant of the same subscription', { tenantId: 't', networkResourceTenantID: 'u' }, /needs networkResourceSubscriptionID/],
    ['no subscription', { subscriptionId: '' }, /subscriptionId must be set/],
    ['no resource group', { resourceGroup: null }, /resourceGroup must be set/],
    ['a flag that is a text', { disableOutboundSNAT: 'true' }, /disableOutboundSNAT: must be true or false/],
    ['a number that is a text', { maximumLoadBalancerRuleCount: '250' }, /must be a number/],
    ['a secret that is a number', { aadClientSecret: 4711 }, /^aadClientSecret: must be a text$/],
  ];

  test.each(refused)('%s is refused', (_name, fields, message) => {
    expect(() => settings(fields)).toThrow(message);
  });

  test('pools of interfaces become pools of addresses, with a warning', () => {
    expect(settings({ loadBalancerBackendPoolConfigurationType: 'nodeIPConfiguration' }).warnings).toHaveLength(1);
    const overruled = expect.stringMatching(/^tags: the key k8s-azure-service is without effect: .*Remove it\.$/) as string;
    expect(settings({ tags: 'team=net,k8s-azure-service=mine' }).warnings).toEqual([overruled]);
    expect(settings(withSelector({})).warnings).toEqual([expect.stringMatching(/serviceLabelSelector has no effect: it is empty/)]);
  });

  test('what is no map is refused without a word of what it holds', () => {
    expect(() => parseAzureJson('aadClientSecret: "s3cret')).toThrow(/^neither JSON nor YAML$/);
    expect(() => parseAzureJson('[1]')).toThrow(/must be a map/);
  });

  test.each([
    [true, JSON.stringify(LEAST, null, 2)],
    [true, 'tenantId: t\nresourceGroup: g\n'],
    [false, 'region: westeurope\nazure:\n  subscriptionID: s\n  resourceGroup: g\n'],
    [false, '[Global]\nZone = eu-west-1a\n'],
    [false, 'local:\n  endpoint: http://127.0.0.1\n'],
  ])('is told apart from a CloudProvider.spec: %s', (expected, text) => {
    expect(isAzureJson(text)).toBe(expected);
  });

  function withSelector(serviceLabelSelector: object): object {
    return { multipleStandardLoadBalancerConfigurations: [{ name: 'kubernetes', serviceLabelSelector }] };
  }
});

describe('who the operator is', () => {
  let folder: string;
  let file: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'azure-identity-'));
    file = join(folder, 'cert.pem');
    writeFileSync(file, 'PEM');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const secret = { tenantId: 't', aadClientId: 'c', aadClientSecret: 's' };
  const machine = { useManagedIdentityExtension: true };
  const resourceID = '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i';
  const workload = { useFederatedWorkloadIdentityExtension: true, aadFederatedTokenFile: '/token' };
  const rows: [string, object, IdentityVariables, object][] = [
    ['a secret', secret, {}, { kind: 'ClientSecret', tenantID: 't', clientID: 'c', clientSecret: 's' }],
    [
      'variables before the file',
      secret,
      { AZURE_TENANT_ID: 't2', AZURE_CLIENT_ID: 'c2', AZURE_CLIENT_SECRET: 's2' },
      { kind: 'ClientSecret', tenantID: 't2', clientID: 'c2', clientSecret: 's2' },
    ],
    ['empty variables', secret, { AZURE_TENANT_ID: '', AZURE_FEDERATED_TOKEN_FILE: '' }, { kind: 'ClientSecret', tenantID: 't' }],
    ['the machine, before a secret', { ...secret, ...machine }, {}, { kind: 'ManagedIdentity' }],
    ['one of the machine’s', { ...machine, userAssignedIdentityID: 'c' }, {}, { kind: 'ManagedIdentity', identity: { clientID: 'c' } }],
    ['the same by its id', { ...machine, userAssignedIdentityID: resourceID }, {}, { kind: 'ManagedIdentity', identity: { resourceID } }],
    ['a workload identity, before all', { ...secret, ...machine, ...workload }, {}, { kind: 'WorkloadIdentity', tokenFile: '/token' }],
    [
      'the one that was mounted',
      { ...secret, ...machine },
      { AZURE_FEDERATED_TOKEN_FILE: '/var/token' },
      { kind: 'WorkloadIdentity', clientID: 'c', tokenFile: '/var/token' },
    ],
  ];

  test.each(rows)('%s', async (_name, config, variables, expected) => {
    expect(await identityOf(config, variables)).toMatchObject(expected);
  });

  test('a certificate', async () => {
    const config = { tenantId: 't', aadClientId: 'c', aadClientCertPath: file, aadClientCertPassword: 'p' };
    expect(await identityOf(config)).toEqual({
      kind: 'ClientCertificate',
      tenantID: 't',
      clientID: 'c',
      certificate: 'PEM',
      password: 'p',
    });
    await expect(identityOf({ ...config, aadClientCertPath: join(folder, 'no') })).rejects.toMatchObject({ code: 'Credentials' });
  });

  describe('a PKCS #12 file', () => {
    const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
    const config = (name: string, password?: string): AzureJson => ({
      ...{ tenantId: 't', aadClientId: 'c', aadClientCertPath: join(folder, name) },
      ...(password !== undefined && { aadClientCertPassword: password }),
    });
    const pem = (name: string): string => readFileSync(join(folder, name), 'utf8');
    /** The same in a Secret, with its password in another key. */
    const fromSecret = (file: string, password?: string): ReturnType<typeof credentialsOf> => {
      const data = { file: readFileSync(join(folder, file)).toString('base64'), word: Buffer.from(`${password}\n`).toString('base64') };
      const secrets = new ProviderSecrets({ get: () => Promise.resolve({ data } as never) }, 'ours');
      const clientCertificateRef = { name: 'azure', key: 'file', ...(password !== undefined && { passwordKey: 'word' }) };
      return credentialsOf({
        settings: { tenantID: 't', credentials: { clientID: 'c', clientCertificateRef } },
        secrets: { readSecret: (name, keys) => secrets.read(name, keys) },
        variables: {},
      });
    };

    beforeAll(() => {
      for (const [name, ...kind] of [
        ['own', 'rsa:2048'],
        ['authority', 'rsa:2048'],
        ['curve', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
      ]) {
        const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
        openssl('req', '-x509', '-nodes', '-newkey', ...kind, ...files, '-subj', `/CN=${name}`, '-days', '1');
      }
    });

    test.each([
      ['as OpenSSL 3 writes it', ['-passout', 'pass:word'], 'word'],
      ['with a chain', ['-certfile', 'authority.crt', '-passout', 'pass:word'], 'word'],
      [
        'as Windows writes it',
        ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1', '-passout', 'pass:word'],
        'word',
      ],
      ['with an empty password, as Key Vault gives it', ['-passout', 'pass:'], undefined],
      ['without encryption', ['-keypbe', 'NONE', '-certpbe', 'NONE', '-nomac', '-passout', 'pass:'], undefined],
    ])('%s', async (_, words, password) => {
      openssl('pkcs12', '-export', '-inkey', 'own.key', '-in', 'own.crt', ...words, '-out', 'own.pfx');
      const identity = await identityOf(config('own.pfx', password));
      if (identity.kind !== 'ClientCertificate') throw new Error(identity.kind);
      expect(identity.password).toBeUndefined();
      expect(new X509Certificate(identity.certificate).raw).toEqual(new X509Certificate(pem('own.crt')).raw);
      const key = identity.certificate.slice(identity.certificate.indexOf('-----BEGIN PRIVATE KEY'));
      expect(createPrivateKey(key).equals(createPrivateKey(pem('own.key')))).toBe(true);
      expect(await fromSecret('own.pfx', password)).toEqual(identity);
      // What Microsoft Entra ID is shown.
      const assertion = clientAssertion({ clientID: 'c', audience: 'https://login', certificate: identity.certificate, now: 0 });
      expect(assertion.split('.')).toHaveLength(3);
    });

    test('PEM in a Secret is what it was, with a password where its key has one', async () => {
      const text = `Bag Attributes: München\n${pem('own.crt')}${pem('own.key')}`;
      writeFileSync(join(folder, 'own.pem'), text);
      const who = { kind: 'ClientCertificate', tenantID: 't', clientID: 'c', certificate: text };
      expect(await fromSecret('own.pem')).toEqual(who);
      expect(await fromSecret('own.pem', 'word')).toEqual({ ...who, password: 'word' });
    });

    test('that can’t be used is refused with what to check', async () => {
      openssl('pkcs12', '-export', '-inkey', 'own.key', '-in', 'own.crt', '-passout', 'pass:word', '-out', 'own.pfx');
      openssl('pkcs12', '-export', '-inkey', 'curve.key', '-in', 'curve.crt', '-passout', 'pass:word', '-out', 'curve.pfx');
      writeFileSync(join(folder, 'broken.pfx'), readFileSync(join(folder, 'own.pfx')).subarray(0, 500));
      for (const [name, word] of [
        ['own.pfx', 'x'],
        ['own.pfx', undefined],
        ['curve.pfx', 'word'],
        ['broken.pfx', 'word'],
      ] as const) {
        const refused = { code: 'Credentials', message: expect.stringMatching(/Check aadClientCertPassword.*RSA key/) as string };
        await expect(identityOf(config(name, word))).rejects.toMatchObject(refused);
        const where = word === undefined ? 'passwordKey, which names its password' : 'the key word of Secret azure';
        await expect(fromSecret(name, word)).rejects.toThrow(`Check ${where}, and that the PKCS #12 file holds`);
      }
    });
  });

  test.each([
    [{}, /it says no credentials\. Set useManagedIdentityExtension/],
    [{ aadClientSecret: 's', tenantId: 't' }, /aadClientId must be set/],
    [{ aadClientSecret: 's', aadClientId: 'c' }, /tenantId must be set/],
    [{ ...secret, useFederatedWorkloadIdentityExtension: true }, /aadFederatedTokenFile must be set/],
  ])('what is not enough is refused: %j', async (config, message) => {
    await expect(identityOf(config)).rejects.toThrow(message);
  });
});
