import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { AwsAccount, type CredentialChain, type FoundCredentials } from '../../../providers/aws/config/account';
import { parseAwsSettings } from '../../../providers/aws/client/settings';
import { InstanceMetadata } from '../../../providers/aws/nodes/metadata';
import { clusterTagOf, placeOf } from '../../../providers/aws/config/place';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

describe('credentials for workers', () => {
  let found: FoundCredentials;
  let asked: ({ forceRefresh?: boolean } | undefined)[];

  function accountOf(
    aws: object = {},
    chain?: CredentialChain,
    readSecret?: () => Promise<string[]>,
  ): { account: AwsAccount; opened: object[] } {
    const opened: object[] = [];
    const search: CredentialChain = (options) => {
      asked.push(options);
      return Promise.resolve(found);
    };
    const account = new AwsAccount(cloudProviderSpec.parse({ aws }).aws!, {
      clusterID: 'c',
      providerName: 'aws',
      region: 'eu-central-1',
      readSecret: readSecret ?? (() => Promise.reject(new Error('no secrets'))),
      clock: { now: () => NOW, monotonic: () => 0, setTimeout: () => ({ cancel: () => undefined }) } as never,
      openChain: (of) => {
        opened.push(of);
        return Promise.resolve(chain ?? search);
      },
    });
    return { account, opened };
  }

  beforeEach(() => {
    asked = [];
    found = { accessKeyId: 'AKID', secretAccessKey: 'planted', sessionToken: 'token', expiration: new Date(NOW + 60 * MINUTE) };
  });

  test('are looked for before an update, and go without the time of their end', async () => {
    const { account, opened } = accountOf();
    expect(parseAwsSettings(account.workerSettings()).credentials).toBeUndefined();
    await account.ensure();
    expect(parseAwsSettings(account.workerSettings()).credentials).toEqual({
      accessKeyId: 'AKID',
      secretAccessKey: 'planted',
      sessionToken: 'token',
    });
    expect(opened).toEqual([{ region: 'eu-central-1', host: { fips: false, dualStack: false } }]);
    expect(asked).toEqual([{}]);
  });

  test.each([
    ['that end during an update are renewed', 14, 2],
    ['that last long enough are not', 16, 1],
  ])('%s', async (_what, minutes, times) => {
    found.expiration = new Date(NOW + minutes * MINUTE);
    await accountOf().account.ensure();
    expect(asked).toHaveLength(times);
    expect(asked[1]).toEqual(times === 2 ? { forceRefresh: true } : undefined);
  });

  test('of a profile are those of that profile', async () => {
    const { account, opened } = accountOf({ profile: 'prod' });
    await account.ensure();
    expect(opened).toEqual([{ region: 'eu-central-1', host: { fips: false, dualStack: false }, profile: 'prod' }]);
  });

  test('that are nowhere are one error of the account, with the next step', async () => {
    const none = Object.assign(new Error('Could not load credentials from any providers'), { name: 'CredentialsProviderError' });
    const { account } = accountOf({}, () => Promise.reject(none));
    await expect(account.ensure()).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.stringMatching(/Could not load credentials.*an IAM role for its Pod/) as string,
    });
  });

  describe('that the cloud refuses', () => {
    test('are read anew while they are no sessions', async () => {
      const { account } = accountOf();
      found = { accessKeyId: 'AKID', secretAccessKey: 'planted' };
      await account.ensure();
      found = { accessKeyId: 'AKIDOTHER', secretAccessKey: 'planted' };
      expect([await account.renew(false), await account.renew(false)]).toEqual([true, false]);
      expect(parseAwsSettings(account.workerSettings()).credentials).toMatchObject({ accessKeyId: 'AKIDOTHER' });
    });

    test('are left what they are while they are sessions, of which each search makes another one, until a probe', async () => {
      const { account } = accountOf();
      await account.ensure();
      expect(await account.renew(false)).toBe(false);
      expect(asked).toEqual([{}]);
      found = { ...found, accessKeyId: 'ASIAOTHER' };
      expect(await account.renew(true)).toBe(false);
      expect(asked).toEqual([{}, { forceRefresh: true }]);
    });

    test('of a role: another one is asked for before a probe, or when the Secret has others', async () => {
      let sessions = 0;
      const sts = createServer((_request, response) => {
        const fields = { AccessKeyId: `ASIA${++sessions}`, SecretAccessKey: 's', Expiration: new Date(NOW + 60 * MINUTE).toISOString() };
        response.end(
          Object.entries(fields)
            .map(([name, value]) => `<${name}>${value}</${name}>`)
            .join(''),
        );
      });
      await new Promise<void>((resolve) => sts.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(sts.address() as AddressInfo).port}`;
      const secret = ['AKIDBASE', 'planted'];
      const aws = {
        ...{ credentialsSecretRef: { name: 'aws' }, endpoints: [{ service: 'STS', url }] },
        assumeRole: { roleARN: 'arn:aws:iam::123456789012:role/operator' },
      };
      const { account } = accountOf(aws, undefined, () => Promise.resolve([...secret]));
      const keyAfter = async (work: Promise<unknown>): Promise<string | undefined> => {
        await work;
        return parseAwsSettings(account.workerSettings()).credentials?.accessKeyId;
      };
      expect(await keyAfter(account.ensure())).toBe('ASIA1');
      expect(await keyAfter(account.renew(false))).toBe('ASIA1');
      expect(await keyAfter(account.renew(true))).toBe('ASIA2');
      secret[0] = 'AKIDOTHER';
      expect(await keyAfter(account.renew(false))).toBe('ASIA3');
      expect(await keyAfter(account.renew(false))).toBe('ASIA3');
      await new Promise((resolve) => sts.close(resolve));
    });
  });

  test('the operator’s own clients hear when they end', async () => {
    const { account } = accountOf();
    await expect(account.clientOptions().credentials?.()).resolves.toMatchObject({ expiration: found.expiration });
  });
});

describe('where a cluster is', () => {
  const answers: Record<string, string> = {
    'GET /latest/meta-data/placement/region': 'eu-west-1',
    'GET /latest/meta-data/mac': '0a:1b',
    'GET /latest/meta-data/network/interfaces/macs/0a:1b/vpc-id': 'vpc-0own',
  };
  let server: Server;
  let environment: Record<string, string>;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      const text =
        method === 'PUT' ? 'a-token' : headers['x-aws-ec2-metadata-token'] === 'a-token' ? answers[`${method} ${url}`] : undefined;
      response.writeHead(text === undefined ? 401 : 200).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    environment = { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  });
  afterAll(() => server.close());

  const place = (spec: object, env = environment): ReturnType<typeof placeOf> =>
    placeOf(cloudProviderSpec.parse({ aws: {}, ...spec }), env, new InstanceMetadata(env));

  test.each([
    ['by the operator’s own instance', {}, {}, { region: 'eu-west-1', vpcID: 'vpc-0own' }],
    ['by the environment before that', {}, { AWS_REGION: 'us-east-1' }, { region: 'us-east-1', vpcID: 'vpc-0own' }],
    ['by the settings before all', { region: 'eu-north-1', aws: { vpcID: 'vpc-0a1b' } }, {}, { region: 'eu-north-1', vpcID: 'vpc-0a1b' }],
  ])('%s', async (_what, spec, env, expected) => {
    await expect(place(spec, { ...environment, ...env })).resolves.toEqual(expected);
  });

  test.each([
    ['by its tag', { 'kubernetes.io/cluster/prod': 'owned', Name: 'x' }, { clusterName: 'prod', legacyClusterTag: false }],
    ['by the old tag', { KubernetesCluster: 'prod' }, { clusterName: 'prod', legacyClusterTag: true }],
    ['by neither', { Name: 'x' }, { legacyClusterTag: false }],
    ['by none of two', { 'kubernetes.io/cluster/a': '', 'kubernetes.io/cluster/b': '' }, { legacyClusterTag: false }],
  ])('the cluster’s name is read on the own instance: %s', async (_what, tags, expected) => {
    const metadata = { instanceID: () => Promise.resolve('i-own') };
    const asked: string[] = [];
    const tagsOf = (id: string): Promise<Record<string, string>> => {
      asked.push(id);
      return Promise.resolve(tags as Record<string, string>);
    };
    await expect(clusterTagOf({ legacyClusterTag: false }, metadata, tagsOf)).resolves.toEqual(expected);
    await expect(clusterTagOf({ clusterName: 'named', legacyClusterTag: false }, metadata, tagsOf)).resolves.toMatchObject({
      clusterName: 'named',
    });
    expect(asked).toEqual(['i-own']);
  });

  test.each([
    ['which there is none', 'NotFound', { clusterTag: {}, place: { region: 'eu-west-1' } }],
    ['which does not answer', 'Transient', undefined],
  ] as const)('an instance %s, asked for the VPC and the cluster', async (_what, code, expected) => {
    const fails = (): Promise<string> => Promise.reject(new OperatorError(code, 'no answer'));
    const metadata = { region: fails, vpcID: fails, instanceID: fails };
    const tag = clusterTagOf({ legacyClusterTag: false }, metadata, () => Promise.resolve({}));
    const where = placeOf(cloudProviderSpec.parse({ region: 'eu-west-1', aws: {} }), {}, metadata);
    if (expected !== undefined) {
      await expect(tag).resolves.toMatchObject(expected.clusterTag);
      await expect(where).resolves.toEqual(expected.place);
    } else {
      await expect(tag).rejects.toMatchObject({ code, field: 'spec.aws.clusterName' });
      await expect(where).rejects.toMatchObject({ code, field: 'spec.aws.vpcID' });
    }
  });

  test('an instance whose metadata service is off says nothing, as no instance does', async () => {
    const off = createServer((_request, response) => response.writeHead(403).end());
    await new Promise<void>((resolve) => off.listen(0, '127.0.0.1', resolve));
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${(off.address() as AddressInfo).port}` };
    await expect(place({ region: 'eu-north-1' }, env)).resolves.toEqual({ region: 'eu-north-1' });
    off.close();
  });

  test('on no instance, only the region must be said', async () => {
    const env = { AWS_EC2_METADATA_DISABLED: 'true' };
    await expect(place({ region: 'eu-north-1' }, env)).resolves.toEqual({ region: 'eu-north-1' });
    await expect(place({}, env)).rejects.toMatchObject({
      field: 'spec.region',
      message: expect.stringContaining('Set spec.region') as string,
    });
  });
});
