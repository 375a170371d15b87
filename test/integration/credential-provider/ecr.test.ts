import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';
import { runPlugin } from './plugin';

const HOST = '123456789012.dkr.ecr.eu-central-1.amazonaws.com';
const IMAGE = `${HOST}/team/web@sha256:0`;
const TWELVE_HOURS = 43_200;

/** ECR, public ECR and STS, as far as they make out tokens. */
class Registries extends LoopbackServer {
  readonly calls: { target: string; scope: string; role?: string | null }[] = [];
  /** What calls are refused with, in their order. */
  readonly refusals: { status: number; __type: string; message: string }[] = [];

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(request)).toString();
    const target = (request.headers['x-amz-target'] as string | undefined) ?? '';
    const scope = /Credential=([^,]+)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const refusal = this.refusals.shift();
    if (target === '') return this.assume(new URLSearchParams(body), response);
    this.calls.push({ target, scope });
    const data = {
      authorizationToken: Buffer.from('AWS:of the registry').toString('base64'),
      expiresAt: Date.now() / 1000 + TWELVE_HOURS,
    };
    response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(refusal ?? { authorizationData: target.startsWith('Spencer') ? data : [data] }));
  }

  private assume(form: URLSearchParams, response: ServerResponse): void {
    this.calls.push({ target: form.get('Action') ?? '', scope: form.get('WebIdentityToken') ?? '', role: form.get('RoleArn') });
    const credentials = '<AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>';
    response.end(`<AssumeRoleWithWebIdentityResponse><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResponse>`);
  }
}

describe('credential-provider ecr', () => {
  let registries: Registries;
  let environment: Record<string, string>;

  beforeEach(async () => {
    registries = new Registries();
    await registries.start();
    environment = {
      AWS_ENDPOINT_URL: registries.url,
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
  });

  afterEach(() => registries.stop());

  test('a private registry: signed for the region in its name, kept for half of the time that it holds', async () => {
    const { stdout, stderr, status } = await runPlugin(['ecr'], { image: IMAGE }, environment);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const answer = JSON.parse(stdout) as { cacheDuration: string };
    expect(answer).toMatchObject({
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      cacheKeyType: 'Registry',
      auth: { [HOST]: { username: 'AWS', password: 'of the registry' } },
    });
    expect(answer.cacheDuration).toMatch(/^5h59m/);
    expect(registries.calls).toEqual([
      {
        target: 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
        scope: expect.stringMatching(/^AKIA\/\d{8}\/eu-central-1\/ecr\/aws4_request$/) as string,
      },
    ]);
  });

  test('public registries have an API of their own', async () => {
    const { stdout } = await runPlugin(['ecr'], { image: 'public.ecr.aws/docker/library/nginx:1' }, environment);
    expect(JSON.parse(stdout)).toMatchObject({ auth: { 'public.ecr.aws': { username: 'AWS' } } });
    expect(registries.calls).toMatchObject([
      { target: 'SpencerFrontendService.GetAuthorizationToken', scope: expect.stringContaining('/us-east-1/ecr-public/') as string },
    ]);
  });

  test('a ServiceAccount’s token and role go before the machine’s', async () => {
    const serviceAccountAnnotations = { 'eks.amazonaws.com/ecr-role-arn': 'arn:aws:iam::1:role/team' };
    const asked = { image: IMAGE, serviceAccountToken: 'jwt', serviceAccountAnnotations };
    expect((await runPlugin(['ecr'], asked, environment)).status).toBe(0);
    expect(registries.calls).toMatchObject([
      { target: 'AssumeRoleWithWebIdentity', scope: 'jwt', role: 'arn:aws:iam::1:role/team' },
      { scope: expect.stringMatching(/^ASIA\//) as string },
    ]);
    registries.calls.length = 0;
    await runPlugin(['ecr'], { image: IMAGE, serviceAccountToken: 'jwt' }, environment);
    expect(registries.calls).toMatchObject([{ scope: expect.stringMatching(/^AKIA\//) as string }]);
  });

  test('an image of another registry costs no call', async () => {
    const { stdout } = await runPlugin(['ecr'], { image: 'docker.io/library/nginx' }, environment);
    expect(JSON.parse(stdout)).toMatchObject({ auth: {} });
    expect(registries.calls).toEqual([]);
  });

  test('an outage is waited out', async () => {
    registries.refusals.push({ status: 500, __type: 'ServerException', message: 'later' });
    expect((await runPlugin(['ecr'], { image: IMAGE }, environment)).status).toBe(0);
    expect(registries.calls).toHaveLength(2);
  });

  test('what AWS refuses is told on standard error, with what to do, and nothing on standard output', async () => {
    registries.refusals.push({ status: 400, __type: 'AccessDeniedException', message: 'not authorized' });
    const { stdout, stderr, status } = await runPlugin(['ecr'], { image: IMAGE }, environment);
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toMatch(
      /^cloud-operator: AWS, ecr:GetAuthorizationToken: AccessDenied: not authorized\. Add to the machine's IAM policy: .*"ecr:GetAuthorizationToken"/,
    );
    expect(stderr).not.toContain('AWS_SECRET');
  });
});
