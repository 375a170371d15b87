import { OperatorError } from '../../../operator/base/errors';
import { AwsError, awsFailure, classOfAwsCode, refusesCredentials } from '../../../providers/aws/client/aws-error';

const CALL = { action: 'elasticloadbalancing:CreateLoadBalancer' };

function thrownBySdk(name: string, status: number | undefined, message = 'told so', headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), {
    name,
    $metadata: status === undefined ? {} : { httpStatusCode: status },
    $response: { headers },
  });
}

describe('errors of AWS', () => {
  test.each([
    ['Throttling', 'Throttled'],
    ['RequestLimitExceeded', 'Throttled'],
    ['AuthFailure', 'Credentials'],
    ['ExpiredToken', 'Credentials'],
    ['UnauthorizedOperation', 'Credentials'],
    ['AccessDenied', 'Credentials'],
    ['TooManyLoadBalancers', 'Quota'],
    ['RulesPerSecurityGroupLimitExceeded', 'Quota'],
    ['DuplicateLoadBalancerName', 'Conflict'],
    ['InvalidPermission.Duplicate', 'Conflict'],
    ['DependencyViolation', 'Conflict'],
    ['LoadBalancerNotFound', 'NotFound'],
    ['InvalidGroup.NotFound', 'NotFound'],
    ['SubnetNotFound', 'Invalid'],
    ['CertificateNotFound', 'Invalid'],
    ['ServiceUnavailable', 'Transient'],
    ['ValidationError', undefined],
  ])('%s is %s', (awsCode, code) => {
    expect(classOfAwsCode(awsCode)).toBe(code);
  });

  test.each([
    ['ValidationError', 400, 'Invalid'],
    ['SomethingNew', 500, 'Transient'],
    ['TimeoutError', undefined, 'Transient'],
    ['Unknown', 503, 'Transient'],
    ['Unknown', 429, 'Throttled'],
  ])('%s with HTTP status %s is %s', (name, status, code) => {
    expect(awsFailure(thrownBySdk(name, status), CALL)).toMatchObject({ code, awsCode: name });
  });

  test('the SDK’s names of exceptions are read as the API’s codes', () => {
    const error = awsFailure(thrownBySdk('DuplicateLoadBalancerNameException', 400), CALL);
    expect(error).toMatchObject({ code: 'Conflict', awsCode: 'DuplicateLoadBalancerName' });
  });

  test('a missing permission names the action and the line to add, and says nothing against the credentials', () => {
    const error = awsFailure(thrownBySdk('AccessDenied', 403, 'User: arn:aws:iam::1:user/x is not authorized'), CALL);
    expect(error.message).toContain('{"Effect": "Allow", "Action": "elasticloadbalancing:CreateLoadBalancer", "Resource": "*"}');
    expect(error.message).toContain('User: arn:aws:iam::1:user/x is not authorized');
    expect(refusesCredentials(error)).toBe(false);
  });

  test.each([
    ['SubnetNotFound', 'The specified subnet does not exist. Correct spec.aws.subnets, or spec.aws.subnetIDs of the CloudProvider'],
    ['CertificateNotFound', 'The specified certificate does not exist. Correct spec.aws.tls.certificateARNs'],
    ['InvalidPrefixListID.NotFound', 'The prefix list ID does not exist. Correct spec.aws.securityGroups.prefixListIDs'],
  ])('%s, which only a spec names, tells the field to correct', (name, words) => {
    const [message = ''] = /^.*?\./.exec(words) ?? [];
    expect(awsFailure(thrownBySdk(name, 400, message), CALL).message).toBe(`AWS, ${CALL.action}: ${name}: ${words}`);
  });

  test('a permission that a call needs beside its own is the one to add', () => {
    const message =
      'User: arn:aws:iam::1:user/x is not authorized to perform: iam:CreateServiceLinkedRole on resource: arn:aws:iam::1:role/y';
    const error = awsFailure(thrownBySdk('AccessDenied', 403, message), CALL);
    expect(error.message).toMatch(/^AWS, elasticloadbalancing:CreateLoadBalancer: .*"Action": "iam:CreateServiceLinkedRole"/);
  });

  test('credentials that are refused or absent are told apart from a missing permission', () => {
    for (const name of ['ExpiredToken', 'InvalidClientTokenId', 'CredentialsProviderError']) {
      const error = awsFailure(thrownBySdk(name, name === 'CredentialsProviderError' ? undefined : 403), CALL);
      expect(error.code).toBe('Credentials');
      expect(refusesCredentials(error)).toBe(true);
    }
  });

  test('Retry-After arrives in milliseconds', () => {
    expect(awsFailure(thrownBySdk('Throttling', 400, 'slow down', { 'retry-after': '3' }), CALL)).toMatchObject({ retryAfterMs: 3000 });
  });

  test('a connection that fails is Transient and names the endpoint; a stop of ours is Canceled; an error of ours stays itself', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', $metadata: {} });
    const error = awsFailure(refused, { ...CALL, endpoint: 'http://127.0.0.1:1' });
    expect(error).toMatchObject({ code: 'Transient' });
    expect(error.message).toContain('http://127.0.0.1:1');
    expect(awsFailure(Object.assign(new Error('aborted'), { name: 'AbortError' }), CALL)).toMatchObject({ code: 'Canceled' });
    const ours = new OperatorError('Canceled', 'the lease is gone');
    expect(awsFailure(ours, CALL)).toBe(ours);
  });

  test('what answers with a status and no error of AWS is told by its status', () => {
    const error = awsFailure(thrownBySdk('Unknown', 502, '<html>bad gateway'), CALL);
    expect(error).toBeInstanceOf(AwsError);
    expect(error.message).toContain('HTTP status 502');
  });
});
