import type { Condition } from '../../crds';
import { withoutNextTry } from '../base/next-try';

/** Reasons of `Ready` that mean a failed attempt which is being repeated, not work that goes on (docs/conditions.md). */
const FAILURES = new Set([
  'CloudUnavailable',
  'Throttled',
  'CredentialsRefused',
  'QuotaExceeded',
  'Invalid',
  'Taken',
  'Conflict',
  'NotFound',
  'UpdateFailed',
  'MembersFailed',
  'ProviderUnavailable',
  'StateStoreUnavailable',
  'StateKeyUnavailable',
]);

/** What one of our objects says of itself, as the loops need it. */
export interface Readiness {
  /** The controller has judged the newest generation. */
  current: boolean;
  ready?: Condition;
  /** The newest attempt failed, whether or not an earlier version goes on serving. */
  failure?: { reason: string; message: string; /** Only a person can help. */ stalled: boolean };
  /** Ready, and nothing left to do. */
  settled: boolean;
}

interface Judged {
  metadata: { generation?: number };
  status?: { observedGeneration?: number | undefined; conditions?: Condition[] | undefined };
}

/** Reads kstatus conditions; a status of another generation is not current. Messages come without the time of the next try. */
export function readinessOf(object: Judged): Readiness {
  const conditions = (object.status?.conditions ?? []).map((one) => ({ ...one, message: withoutNextTry(one.message) }));
  const ready = conditions.find(({ type }) => type === 'Ready');
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  const reconciling = conditions.some(({ type, status }) => type === 'Reconciling' && status === 'True');
  const failed = stalled ?? (isFailed(ready) ? ready : undefined);
  const current = isCurrent(object);
  return {
    current,
    ...(ready && { ready }),
    ...(failed && { failure: { reason: failed.reason, message: failed.message, stalled: stalled !== undefined } }),
    settled: current && !reconciling && stalled === undefined && ready?.status === 'True',
  };
}

function isFailed(ready: Condition | undefined): boolean {
  return ready !== undefined && ready.status !== 'True' && FAILURES.has(ready.reason);
}

function isCurrent({ metadata, status }: Judged): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation;
}
