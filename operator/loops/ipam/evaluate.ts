import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../../base/errors';
import type { Node } from '../../kube/object';
import { statusOf } from '../../kube/status';

/** What is to be done about one Node. */
export type Action =
  | { kind: 'None' }
  /** The Node has podCIDRs that are not noted as its own yet. */
  | { kind: 'Hold'; podCIDRs: string[] }
  /** Another controller looks after the Node. */
  | { kind: 'Observe' }
  /** Takes the next free blocks and writes them. */
  | { kind: 'Reserve' }
  /** Writes what is reserved for the Node already. */
  | { kind: 'Write'; podCIDRs: string[] };

/** What is known of one Node's blocks. */
export interface Known {
  /** What the ledger has for it. */
  held: string[] | undefined;
  /** The API server has taken our write, whatever the store shows yet. */
  written: boolean;
  /** Its CloudProvider is only observed. */
  observed: boolean;
}

/** Contract 6.2. Pure. A Node that is being deleted, or only observed, gets nothing, but what it has is taken. */
export function evaluate(node: Node, { held, written, observed }: Known): Action {
  const podCIDRs = node.spec.podCIDRs ?? [];
  if (podCIDRs.length > 0) return isDeepStrictEqual(podCIDRs, held) ? { kind: 'None' } : { kind: 'Hold', podCIDRs };
  if (node.metadata.deletionTimestamp !== undefined || written) return { kind: 'None' };
  if (observed) return { kind: 'Observe' };
  return held === undefined ? { kind: 'Reserve' } : { kind: 'Write', podCIDRs: held };
}

/** How things stand after a write that failed. */
export type Outcome =
  /** The Node has what we wrote: the answer was lost. */
  | 'Written'
  /** Somebody else gave the Node its podCIDRs. */
  | 'Other'
  /** The Node, or this one of its name, is gone. */
  | 'Gone'
  /** It has none. */
  | 'Open'
  /** It could not be read. */
  | 'Unknown';

/** Pure. @param live the Node as the API server has it now; undefined = there is none of the name, an error = it can't be read */
export function outcomeOf(node: Node, wanted: readonly string[], live: Node | undefined | OperatorError): Outcome {
  if (live instanceof OperatorError) return 'Unknown';
  if (live?.metadata.uid !== node.metadata.uid) return 'Gone';
  const podCIDRs = live.spec.podCIDRs ?? [];
  if (podCIDRs.length === 0) return 'Open';
  return isDeepStrictEqual(podCIDRs, wanted) ? 'Written' : 'Other';
}

/** What an API server or something in front of it answers that doesn't know whether the write came through. */
const UNDECIDED = [408, 502, 504];

/**
 * Whether the API server refused a write, also for a reason that passes by: its blocks are free again, and the Node asks afresh (contract 6.2).
 * One that it didn't answer, or for which it has waited in vain itself, may still come through: its blocks stay reserved. Pure.
 */
export function isRefused(error: OperatorError): boolean {
  const status = statusOf(error);
  if (status === undefined) return error.code !== 'Transient' && error.code !== 'Throttled' && error.code !== 'Unknown';
  const waitedInVain =
    UNDECIDED.includes(status.code) || /timeout/i.test(status.reason) || /timed? ?out|deadline exceeded/i.test(status.message);
  return !waitedInVain && !(status.code === 503 && status.reason === 'NoStatus');
}

/** Strategic merge patch of a Node, for this object only: one that registers anew under the name gets blocks of its own. Pure. */
export function podCidrPatch({ metadata: { uid } }: Node, podCIDRs: readonly string[]): object {
  return { metadata: { uid }, spec: { podCIDR: podCIDRs[0], podCIDRs } };
}
