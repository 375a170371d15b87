import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudProviderSpec, type CloudProviderSpecInput } from '../../../crds';
import { AwsAccount } from '../../../providers/aws/config/account';
import { parseAwsSettings } from '../../../providers/aws/client/settings';
import type { AwsCredentials } from '../../../providers/aws/client/settings';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';

const ROLE = 'arn:aws:iam::123456789012:role/operator';
const HOUR = 60 * 60_000;

/** What an answer of it is made from: the first part of the access key's id, the second is how many were given before. */
interface Session {
  AccessKeyId: string;
  SecretAccessKey: string;
  Expiration: string;
}

/** The agent of EKS Pod Identity and STS: each answer is another session. */
class CredentialServer extends LoopbackServer {
  readonly asked: { path: string; token?: string; parameters: Record<string, string> }[] = [];
  lastsMs = HOUR;
  private sessions = 0;

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(request)).toString();
    const { url: path = '', headers } = request;
    const token = headers.authorization?.startsWith('AWS4') === true ? undefined : headers.authorization;
    const parameters = Object.fromEntries(new URLSearchParams(body));
    this.asked.push({ path, ...(token !== undefined && { token }), parameters });
    const session = {
      AccessKeyId: `ASIA${String(++this.sessions).padStart(16, '0')}`,
      SecretAccessKey: 'planted-session',
      Expiration: new Date(Date.now() + this.lastsMs).toISOString(),
    };
    const isAgent = request.method === 'GET';
    response.writeHead(200, { 'content-type': isAgent ? 'application/json' : 'text/xml' });
    response.end(isAgent ? JSON.stringify({ ...session, Token: 'agent-token' }) : asXml(session, parameters.Action ?? ''));
  }
}

function asXml(session: Session, action: string): string {
  const fields = Object.entries({ ...session, SessionToken: 'sts-token' }).map(([name, value]) => `<${name}>${value}</${name}>`);
  const result = `<${action}Result><Credentials>${fields.join('')}</Credentials></${action}Result>`;
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</${action}Response>`;
}

/** The SDK's own chain, as the operator's Pod finds it: everything is asked over the loopback. */
describe('credentials of the default chain', () => {
  const before = { ...process.env };
  const server = new CredentialServer();
  let folder: string;
  const fileOf = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  beforeAll(() => server.start());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'aws-chain-'));
    server.asked.length = 0;
    server.lastsMs = HOUR;
    for (const name of Object.keys(process.env)) if (/^AWS_|_proxy$/i.test(name)) delete process.env[name];
    Object.assign(process.env, {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: join(folder, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    });
  });
  afterEach(() => {
    Object.assign(process.env, before);
    rmSync(folder, { recursive: true });
  });
  afterAll(() => server.stop());

  function accountOf(aws: CloudProviderSpecInput['aws'] = {}): AwsAccount {
    return new AwsAccount(cloudProviderSpec.parse({ aws }).aws!, {
      ...{ clusterID: 'c', providerName: 'aws', region: 'eu-central-1' },
      readSecret: () => Promise.reject(new Error('no secrets')),
    });
  }

  /** What an update's worker gets. */
  async function found(account: AwsAccount): Promise<AwsCredentials | undefined> {
    await account.ensure();
    return parseAwsSettings(account.workerSettings()).credentials;
  }

  test('EKS Pod Identity: asked of the Pod’s agent, with the token of today, and asked again before they end during an update', async () => {
    const token = fileOf('token', 'first');
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `${server.url}/v1/credentials`;
    process.env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE = token;
    const account = accountOf();
    const first = await found(account);
    expect(first).toMatchObject({ secretAccessKey: 'planted-session', sessionToken: 'agent-token' });
    expect(await found(account)).toEqual(first);
    expect(server.asked).toEqual([{ path: '/v1/credentials', token: 'first', parameters: {} }]);

    server.lastsMs = 10 * 60_000;
    const short = accountOf();
    await found(short);
    fileOf('token', 'second');
    await found(short);
    expect(server.asked.at(-1)?.token).toBe('second');
  });

  test('IRSA: a web identity is shown to STS for the role', async () => {
    process.env.AWS_ENDPOINT_URL_STS = server.url;
    process.env.AWS_ROLE_ARN = ROLE;
    process.env.AWS_WEB_IDENTITY_TOKEN_FILE = fileOf('token', 'a.web.token');
    expect(await found(accountOf())).toMatchObject({ secretAccessKey: 'planted-session', sessionToken: 'sts-token' });
    expect(server.asked.map(({ parameters }) => parameters)).toEqual([
      expect.objectContaining({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, WebIdentityToken: 'a.web.token' }),
    ]);
  });

  test('a profile: keys of a file, or a role for those of another profile', async () => {
    process.env.AWS_ENDPOINT_URL_STS = server.url;
    process.env.AWS_SHARED_CREDENTIALS_FILE = fileOf(
      'credentials',
      '[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = planted\n[prod]\naws_access_key_id = AKIDPROD\naws_secret_access_key = planted\n',
    );
    process.env.AWS_CONFIG_FILE = fileOf('config', `[profile edge]\nrole_arn = ${ROLE}\nsource_profile = prod\n`);
    expect(await found(accountOf())).toMatchObject({ accessKeyId: 'AKIDDEFAULT' });
    expect(await found(accountOf({ profile: 'prod' }))).toMatchObject({ accessKeyId: 'AKIDPROD' });
    expect(server.asked).toEqual([]);
    expect(await found(accountOf({ profile: 'edge' }))).toMatchObject({ sessionToken: 'sts-token' });
    expect(server.asked.map(({ parameters }) => parameters)).toEqual([expect.objectContaining({ Action: 'AssumeRole', RoleArn: ROLE })]);
  });

  test('a role on top of them is asked of the STS that the CloudProvider names, with the external id', async () => {
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `${server.url}/v1/credentials`;
    const endpoints = [{ service: 'STS' as const, url: server.url }];
    const account = accountOf({ endpoints, assumeRole: { roleARN: ROLE, externalID: 'ours' } });
    expect(await found(account)).toMatchObject({ sessionToken: 'sts-token' });
    expect(server.asked.map(({ path, parameters }) => [path, parameters.Action])).toEqual([
      ['/v1/credentials', undefined],
      ['/', 'AssumeRole'],
    ]);
    expect(server.asked[1]?.parameters).toMatchObject({ RoleArn: ROLE, ExternalId: 'ours' });
  });
});
