/** How one call to a cloud ended, as far as the account's limits and credentials are concerned. `requestID`: what the cloud calls the request, where it has answered. */
export type CallOutcome = { requestID?: string } &
  /**
   * The cloud accepted the credentials, whatever else it said. `left`: how many more calls of this sort (`sortOfCall`) it says that it takes; `leftOfPart`:
   * how many the part takes that the call was acquired for.
   */
  (
    | { kind: 'Answered'; left?: number; leftOfPart?: number }
    /** Too many calls; `ofPart`: for that part, not for the account. `retryAfterMs`: the cloud's Retry-After, in milliseconds. */
    | { kind: 'Throttled'; retryAfterMs?: number; ofPart?: true }
    /** The credentials as such were refused. Not for a permission that is missing for one thing only: that is Answered. */
    | { kind: 'Refused'; message: string }
    /** No answer, or one that says nothing about the credentials (unreachable, 5xx, canceled). */
    | { kind: 'Unanswered' }
  );

/** Of what clouds count their limits by. */
export type CallSort = 'reads' | 'writes' | 'deletes';

/** The sort of a call by its verb. Pure. */
export function sortOfCall(verb: string): CallSort {
  if (verb === 'get' || verb === 'list') return 'reads';
  return verb === 'delete' ? 'deletes' : 'writes';
}

/** Told once, after the call, how it ended. */
export type Settle = (outcome: CallOutcome) => void;

/**
 * What a provider's client passes before each call to its cloud, repeated calls included. Behind it is one rate limiter and one circuit
 * breaker for the account, shared by the operator and all its workers (design section 4).
 */
export interface CallGate {
  /**
   * Waits until the account's limits allow one call.
   * @param verb of the call; `delete` and `targets` (members) go before everything else
   * @param part of the cloud that has limits of its own beside the account's, such as a kind of resource
   * @throws OperatorError Credentials, with `retryAfterMs`, while the cloud refuses the credentials; Throttled, with that too, while it takes no calls for
   * longer than anybody should wait; the signal's reason when it is aborted
   */
  acquire(verb: string, signal?: AbortSignal, part?: string): Promise<Settle>;
}

/** Lets everything through; for clients that no operator stands behind. */
export const openGate: CallGate = { acquire: () => Promise.resolve(() => undefined) };
