import { status } from '@grpc/grpc-js';
import { messageWithRemedy, type ErrorCode, type OperatorError } from '../../operator/base/errors';

/** An operation of a resource that failed, as the operator gets to see it. */
export interface ResourceFailure {
  urn: string;
  operation: 'check' | 'create' | 'read' | 'update' | 'delete' | 'configure';
  error: OperatorError;
}

const STATUS: Record<ErrorCode, status> = {
  Transient: status.UNAVAILABLE,
  Throttled: status.RESOURCE_EXHAUSTED,
  Credentials: status.PERMISSION_DENIED,
  Quota: status.RESOURCE_EXHAUSTED,
  Invalid: status.INVALID_ARGUMENT,
  Taken: status.ALREADY_EXISTS,
  Conflict: status.ABORTED,
  NotFound: status.NOT_FOUND,
  Canceled: status.CANCELLED,
  Unknown: status.UNKNOWN,
};

/** The gRPC status that the engine prints; the exact error goes to the operator beside it, not through the engine. */
export function toStatus(error: OperatorError): { code: status; details: string } {
  // UNAVAILABLE and CANCELLED have a meaning of their own to gRPC clients (retries, shutdown): plain failures stay UNKNOWN.
  const code = STATUS[error.code];
  const neutral = code === status.UNAVAILABLE || code === status.CANCELLED ? status.UNKNOWN : code;
  return { code: neutral, details: messageWithRemedy(error) };
}
