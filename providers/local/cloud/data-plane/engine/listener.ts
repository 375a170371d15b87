import type { Clock } from '../../../../../operator/base/clock';
import type { Pool } from './pool';
import type { SourceRanges } from './source-ranges';

/** What a listener does with traffic; may be changed while it runs without touching what flows. */
export interface ListenerSettings {
  pool: Pool;
  sourceRanges: SourceRanges;
  idleTimeoutMs: number;
  connectTimeoutMs: number;
}

/** Where a client's traffic comes from. */
export interface ClientAddress {
  address: string;
  port: number;
}

export interface ListenerParts {
  clock: Clock;
  ip: string;
  /** Ports to try, in order. */
  candidates: number[];
}

/** One open port of a load balancer. */
export interface Listener {
  settings: ListenerSettings;
  /** The port that is open. */
  readonly port: number;
  /** Closes the port and cuts what flows through it. */
  close(): Promise<void>;
}
