import { codeOfHttpStatus, OperatorError, type ErrorCode, type ErrorDetail } from '../../../operator/base/errors';
import { inShort } from './resource-id';

/** A refusal of Azure Resource Manager, or the end of an operation of its, with its own code beside the class. */
export class ArmError extends OperatorError {
  constructor(
    code: ErrorCode,
    message: string,
    /** For example `PublicIPAddressInUse`. */
    readonly armCode: string,
    detail: ErrorDetail = {},
  ) {
    super(code, message, detail);
  }
}

/** What was asked of Azure. */
export interface ArmCall {
  method: string;
  /** Path without its query, or the id of what an operation works on. */
  path: string;
  /** Microsoft asks for it when it is to find out what happened. */
  requestID?: string;
}

/** The token as such is refused, whatever is asked for with it. */
const REFUSED = new Set([
  'InvalidAuthenticationToken',
  'InvalidAuthenticationTokenTenant',
  'ExpiredAuthenticationToken',
  'AuthenticationFailed',
  'AuthenticationFailedMissingToken',
  'InvalidAuthenticationTokenAudience',
]);

/** A delete is refused because something else still refers to the resource. */
const IN_USE = /CannotBeDeleted$|^CannotDelete/;

/** Something else happens to it, or to what it refers to: it ends by itself, and is not the account's limit though the status be 429. */
const BUSY = new Set([
  'AnotherOperationInProgress',
  'ReferencedResourceNotProvisioned',
  'RetryableError',
  'RetryableErrorDueToAnotherOperation',
]);

const CLASSES: Readonly<Record<string, ErrorCode>> = {
  RequestDisallowedByPolicy: 'Invalid',
  ScopeLocked: 'Credentials',
  AuthorizationFailed: 'Credentials',
  LinkedAuthorizationFailed: 'Credentials',
  LinkedAccessCheckFailed: 'Credentials',
  ResourceGroupNotFound: 'Invalid',
  SubscriptionNotFound: 'Invalid',
  InvalidSubscriptionId: 'Invalid',
  ResourceGroupBeingDeleted: 'Invalid',
  Canceled: 'Conflict',
  CanceledAndSupersededDueToAnotherOperation: 'Conflict',
  PublicIPAddressInUse: 'Taken',
  PublicIPReferencedByMultipleIPConfigs: 'Taken',
  PrivateIPAddressInUse: 'Taken',
  PrivateIPAddressIsAllocated: 'Taken',
  DnsRecordInUse: 'Taken',
  PublicIPAddressCannotBeDeleted: 'Conflict',
  SubnetIsFull: 'Quota',
};

const REMEDIES: Readonly<Record<string, string>> = {
  ScopeLocked: 'Remove the lock from the resource or its group, or have CanNotDelete in place of ReadOnly, which lets updates through',
  RequestDisallowedByPolicy: 'Exempt the resource from the policy, or set what it asks for by annotations or in the CloudProvider',
  ResourceGroupNotFound: 'Check resourceGroup and its relatives in the settings of the CloudProvider',
  SubscriptionNotFound: 'Check subscriptionID in the settings of the CloudProvider, and that the operator has a role in it',
  InvalidSubscriptionId: 'Check subscriptionID in the settings of the CloudProvider',
  PreconditionFailed: 'See in the activity log of the portal who else writes it all the time',
  SubnetIsFull: 'Name a subnet with free addresses, or widen this one',
  PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer:
    'Have the pools filled with the interfaces of machines (spec.azure.preConfiguredPools of the CloudProvider), or take the Private Link Service away',
};

/** The class of an error of Azure's; `status` decides where the code says nothing. Pure. */
export function classOfArmCode(armCode: string, status: number): ErrorCode {
  const known = Object.hasOwn(CLASSES, armCode) ? CLASSES[armCode] : undefined;
  if (known !== undefined) return known;
  if (BUSY.has(armCode)) return 'Conflict';
  if (REFUSED.has(armCode)) return 'Credentials';
  if (IN_USE.test(armCode)) return 'Conflict';
  if (/(Limit|Maximum)(Exceeded|Reached)$|QuotaExceeded$|CountLimit/.test(armCode)) return 'Quota';
  return codeOfHttpStatus(status);
}

/** Where things are is the CloudProvider's doing. */
const PLACES: ReadonlySet<string> = new Set([
  'ResourceGroupNotFound',
  'ResourceGroupBeingDeleted',
  'SubscriptionNotFound',
  'InvalidSubscriptionId',
]);

/**
 * The class of a failure as it concerns those for whom something is made: nobody's change is held back as at fault for the place, nor for what is refused
 * to something that many share, or for who else writes that. Pure.
 */
export function classForUsers(error: OperatorError, { isShared }: { isShared: boolean }): { code: ErrorCode; reason?: string } {
  if (!(error instanceof ArmError)) return { code: error.code };
  if (PLACES.has(error.armCode)) return { code: 'NotFound' };
  if (isShared && error.armCode === 'RequestDisallowedByPolicy') return { code: 'Credentials' };
  return isShared && error.code === 'Conflict' ? { code: 'Transient', reason: 'Conflict' } : { code: error.code };
}

/** True where the token was refused, not one action. Pure. */
export function refusesToken(error: OperatorError): boolean {
  return error instanceof ArmError && REFUSED.has(error.armCode);
}

/** True where something else happens to the resource at this moment: the same call soon succeeds. Pure. */
export function isBusy(error: OperatorError): boolean {
  return error instanceof ArmError && BUSY.has(error.armCode);
}

/** True where a delete is refused because something else still refers to the resource. Pure. */
export function isInUse(error: OperatorError): boolean {
  return error instanceof ArmError && IN_USE.test(error.armCode);
}

/** True where, at its end, another public address of the region was found to have a DNS label. Pure. */
export function hasLabelInUse(error: OperatorError): boolean {
  const cause = error instanceof ArmError ? error : error.cause;
  return cause instanceof ArmError && cause.armCode === 'DnsRecordInUse';
}

/** Somebody else has written between a read and the write that depends on it. */
const CHANGED = new Set(['PreconditionFailed', 'CanceledAndSupersededDueToAnotherOperation', 'Canceled']);

/** True where somebody else has written what a write depends on. Pure. */
export function isOvertaken(error: OperatorError): boolean {
  return error instanceof ArmError && CHANGED.has(error.armCode);
}

/** True where reading again and writing again may succeed: somebody else was faster, or nobody knows whether the write has happened. Pure. */
export function isWorthReadingAgain(error: OperatorError): boolean {
  return error.code === 'Transient' || isOvertaken(error);
}

/** An error as Azure Resource Manager writes it; some are wrapped in others that say less. */
export interface ArmErrorBody {
  code?: string;
  message?: string;
  details?: ArmErrorBody[] | null;
}

/**
 * What an error of Azure's is: the class, the call, Azure's code and words, and what to do about it. Pure.
 * @param status of the answer; of an operation that has failed, the one that its code is worth
 */
export function armFailure(body: ArmErrorBody, status: number, call: ArmCall, retryAfterMs?: number): ArmError {
  const { code: armCode = 'Unknown', message = '' } = innermost(body);
  const code = lacksAddress(armCode, message) ? 'NotFound' : classOfArmCode(armCode, status);
  const remedy = remedyFor(armCode, code, message);
  const told = [armCode === 'Unknown' ? `HTTP status ${status}` : armCode, wordsOf(message, call.path)].filter(Boolean).join(': ');
  const request = call.requestID === undefined ? '' : ` (request ${call.requestID})`;
  const text = `Azure, ${call.method} ${call.path}: ${told}${request}${remedy === undefined ? '' : `. ${remedy}`}`;
  return new ArmError(code, text, armCode, {
    ...(remedy !== undefined && { remedy }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The most that is told of Azure's own words. */
const MOST_CHARACTERS = 1000;

/** Azure's first line without what the call's path says already. What is last often names whose fault it is: too long a line is cut in its middle. */
function wordsOf(message: string, path: string): string {
  const line = inShort(message.split('\n')[0] ?? '', path).replace(/\.\s*$/, '');
  if (line.length <= MOST_CHARACTERS) return line;
  const half = MOST_CHARACTERS / 2;
  return `${line.slice(0, half)} … ${line.slice(-half)}`;
}

/** What a load balancer names is somebody's mistake, but for a public address: that was there a moment ago, and has been deleted. */
function lacksAddress(armCode: string, message: string): boolean {
  return armCode === 'InvalidResourceReference' && /^Resource \S+\/publicIPAddresses\/\S+ referenced/i.test(message);
}

/** `RetryableError` says in its details what it is about. */
function innermost(body: ArmErrorBody): ArmErrorBody {
  const [only, ...more] = body.details ?? [];
  return body.code === 'RetryableError' && only?.code !== undefined && more.length === 0 ? innermost(only) : body;
}

function remedyFor(armCode: string, code: ErrorCode, message: string): string | undefined {
  if (Object.hasOwn(REMEDIES, armCode)) return REMEDIES[armCode];
  const action = /perform action '([^']+)'/.exec(message)?.[1];
  if (armCode.endsWith('AuthorizationFailed')) return `Give the operator's identity a role that allows ${action ?? 'this'} there`;
  if (REFUSED.has(armCode)) return 'Give the operator credentials that Azure accepts';
  if (code === 'Quota') return 'Delete what is no longer needed, or ask for a higher limit in the portal under Quotas';
  return undefined;
}
