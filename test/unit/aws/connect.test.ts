import { cloudProviderSpec, type CloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { awsProvider } from '../../../providers/aws';
import { parseAwsSettings } from '../../../providers/aws/client/settings';
import type { Cloud } from '../../../providers/provider';

const SECRET = { name: 'aws', accessKeyIDKey: 'AccessKeyID', secretAccessKeyKey: 'SecretAccessKey' };

function spec(aws: object, region: string | undefined = 'eu-central-1'): CloudProviderSpec {
  return cloudProviderSpec.parse({ ...(region !== undefined && { region }), aws: { clusterName: 'prod', ...aws } });
}

describe('connecting to AWS', () => {
  beforeAll(() => {
    process.env.AWS_EC2_METADATA_DISABLED = 'true';
  });
  afterAll(() => {
    delete process.env.AWS_EC2_METADATA_DISABLED;
  });
  let secret: Record<string, string>;
  let opened: Cloud[] = [];

  beforeEach(() => {
    secret = { AccessKeyID: 'AKIDEXAMPLE\n', SecretAccessKey: 'planted-secret' };
  });
  afterEach(async () => {
    for (const cloud of opened.splice(0)) await cloud.close();
  });

  async function connect(settings: CloudProviderSpec): Promise<Cloud> {
    const readSecret = (name: string, keys: readonly string[]): Promise<string[]> => {
      const values = keys.flatMap((key) => (name === 'aws' ? (secret[key] ?? []) : []));
      return values.length < keys.length
        ? Promise.reject(new OperatorError('NotFound', `there is no key ${keys.join(' or ')} in Secret ${name}`))
        : Promise.resolve(values);
    };
    const cloud = await awsProvider.connect(settings, { clusterID: 'c', providerName: 'aws', readSecret });
    opened = [...opened, cloud];
    return cloud;
  }

  test('a worker gets region, endpoints and the credentials of the Secret, and today’s once they are renewed', async () => {
    const endpoints = [{ service: 'EC2', url: 'http://127.0.0.1:1' }];
    const cloud = await connect(spec({ credentialsSecretRef: SECRET, endpoints, useFIPSEndpoints: true }));
    const settings = parseAwsSettings(cloud.workerSettings());
    expect(settings).toEqual({
      region: 'eu-central-1',
      endpoints: { EC2: 'http://127.0.0.1:1' },
      useFIPSEndpoints: true,
      useDualStackEndpoints: false,
      nodeGroups: [],
      maxRules: 60,
      clusterName: 'prod',
      signing: {},
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'planted-secret' },
    });
    secret = { AccessKeyID: 'AKIDOTHER', SecretAccessKey: 'rotated' };
    await cloud.renewCredentials?.(false);
    expect(parseAwsSettings(cloud.workerSettings()).credentials).toEqual({ accessKeyId: 'AKIDOTHER', secretAccessKey: 'rotated' });
  });

  test('temporary credentials come with their token', async () => {
    secret.Token = 'session';
    const cloud = await connect(spec({ credentialsSecretRef: { ...SECRET, sessionTokenKey: 'Token' } }));
    expect(parseAwsSettings(cloud.workerSettings()).credentials).toMatchObject({ sessionToken: 'session' });
  });

  test('where no Secret is named, nothing is asked for at the start', async () => {
    const cloud = await connect(spec({}));
    expect(parseAwsSettings(cloud.workerSettings()).credentials).toBeUndefined();
  });

  test.each([
    ['no region', cloudProviderSpec.parse({ aws: { clusterName: 'prod' } }), 'spec.region'],
    ['another cloud', cloudProviderSpec.parse({ local: { endpoint: 'http://127.0.0.1:1' } }), 'spec.aws'],
    ['neither cluster nor VPC', cloudProviderSpec.parse({ region: 'eu-central-1', aws: {} }), 'spec.aws.clusterName'],
  ])('%s is refused, and the field named', async (_what, settings, field) => {
    await expect(connect(settings)).rejects.toMatchObject({ field });
  });

  test('a Secret that is not there is told, and settings that are wrong are told without their values', async () => {
    secret = {};
    await expect(connect(spec({ credentialsSecretRef: SECRET }))).rejects.toMatchObject({ code: 'NotFound' });
    const wrong = { region: 'eu-central-1', credentials: { accessKeyId: '', secretAccessKey: 'planted-secret' } };
    expect(() => parseAwsSettings(wrong)).toThrow(/credentials\.accessKeyId/);
    expect(() => parseAwsSettings(wrong)).not.toThrow(/planted-secret/);
  });
});
