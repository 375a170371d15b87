import type { Clock } from '../operator/base/clock';
import type { CallGate } from './call-gate';

/** What every client of a cloud's API works with, whatever the cloud. */
export interface ClientOptions<Verb extends string> {
  clock?: Clock;
  random?: () => number;
  /** Tries and waits of one call together, in milliseconds; how long an operation then takes is not part of it. */
  budgetMs?: number;
  /** Told of every request that goes out. */
  onCall?: (verb: Verb) => void;
  /** The account's limits, passed before every request; absent = none. */
  calls?: CallGate;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Throws when we may not write any more: asked as late before each write as can be, repeated ones included. */
  assertValid?: () => void;
}
