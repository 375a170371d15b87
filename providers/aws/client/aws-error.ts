import { codeOfHttpStatus, OperatorError, toOperatorError, type ErrorCode, type ErrorDetail } from '../../../operator/base/errors';

/** A refusal of an AWS API, with AWS's own code beside the class. */
export class AwsError extends OperatorError {
  constructor(
    code: ErrorCode,
    message: string,
    /** As the APIs' references have it, for example `DuplicateLoadBalancerName`. */
    readonly awsCode: string,
    detail: ErrorDetail,
  ) {
    super(code, message, detail);
  }
}

/** What was asked of AWS. */
export interface AwsCall {
  /** As IAM policies write it: `ec2:DescribeInstances`. */
  action: string;
  /** Where the request went, if not to AWS itself. */
  endpoint?: string;
  /** Who asked, for remedies; absent = the operator. */
  caller?: string;
}

const THROTTLED = new Set([
  'Throttling',
  'Throttled',
  'RequestThrottled',
  'RequestLimitExceeded',
  'TooManyRequests',
  'EC2Throttled',
  'PriorRequestNotComplete',
  'BandwidthLimitExceeded',
  'DependencyThrottle',
  'SlowDown',
]);

/** The credentials as such, whatever is asked for with them. */
const REFUSED = new Set([
  'AuthFailure',
  'InvalidClientTokenId',
  'UnrecognizedClient',
  'SignatureDoesNotMatch',
  'InvalidSignature',
  'IncompleteSignature',
  'MissingAuthenticationToken',
  'ExpiredToken',
  'RequestExpired',
  'OptInRequired',
  'Blocked',
  'CredentialsProviderError',
  'TokenProviderError',
]);

/** One action is not allowed. */
const DENIED = new Set(['AccessDenied', 'UnauthorizedOperation', 'UnauthorizedAccess']);

const CONFLICT = new Set([
  'DuplicateLoadBalancerName',
  'DuplicateAccessPointName',
  'DuplicatePolicyName',
  'DuplicateTargetGroupName',
  'DuplicateListener',
  'DuplicateTagKeys',
  'InvalidGroup.Duplicate',
  'InvalidPermission.Duplicate',
  'RouteAlreadyExists',
  'CapacityReservationPending',
  'ResourceInUse',
  'DependencyViolation',
  'OperationNotPermitted',
  'IncorrectState',
  'IncorrectInstanceState',
]);

/** A call names a security group that there is not, or that not all of AWS has heard of yet. */
const UNKNOWN_GROUP = new Set(['InvalidGroup.NotFound', 'InvalidSecurityGroup']);

const SUBNETS = 'spec.aws.subnets, or spec.aws.subnetIDs of the CloudProvider';
const ALLOCATIONS = 'spec.aws.eipAllocationIDs';
const PREFIX_LISTS = 'spec.aws.securityGroups.prefixListIDs';

/** Things that are only ever named in a spec, so that their absence is the spec's fault, and where they are named. */
const NAMED_IN_SPEC = new Map([
  ['SubnetNotFound', SUBNETS],
  ['InvalidSubnetID.NotFound', SUBNETS],
  ['InvalidVpcID.NotFound', 'spec.aws.vpcID of the CloudProvider'],
  ['CertificateNotFound', 'spec.aws.tls.certificateARNs'],
  ['SSLPolicyNotFound', 'spec.aws.tls.policy'],
  ['AllocationIdNotFound', ALLOCATIONS],
  ['InvalidAllocationID.NotFound', ALLOCATIONS],
  ['InvalidPrefixListID.NotFound', PREFIX_LISTS],
  ['InvalidPrefixListId.NotFound', PREFIX_LISTS],
]);

const TRANSIENT = new Set([
  'InternalError',
  'InternalFailure',
  'InternalServiceError',
  'ServiceUnavailable',
  'Unavailable',
  'RequestTimeout',
  'TimeoutError',
]);

/** The class of an AWS error code; undefined = the HTTP status decides. Pure. */
export function classOfAwsCode(awsCode: string): ErrorCode | undefined {
  if (THROTTLED.has(awsCode)) return 'Throttled';
  if (REFUSED.has(awsCode) || DENIED.has(awsCode)) return 'Credentials';
  if (CONFLICT.has(awsCode)) return 'Conflict';
  if (NAMED_IN_SPEC.has(awsCode)) return 'Invalid';
  if (TRANSIENT.has(awsCode)) return 'Transient';
  if (/NotFound$/.test(awsCode)) return 'NotFound';
  return /LimitExceeded$|^TooMany|^Insufficient.*Capacity$|^InsufficientFreeAddresses/.test(awsCode) ? 'Quota' : undefined;
}

/** True where the account's credentials were refused, not one action. Pure. */
export function refusesCredentials(error: OperatorError): boolean {
  return error instanceof AwsError && REFUSED.has(error.awsCode);
}

/** True where a call named a security group that AWS does not know: it is gone, or was made a moment ago. Pure. */
export function namesUnknownGroup(error: OperatorError): boolean {
  return error instanceof AwsError && UNKNOWN_GROUP.has(error.awsCode);
}

interface SdkException {
  name?: string;
  message?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { headers?: Record<string, string> };
}

/**
 * What the SDK threw, as an error of ours: the class, the action, AWS's code and words, and what to do about it. Pure.
 * @param thrown an OperatorError goes through as it is
 */
export function awsFailure(thrown: unknown, call: AwsCall): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const { name: exception = 'Unknown', message = '', $metadata, $response } = (thrown ?? {}) as SdkException;
  // The SDK calls many of its exceptions otherwise than the API: DuplicateLoadBalancerNameException.
  const name = exception.replace(/Exception$/, '');
  const status = $metadata?.httpStatusCode;
  const code = classOf(thrown, name, status);
  const remedy = remedyFor(name, code, call, message);
  const retryAfterMs = retryAfter($response?.headers?.['retry-after']);
  const told = [kindOf(name, status), message.split('\n')[0]?.slice(0, 500)].filter(Boolean).join(': ');
  return new AwsError(code, `AWS, ${call.action}: ${remedy === undefined ? told : `${told.replace(/\.$/, '')}. ${remedy}`}`, name, {
    cause: thrown,
    ...(remedy !== undefined && { remedy }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function classOf(thrown: unknown, awsCode: string, status: number | undefined): ErrorCode {
  const { code: plain } = toOperatorError(thrown);
  return classOfAwsCode(awsCode) ?? (status === undefined || plain === 'Canceled' ? plain : codeOfHttpStatus(status));
}

/** What answers with a status and no error of AWS's is something else than AWS. */
function kindOf(awsCode: string, status: number | undefined): string {
  return awsCode === 'Unknown' && status !== undefined ? `HTTP status ${status}` : awsCode;
}

/** A call may need other permissions beside its own; AWS says which one it lacks. */
function refusedAction(message: string): string | undefined {
  return /not authorized to perform:? ([a-z0-9-]+:[A-Za-z]+)/.exec(message)?.[1];
}

function remedyFor(awsCode: string, code: ErrorCode, { action, endpoint, caller }: AwsCall, message: string): string | undefined {
  if (DENIED.has(awsCode)) {
    return `Add to ${caller ?? 'the operator'}'s IAM policy: {"Effect": "Allow", "Action": "${refusedAction(message) ?? action}", "Resource": "*"}`;
  }
  const field = NAMED_IN_SPEC.get(awsCode);
  if (field !== undefined) return `Correct ${field}`;
  if (awsCode === 'RequestExpired') return "Set the clock of the operator's host right";
  if (code === 'Credentials' && caller !== undefined) return `Give ${caller} credentials that AWS accepts, such as an IAM role`;
  if (code === 'Credentials')
    return 'Give the operator credentials that AWS accepts: an IAM role for its Pod, or spec.aws of the CloudProvider';
  if (code === 'Quota') return 'Delete what is no longer needed, or ask for a higher quota in the console under Service Quotas';
  if (code === 'Transient') return `Check the way to ${endpoint ?? 'the endpoint of the region'} if it lasts`;
  return undefined;
}

/** The header's seconds, in milliseconds. */
function retryAfter(header: string | undefined): number | undefined {
  const seconds = Number(header);
  return header !== undefined && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
