import { type ErrorCode, OperatorError, toOperatorError } from '../../../base/errors';

/** As IAM policies write it. */
export type KmsAction = 'kms:GenerateDataKey' | 'kms:Decrypt';

export interface KmsCall {
  action: KmsAction;
  /** The key's name in that call. */
  key: string;
  /** The key as people gave it. */
  url: string;
}

interface Meaning {
  code: ErrorCode;
  /** Default `StateKeyUnavailable`. */
  reason?: string;
  words: string;
  remedy: (call: KmsCall) => string;
}

const ALLOW: Meaning = {
  code: 'Credentials',
  words: 'it is not allowed',
  remedy: ({ key }) => `allow the operator kms:GenerateDataKey and kms:Decrypt on ${key} (docs/operate/state.md has the policy)`,
};
const SIGN_IN: Meaning = {
  code: 'Credentials',
  words: 'there are no AWS credentials, or AWS refuses them',
  remedy: () => 'give the operator’s Pod an IAM role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
};
const WAIT: Meaning = {
  code: 'Transient',
  words: 'AWS KMS can’t be reached, or is not well',
  remedy: () => 'it is tried again; if it lasts, check the way to the KMS endpoint of the region',
};
const WRONG_KEY: Meaning = {
  code: 'Invalid',
  reason: 'WrongKey',
  words: 'what is stored was changed, or was not wrapped by this key for this cluster',
  remedy: () => 'restore the data keys that belong to this state from a backup',
};
const THROTTLED: Meaning = { code: 'Throttled', words: 'AWS KMS says that it is asked too often', remedy: () => 'it is tried again' };

const NO_REGION: Meaning = {
  code: 'Invalid',
  words: 'no region is given',
  remedy: ({ url }) => `write ${url}?region=REGION, or set AWS_REGION`,
};

/** By the name of the exception, from the KMS API's reference ("Errors" of Decrypt and GenerateDataKey, and its common errors). */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  AccessDeniedException: ALLOW,
  UnrecognizedClientException: SIGN_IN,
  InvalidClientTokenId: SIGN_IN,
  InvalidSignatureException: SIGN_IN,
  IncompleteSignature: SIGN_IN,
  MissingAuthenticationToken: SIGN_IN,
  ExpiredTokenException: SIGN_IN,
  OptInRequired: SIGN_IN,
  CredentialsProviderError: SIGN_IN,
  TokenProviderError: SIGN_IN,
  DisabledException: {
    code: 'Credentials',
    words: 'the key is disabled',
    remedy: ({ key }) => `enable it: aws kms enable-key --key-id ${key}`,
  },
  KMSInvalidStateException: {
    code: 'Credentials',
    words: 'the key can’t be used in its present state; it may be pending deletion',
    remedy: ({ key }) => `look at it: aws kms describe-key --key-id ${key}; cancel-key-deletion and enable-key bring it back`,
  },
  NotFoundException: {
    code: 'Credentials',
    words: 'there is no such key',
    remedy: () =>
      'check name, account and region; a key that was deleted can’t be brought back, and stacks are rebuilt from the cloud once their state is deleted',
  },
  InvalidKeyUsageException: {
    code: 'Invalid',
    words: 'it is no symmetric key for encryption',
    remedy: () => 'name a key of type SYMMETRIC_DEFAULT, for ENCRYPT_DECRYPT',
  },
  InvalidCiphertextException: WRONG_KEY,
  IncorrectKeyException: WRONG_KEY,
  ThrottlingException: THROTTLED,
  LimitExceededException: THROTTLED,
  KeyUnavailableException: WAIT,
  DependencyTimeoutException: WAIT,
  KMSInternalException: WAIT,
  TimeoutError: WAIT,
};

/** The one line about a failed call: action, key, what is wrong, what to do. Pure. */
export function awsKmsFailure(thrown: unknown, call: KmsCall): OperatorError {
  const { name, message = '', $metadata } = (thrown ?? {}) as Partial<Error> & { $metadata?: { httpStatusCode?: number } };
  const {
    code,
    reason = 'StateKeyUnavailable',
    words,
    remedy,
  } = MEANINGS[name ?? ''] ?? otherMeaning(thrown, message, $metadata?.httpStatusCode);
  // What answers with a status and no error of AWS is something else than AWS.
  const kind = name === 'Unknown' && $metadata?.httpStatusCode !== undefined ? `HTTP status ${$metadata.httpStatusCode}` : name;
  const told = [kind, message.split('\n')[0]?.slice(0, 300)].filter(Boolean).join(': ');
  const named = call.url.includes(call.key) ? call.url : `${call.key} (${call.url})`;
  return new OperatorError(code, `${call.action} with the key of the state, ${named}: ${words} (${told})`, {
    reason,
    remedy: remedy(call),
    cause: thrown,
  });
}

function otherMeaning(thrown: unknown, message: string, status = 0): Meaning {
  if (/region is missing/i.test(message)) return NO_REGION;
  if (status >= 500 || toOperatorError(thrown).code === 'Transient') return WAIT;
  return { code: 'Unknown', words: 'it failed', remedy: () => 'the message is the AWS SDK’s' };
}
