import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../../operator/base/errors';
import { compiled } from '../../../operator/entry';
import { selfSigned } from '../../../operator/server/self-signed';
import type { Clock } from '../../../operator/base/clock';
import type { CallOutcome } from '../../../providers/call-gate';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import type { AwsClientOptions } from '../../../providers/aws/client/aws-client';
import type { CallOptions } from '../../../providers/client-options';
import { failure, instancesPage, ScriptedAws } from './scripted-aws';

/** Time that passes by waiting alone. */
class WaitingClock implements Clock {
  waits: number[] = [];
  private time = 0;
  now = (): number => this.time;
  monotonic = (): number => this.time;
  after(ms: number, run: () => void): () => void {
    this.waits.push(ms);
    this.time += ms;
    queueMicrotask(run);
    return () => undefined;
  }
}

const NEW_GROUP = { GroupName: 'web', Description: 'd', VpcId: 'vpc-1' };

describe('calls to AWS', () => {
  const aws = new ScriptedAws();
  let clock: WaitingClock;
  let outcomes: CallOutcome[];
  let counted: string[];
  const opened: { close(): void }[] = [];

  beforeAll(() => aws.start());
  beforeEach(() => {
    aws.calls.length = 0;
    [clock, outcomes, counted] = [new WaitingClock(), [], []];
  });
  afterEach(() => opened.splice(0).forEach((client) => client.close()));
  afterAll(() => aws.stop());

  function options(more: Partial<AwsClientOptions> = {}): AwsClientOptions {
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'planted-secret' };
    return {
      settings: { region: 'eu-central-1', endpoints: { EC2: aws.url, ElasticLoadBalancingV2: aws.url }, credentials },
      clock,
      random: () => 0.5,
      onCall: (verb) => counted.push(verb),
      calls: { acquire: () => Promise.resolve((outcome) => void outcomes.push(outcome)) },
      ...more,
    };
  }

  function ec2(more: Partial<AwsClientOptions> = {}): Ec2 {
    const client = new Ec2(options(more));
    opened.push(client);
    return client;
  }

  async function failed(work: Promise<unknown>): Promise<OperatorError> {
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(OperatorError);
    return thrown as OperatorError;
  }

  test('all pages are read, each is a call that is counted and settled; a page that fails fails the list', async () => {
    aws.answer = ({ parameters }) =>
      parameters.get('NextToken') === null
        ? { ...instancesPage(['i-1'], 'more'), headers: { 'x-amzn-requestid': 'first' } }
        : instancesPage(['i-2', 'i-3']);
    const found = await ec2().instances([]);
    expect(found.map(({ InstanceId }) => InstanceId)).toEqual(['i-1', 'i-2', 'i-3']);
    expect(counted).toEqual(['list', 'list']);
    expect(outcomes).toEqual([{ kind: 'Answered', requestID: 'first' }, { kind: 'Answered' }]);
    aws.answer = ({ parameters }) =>
      parameters.get('NextToken') === null
        ? instancesPage(['i-1'], 'more')
        : failure('InvalidNextToken', 400, 'told so', { 'x-amzn-requestid': 'refused' });
    expect(await failed(ec2().instances([]))).toMatchObject({ code: 'Invalid' });
    expect(outcomes.at(-1)).toMatchObject({ requestID: 'refused' });
  });

  test('what is throttled is tried again, each time through the account’s limits, and waits as long as AWS says', async () => {
    aws.answer = (_call, number) =>
      number < 3 ? failure('RequestLimitExceeded', 503, 'slow down', { 'retry-after': '4' }) : instancesPage(['i-1']);
    await ec2().instances([]);
    expect(aws.calls).toHaveLength(3);
    expect(clock.waits).toEqual([4000, 4000]);
    expect(outcomes).toEqual([{ kind: 'Throttled', retryAfterMs: 4000 }, { kind: 'Throttled', retryAfterMs: 4000 }, { kind: 'Answered' }]);
  });

  test('the tries end with the budget, and the last error says the class', async () => {
    aws.answer = () => failure('RequestLimitExceeded', 503);
    expect(await failed(ec2({ budgetMs: 1000 }).instances([]))).toMatchObject({ code: 'Throttled' });
    expect(clock.monotonic()).toBeLessThanOrEqual(1000);
    expect(aws.calls.length).toBeGreaterThan(1);
  });

  test('a lost answer to a read or a delete is tried again; one to a create is not, since it may have made something', async () => {
    aws.answer = (_call, number) => (number === 1 ? 'cut' : instancesPage(['i-1']));
    await ec2().instances([]);
    expect(aws.calls).toHaveLength(2);
    expect(outcomes[0]).toEqual({ kind: 'Unanswered' });
    aws.calls.length = 0;
    aws.answer = () => 'cut';
    expect(await failed(ec2().createSecurityGroup(NEW_GROUP, {}))).toMatchObject({ code: 'Transient' });
    expect(aws.calls.map(({ action }) => action)).toEqual(['CreateSecurityGroup']);
  });

  test('a write asks for its right last, behind the search for credentials, and again at each try', async () => {
    const order: string[] = [];
    const { credentials, ...settings } = options().settings;
    const client = ec2({
      settings,
      credentials: () => {
        order.push('credentials');
        return Promise.resolve(credentials!);
      },
    });
    const mayWrite: CallOptions = { assertValid: () => void order.push(`asked with ${aws.calls.length} calls sent`) };
    aws.answer = (_call, number) => (number === 1 ? failure('Throttling', 400) : failure('DependencyViolation', 400));
    expect(await failed(client.deleteSecurityGroup('sg-1', mayWrite))).toMatchObject({ code: 'Conflict' });
    expect(order.filter((step) => step !== 'credentials')).toEqual(['asked with 0 calls sent', 'asked with 1 calls sent']);
    expect(order[0]).toBe('credentials');
  });

  test('without the right nothing is sent, counted or held against the account; reads need none', async () => {
    const lost: CallOptions = {
      assertValid: () => {
        throw new OperatorError('Canceled', 'the lease is gone');
      },
    };
    aws.answer = () => instancesPage([]);
    expect(await failed(ec2().createSecurityGroup(NEW_GROUP, lost))).toMatchObject({ code: 'Canceled', message: 'the lease is gone' });
    expect([aws.calls, counted]).toEqual([[], []]);
    expect(outcomes).toEqual([{ kind: 'Unanswered' }]);
    await ec2().instances([], lost);
    expect(counted).toEqual(['list']);
  });

  test('refused credentials are told to the account; a missing permission is not, and no secret is in the words', async () => {
    aws.answer = () => failure('AuthFailure', 401, 'AWS was not able to validate the provided access credentials');
    const refused = await failed(ec2().instances([]));
    expect(refused).toMatchObject({ code: 'Credentials' });
    aws.answer = () => failure('UnauthorizedOperation', 403, 'You are not authorized to perform this operation.');
    const denied = await failed(ec2().instances([]));
    expect(denied.message).toContain('"Action": "ec2:DescribeInstances"');
    expect(outcomes).toEqual([{ kind: 'Refused', message: refused.message }, { kind: 'Answered' }]);
    expect(refused.message + denied.message).not.toContain('planted-secret');
  });

  test('a call that is stopped is Canceled', async () => {
    const controller = new AbortController();
    aws.answer = () => {
      controller.abort();
      return 'cut';
    };
    expect(await failed(ec2().instances([], { signal: controller.signal }))).toMatchObject({ code: 'Canceled' });
  });

  test('errors of the load balancers’ API have their class and action too', async () => {
    const elb = new ElbV2(options());
    opened.push(elb);
    aws.answer = () => failure('TooManyLoadBalancers', 400, 'The quota has been reached');
    const error = await failed(elb.createLoadBalancer({ Name: 'web' }, {}));
    expect(error).toMatchObject({ code: 'Quota', awsCode: 'TooManyLoadBalancers' });
    expect(error.message).toContain('elasticloadbalancing:CreateLoadBalancer');
  });

  test('requests are signed for the region and service that the endpoint asks for, else for their own', async () => {
    aws.answer = () => instancesPage([]);
    const { settings } = options();
    const signedBy = async (signing: AwsClientOptions['settings']['signing']): Promise<string | undefined> => {
      await ec2({ settings: { ...settings, ...(signing !== undefined && { signing }) } }).instances([]);
      return aws.calls.at(-1)?.scope;
    };
    expect(await signedBy(undefined)).toBe('eu-central-1/ec2');
    expect(await signedBy({ EC2: { region: 'eu-west-1' } })).toBe('eu-west-1/ec2');
    expect(await signedBy({ EC2: { region: 'x-1', name: 'compute' } })).toBe('x-1/compute');
    expect(await signedBy({ ElasticLoadBalancingV2: { region: 'x-1' } })).toBe('eu-central-1/ec2');
  });

  test('what answers with a certificate of an authority that NODE_EXTRA_CA_CERTS names is spoken to; without that it is not', async () => {
    const { cert, key } = selfSigned(['localhost'], Date.now());
    const { status, body } = instancesPage(['i-0a']);
    const server = createServer({ cert, key }, (request, response) => {
      request.resume().on('end', () => response.writeHead(status, { 'content-type': 'text/xml' }).end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    const folder = mkdtempSync(join(tmpdir(), 'aws-authority-'));
    const authority = join(folder, 'ca.pem');
    writeFileSync(authority, cert);
    const script = `
      const { Ec2 } = require(${JSON.stringify(compiled('providers/aws/client/ec2'))});
      const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'planted-secret' };
      const ec2 = new Ec2({ settings: { region: 'eu-central-1', endpoints: { EC2: process.argv[1] }, credentials }, budgetMs: 0 });
      const told = ec2.instances([]).then((all) => all.map(({ InstanceId }) => InstanceId).join(), ({ message }) => message);
      told.then((text) => process.stdout.write(text)).finally(() => ec2.close());
    `;
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const said = async (environment: Record<string, string>): Promise<string> => {
      const env = { PATH: process.env.PATH, ...environment };
      return (await promisify(execFile)(process.execPath, ['-e', script, url], { env })).stdout;
    };
    const [known, unknown] = await Promise.all([said({ NODE_EXTRA_CA_CERTS: authority }), said({})]);
    expect(known).toBe('i-0a');
    expect(unknown).toMatch(/ec2:DescribeInstances.*certificate/);
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });
});
