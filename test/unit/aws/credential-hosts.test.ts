import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudProviderSpec, type CloudProviderSpecInput } from '../../../crds';
import type { AwsClientOptions } from '../../../providers/aws/client/aws-client';
import { ClassicElb } from '../../../providers/aws/client/classic-elb';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import { parseAwsSettings } from '../../../providers/aws/client/settings';
import { AwsAccount } from '../../../providers/aws/config/account';

type Settings = NonNullable<CloudProviderSpecInput['aws']>;

const ROLE = 'arn:aws:iam::123456789012:role/operator';
/** What has STS asked: a web identity (IRSA), by the SDK itself, and a role, by the keys of a Secret. */
const ASKING: readonly Settings[] = [{}, { credentialsSecretRef: { name: 'aws' }, assumeRole: { roleARN: ROLE } }];

describe('the proxy that the environment names is asked for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aws-web-identity-'));
  const before = { ...process.env };
  let proxy: Server;
  let asked: string[] = [];

  beforeAll(async () => {
    // It knows no host; what it is asked for is all that counts.
    proxy = createServer().on('connect', ({ url = '' }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const token = join(folder, 'token');
    writeFileSync(token, 'a.web.token');
    delete process.env.https_proxy;
    delete process.env.no_proxy;
    delete process.env.NO_PROXY;
    Object.assign(process.env, {
      ...{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_PROFILE: '' },
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: join(folder, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
      AWS_ROLE_ARN: ROLE,
      AWS_WEB_IDENTITY_TOKEN_FILE: token,
    });
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    process.env = before;
    await new Promise((resolve) => proxy.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const HOSTS = [
    ['the usual one', {}, 'ec2.eu-central-1.amazonaws.com', 'elasticloadbalancing.eu-central-1.amazonaws.com'],
    [
      'the one with FIPS',
      { useFIPSEndpoints: true },
      'ec2-fips.eu-central-1.amazonaws.com',
      'elasticloadbalancing-fips.eu-central-1.amazonaws.com',
    ],
    ['the dual-stack one', { useDualStackEndpoints: true }, 'ec2.eu-central-1.api.aws', 'elasticloadbalancing.eu-central-1.api.aws'],
    [
      'the dual-stack one with FIPS',
      { useFIPSEndpoints: true, useDualStackEndpoints: true },
      'ec2-fips.eu-central-1.api.aws',
      'elasticloadbalancing-fips.eu-central-1.api.aws',
    ],
  ] as const;

  test.each(HOSTS)('%s of each API, by the operator’s clients and by those of its workers', async (_what, flags, ec2Host, elbHost) => {
    const account = new AwsAccount(cloudProviderSpec.parse({ aws: { credentialsSecretRef: { name: 'aws' }, ...flags } }).aws!, {
      ...{ clusterID: 'c', providerName: 'aws', region: 'eu-central-1' },
      readSecret: () => Promise.resolve(['AKIDBASE', 'planted']),
    });
    await account.ensure();
    const ofWorker: AwsClientOptions = { settings: parseAwsSettings(account.workerSettings()) };
    for (const options of [account.clientOptions(), ofWorker]) {
      const once = { ...options, budgetMs: 0 };
      const [ec2, elb, classic] = [new Ec2(once), new ElbV2(once), new ClassicElb(once)];
      const calls: [() => Promise<unknown>, string][] = [
        [() => ec2.instances([]), ec2Host],
        [() => elb.loadBalancers({}), elbHost],
        [() => classic.loadBalancers(), elbHost],
      ];
      for (const [call, host] of calls) {
        asked = [];
        await expect(call()).rejects.toThrow();
        expect(asked).toEqual([`${host}:443`]);
      }
      for (const client of [ec2, elb, classic]) client.close();
    }
  });

  test.each([
    ['the usual one', {}, 'sts.eu-central-1.amazonaws.com'],
    ['the one with FIPS', { useFIPSEndpoints: true }, 'sts-fips.eu-central-1.amazonaws.com'],
    ['the dual-stack one', { useDualStackEndpoints: true }, 'sts.eu-central-1.api.aws'],
    ['the dual-stack one with FIPS', { useFIPSEndpoints: true, useDualStackEndpoints: true }, 'sts-fips.eu-central-1.api.aws'],
  ])('%s of the region’s STS, by a search for credentials', async (_what, flags, host) => {
    for (const settings of ASKING) {
      asked = [];
      const account = new AwsAccount(cloudProviderSpec.parse({ aws: { ...settings, ...flags } }).aws!, {
        ...{ clusterID: 'c', providerName: 'aws', region: 'eu-central-1' },
        readSecret: () => Promise.resolve(['AKIDBASE', 'planted']),
      });
      await expect(account.ensure()).rejects.toThrow();
      expect([...new Set(asked)]).toEqual([`${host}:443`]);
    }
  });
});
