import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assumeRole } from '../../../providers/aws/config/assume-role';

const ROLE = 'arn:aws:iam::123456789012:role/operator';
const BASE = { accessKeyId: 'AKIDBASE', secretAccessKey: 'planted-base-secret' };
const GIVEN = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role+secret</SecretAccessKey>
  <SessionToken>a&amp;b==</SessionToken><Expiration>2026-01-01T01:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
const REFUSED = `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`;

describe('assuming a role', () => {
  let server: Server;
  let endpoint: string;
  let answer: { status: number; text: string };
  let asked: { headers: IncomingHttpHeaders; parameters: Record<string, string> } | undefined;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked = { headers: request.headers, parameters: Object.fromEntries(new URLSearchParams(body)) };
        response.writeHead(answer.status).end(answer.text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const assume = (role: object = {}): ReturnType<typeof assumeRole> =>
    assumeRole({ role: { roleARN: ROLE, ...role }, region: 'eu-central-1', signing: { region: 'eu-west-1', name: 'sts' }, endpoint }, () =>
      Promise.resolve(BASE),
    );

  test('asks STS with the base credentials, and gives what it answers', async () => {
    answer = { status: 200, text: GIVEN };
    await expect(assume({ externalID: 'ours&theirs', sourceARN: 'arn:aws:eks:eu-central-1:210987654321:cluster/prod' })).resolves.toEqual({
      accessKeyId: 'ASIAROLE',
      secretAccessKey: 'role+secret',
      sessionToken: 'a&b==',
      expiration: new Date('2026-01-01T01:00:00Z'),
    });
    expect(asked?.parameters).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: ROLE,
      RoleSessionName: 'cloud-operator',
      ExternalId: 'ours&theirs',
    });
    expect(asked?.headers).toMatchObject({
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIDBASE\/\d{8}\/eu-west-1\/sts\/aws4_request/) as string,
      'x-amz-source-arn': 'arn:aws:eks:eu-central-1:210987654321:cluster/prod',
      'x-amz-source-account': '210987654321',
    });
  });

  test('a refusal is one of credentials, in AWS’s words, with the line to add, and without a secret', async () => {
    answer = { status: 403, text: REFUSED };
    const error = (await assume().catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({
      code: 'Credentials',
      message: expect.stringMatching(/not authorized to perform: sts:AssumeRole.*"Action": "sts:AssumeRole"/) as string,
    });
    expect(`${error.message} ${error.stack}`).not.toContain('planted');
  });

  test.each([
    ['no credentials', { status: 200, text: '<html/>' }],
    ['no answer of AWS’s', { status: 502, text: 'bad gateway' }],
  ])('an answer with %s is tried again', async (_what, given) => {
    answer = given;
    await expect(assume()).rejects.toMatchObject({ code: 'Transient' });
  });
});
