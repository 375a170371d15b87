import { AWSKMS } from '../../../operator/updates/state/secrets-provider/awskms';
import { awsKmsFailure } from '../../../operator/updates/state/secrets-provider/awskms-failure';
import { keyEncryptionKey } from '../../../operator/updates/state/secrets-provider/registry';

describe('--secrets-provider', () => {
  test.each([
    'awskms://alias/cloud-operator?region=eu-central-1',
    'awskms://alias/cloud-operator',
    'awskms://1234abcd-12ab-34cd-56ef-1234567890ab?region=us-gov-west-1',
    'awskms://mrk-1234abcd12ab34cd56ef1234567890ab',
    'awskms:///arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    'awskms:///arn:aws-cn:kms:cn-north-1:111122223333:alias/some/name?region=cn-north-1',
  ])('takes %s', (url) => {
    expect(keyEncryptionKey(url)?.url).toBe(url);
  });

  test('takes default: no KMS', () => {
    expect(keyEncryptionKey('default')).toBeUndefined();
  });

  test.each(['', 'gcpkms://projects/p/locations/l', 'hashivault://key', 'alias/cloud-operator', 'AWSKMS://alias/a', 'awskms:alias/a'])(
    'refuses %j, and names what is known',
    (url) => {
      expect(() => keyEncryptionKey(url)).toThrow(
        matching({ code: 'Invalid', message: `secrets provider "${url}" is unknown`, remedy: `known are default, ${AWSKMS.syntax}` }),
      );
    },
  );

  test.each([
    ['awskms://', '"" is no alias, key id or ARN'],
    ['awskms://alias/', '"alias/" is no alias'],
    ['awskms://a b', '"a b" is no alias'],
    ['awskms:///arn:aws:s3:::bucket', 'is no alias, key id or ARN'],
    ['awskms:///arn:aws:kms:us-east-1:1:key/x', 'is no alias, key id or ARN'],
    ['awskms://alias/a?regoin=eu-central-1', 'parameter "regoin" is unknown; "region" is known'],
    ['awskms://alias/a?region=', '"" is no region'],
    ['awskms://alias/a?region=evil.example', '"evil.example" is no region'],
  ])('refuses %s', (url, why) => {
    expect(() => keyEncryptionKey(url)).toThrow(
      matching({ code: 'Invalid', message: expect.stringContaining(why) as string, remedy: `write ${AWSKMS.syntax}` }),
    );
  });
});

describe('a failure of AWS KMS', () => {
  const call = { action: 'kms:Decrypt', key: 'arn:aws:kms:eu-central-1:1:key/k', url: 'awskms://alias/a' } as const;
  const failure = (name: string, message = 'told', more: object = {}) =>
    awsKmsFailure(Object.assign(new Error(message), { name, ...more }), call);

  const unavailable = 'StateKeyUnavailable';

  test.each([
    [
      'AccessDeniedException',
      'Credentials',
      unavailable,
      ['it is not allowed', 'allow the operator kms:GenerateDataKey and kms:Decrypt on arn:'],
    ],
    ['DisabledException', 'Credentials', unavailable, ['the key is disabled', 'aws kms enable-key --key-id arn:']],
    ['KMSInvalidStateException', 'Credentials', unavailable, ['pending deletion', 'aws kms describe-key --key-id arn:']],
    ['NotFoundException', 'Credentials', unavailable, ['there is no such key', 'check name, account and region']],
    ['UnrecognizedClientException', 'Credentials', unavailable, ['no AWS credentials', 'an IAM role']],
    ['ExpiredTokenException', 'Credentials', unavailable, ['no AWS credentials', 'an IAM role']],
    ['CredentialsProviderError', 'Credentials', unavailable, ['no AWS credentials', 'an IAM role']],
    ['InvalidKeyUsageException', 'Invalid', unavailable, ['no symmetric key', 'SYMMETRIC_DEFAULT']],
    ['InvalidCiphertextException', 'Invalid', 'WrongKey', ['was not wrapped by this key for this cluster', 'restore the data keys']],
    ['IncorrectKeyException', 'Invalid', 'WrongKey', ['was not wrapped by this key for this cluster', 'restore the data keys']],
    ['ThrottlingException', 'Throttled', unavailable, ['asked too often', 'tried again']],
    ['KeyUnavailableException', 'Transient', unavailable, ['can’t be reached', 'tried again']],
    ['TimeoutError', 'Transient', unavailable, ['can’t be reached', 'tried again']],
  ])('%s is %s, %s', (name, code, reason, [words = '', remedy = '']) => {
    expect(failure(name)).toMatchObject({ code, reason, remedy: expect.stringContaining(remedy) as string });
    expect(failure(name).message).toMatch(
      /^kms:Decrypt with the key of the state, arn:aws:kms:eu-central-1:1:key\/k \(awskms:\/\/alias\/a\): /,
    );
    expect(failure(name).message).toContain(words);
    expect(failure(name).message).toContain(`(${name}: told)`);
  });

  test('of the network, of a broken server and of no server of AWS', () => {
    expect(failure('Error', 'connect', { code: 'ECONNREFUSED' }).code).toBe('Transient');
    expect(failure('InternalFailure', 'sorry', { $metadata: { httpStatusCode: 500 } }).code).toBe('Transient');
    expect(failure('Unknown', 'UnknownError', { $metadata: { httpStatusCode: 404 } })).toMatchObject({
      code: 'Unknown',
      message: expect.stringContaining('(HTTP status 404: UnknownError)') as string,
    });
  });

  test('without a region says how to give one', () => {
    expect(failure('Error', 'Region is missing')).toMatchObject({
      code: 'Invalid',
      remedy: 'write awskms://alias/a?region=REGION, or set AWS_REGION',
    });
  });

  test('is one line, however much AWS says', () => {
    expect(failure('AccessDeniedException', `User: arn\n${'x'.repeat(1000)}`).message).not.toContain('\n');
  });
});

/** For toThrow, whose types know no matcher. */
function matching(fields: object): Error {
  const matcher: unknown = expect.objectContaining(fields);
  return matcher as Error;
}
