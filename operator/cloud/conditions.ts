import type { Condition } from '../../crds';
import { messageWithRemedy, type ErrorCode, type OperatorError } from '../base/errors';
import { toSecond, withNextTry } from '../base/next-try';
import type { KubeMeta } from '../kube/object';
import type { StateHold } from '../updates/held-writes';

/** What is to be said of an object; becomes conditions that follow kstatus. */
export type Verdict = {
  /** In words: the cloud was changed by somebody else, and is left as it is. */
  drifted?: string;
  /** What a person should know of beside it. */
  warnings?: readonly Warning[];
} &
  /** Everything is as the spec asks. */
  (
    | {
        state: 'Ready';
        message: string;
        /** Default `Ready`. */
        reason?: string;
      }
    /** Work goes on, or waits for something that will come. */
    | { state: 'Reconciling'; reason: string; message: string; serving?: boolean }
    /** A person is needed. */
    | { state: 'Stalled'; reason: string; message: string; serving?: boolean }
  );

/** Condition type beside Ready, and reason while the cloud is being brought back. */
export const DRIFTED = 'Drifted';

/** Condition type for what was ignored in a spec. */
export const WARNING = 'Warning';

/** Condition type: the state of the object's stack can't be read, and nothing else is wrong. */
export const STATE_UNAVAILABLE = 'StateUnavailable';

/** Something that a person should know of, whatever the verdict is: a condition of its own that is only there while it holds. */
export interface Warning {
  type: string;
  reason: string;
  message: string;
}

/**
 * Conditions for a verdict: Ready always; Reconciling or Stalled only while true, never both (kstatus reads the first of them).
 * `lastTransitionTime` moves only when a condition's status changes, so that equal verdicts give equal conditions.
 * @param previous the conditions in the object's status now
 * @param now RFC 3339 time
 */
export function conditionsOf(verdict: Verdict, generation: number, previous: readonly Condition[], now: string): Condition[] {
  const make = (type: string, status: 'True' | 'False', reason: string, message: string): Condition => {
    const before = previous.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, reason, message: message.slice(0, 32768), observedGeneration: generation, lastTransitionTime };
  };
  const warnings = (verdict.warnings ?? []).map(({ type, reason, message }) => make(type, 'True', reason, message));
  const drifted = verdict.drifted === undefined ? [] : [make(DRIFTED, 'True', 'CloudChanged', verdict.drifted)];
  switch (verdict.state) {
    case 'Ready':
      return [make('Ready', 'True', verdict.reason ?? 'Ready', verdict.message), ...drifted, ...warnings];
    case 'Reconciling':
    case 'Stalled': {
      const ready = make('Ready', verdict.serving === true ? 'True' : 'False', verdict.reason, verdict.message);
      return [ready, make(verdict.state, 'True', verdict.reason, verdict.message), ...drifted, ...warnings];
    }
  }
}

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  Credentials: 'Check the credentials and permissions of the CloudProvider.',
  Quota: 'Ask the cloud for a higher limit, or delete what is not needed.',
};

/**
 * The verdict on a failed update: Stalled where only a person can help, else Reconciling with a retry.
 * @param serving true when an earlier version of the load balancer goes on serving
 * @param retry when it is tried next (wall clock, milliseconds; undefined = not by itself), and whether that has gone on for too long
 */
export function verdictOfError(
  error: OperatorError,
  serving: boolean,
  retry?: { nextTryAt: number | undefined; exhausted: boolean },
): Verdict {
  const remedy = error.remedy ?? REMEDIES[error.code];
  // A field of the cloud's API says nothing to who wrote the spec.
  const where = error.field?.startsWith('spec.') === true ? ` (${error.field})` : '';
  const parts = [
    `${sentence(error.message)}${where}`,
    error.message.includes(remedy ?? ' ') ? undefined : remedy,
    serving ? 'The last good version keeps serving.' : undefined,
  ];
  const text = parts.filter((part) => part !== undefined).join(' ');
  const message = retry?.nextTryAt === undefined ? text : withNextTry(text, retry.nextTryAt);
  if (retry?.exhausted === true) return { state: 'Stalled', reason: 'RetriesExhausted', message };
  const reason = reasonOfError(error);
  if (error.terminal) return { state: 'Stalled', reason, message };
  return { state: 'Reconciling', reason, message };
}

/**
 * The verdict on an object that was found as its spec asks, while its stack's state can't be read: it stays what it was, and that is told beside it.
 * Undefined where it was not, or waits for something: only the state knows what is to be done. Pure.
 */
export function verdictWithoutState(
  { metadata, status }: { metadata: KubeMeta; status?: { observedGeneration?: number | undefined; conditions?: Condition[] | undefined } },
  error: OperatorError,
): Verdict | undefined {
  const conditions = status?.conditions ?? [];
  const find = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True');
  const ready = find('Ready');
  const judged = status?.observedGeneration === metadata.generation && metadata.deletionTimestamp === undefined;
  if (ready === undefined || !judged || find('Reconciling') !== undefined || find('Stalled') !== undefined) return undefined;
  const message = `${sentence(messageWithRemedy(error))} What is there goes on as it is; changes wait until the state can be read.`;
  const drifted = find(DRIFTED)?.message;
  return {
    ...{ state: 'Ready', reason: ready.reason, message: ready.message },
    ...(drifted === undefined ? {} : { drifted }),
    warnings: [{ type: STATE_UNAVAILABLE, reason: reasonOfError(error), message }],
  };
}

/** The verdict on an update that waits for the state store. Pure. */
export function verdictOfHold({ error, until }: StateHold, serving: boolean): Verdict {
  const parts = [
    sentence(messageWithRemedy(error)),
    `The write is tried again every few seconds; if none succeeds by ${toSecond(until)}, the update stops and begins anew.`,
    ...(serving ? ['The last good version keeps serving.'] : []),
  ];
  return { state: 'Reconciling', reason: reasonOfError(error), message: parts.join(' '), serving };
}

/** The reason that people look a failure up under. */
export function reasonOfError({ code, reason }: OperatorError): string {
  return reason ?? reasonOf(code);
}

/** Condition reasons are CamelCase words that people can look up (docs/conditions.md). */
export function reasonOf(code: ErrorCode): string {
  switch (code) {
    case 'Transient':
      return 'CloudUnavailable';
    case 'Throttled':
      return 'Throttled';
    case 'Credentials':
      return 'CredentialsRefused';
    case 'Quota':
      return 'QuotaExceeded';
    case 'Invalid':
      return 'Invalid';
    case 'Taken':
      return 'Taken';
    case 'Conflict':
      return 'Conflict';
    case 'NotFound':
      return 'NotFound';
    case 'Canceled':
      return 'Canceled';
    case 'Unknown':
      return 'UpdateFailed';
  }
}

/** The text with a full stop at its end. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
