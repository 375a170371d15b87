import type { ResourceFailure } from '../../providers/resource-provider/status';
import { isCloudResource, type Deployment } from './checkpoint';

/** How far an update came that failed. */
export interface FailedUpdate {
  /** Errors of our own resource providers. */
  failures: readonly Pick<ResourceFailure, 'operation'>[];
  /** The engine's steps that failed. */
  failed: readonly { op: string; urn: string }[];
  /** URNs of what the program has, and the engine has reached. */
  reached: ReadonlySet<string>;
  /** What the stack has by now. */
  left: Deployment | null | undefined;
}

/**
 * URNs of what is left of an update that has made all that it was asked for, and could not delete all that is to go: the engine deletes last. Undefined = something
 * else failed. Pure.
 */
export function undeletedOf({ failures, failed, reached, left }: FailedUpdate): string[] | undefined {
  const resources = left?.deployment?.resources ?? [];
  const replaced = new Set(resources.filter((resource) => resource.delete === true).map(({ urn }) => urn));
  // What is deleted before it is made again is not made yet.
  const isLast = ({ op, urn }: { op: string; urn: string }): boolean => op === 'delete' || (op === 'delete-replaced' && replaced.has(urn));
  const isDone = failures.every(({ operation }) => operation === 'delete') && failed.length > 0 && failed.every(isLast);
  if (!isDone || resources.some(({ pendingReplacement }) => pendingReplacement === true)) return undefined;
  const undeleted = resources.filter((resource) => isCloudResource(resource) && (resource.delete === true || !reached.has(resource.urn)));
  return undeleted.length === 0 ? undefined : undeleted.map(({ urn }) => urn);
}
