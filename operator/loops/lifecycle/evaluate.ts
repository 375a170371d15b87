import { hasTaint, isReady, TAINT_SHUTDOWN } from '../../kube/node';
import type { Node, Taint } from '../../kube/object';
import type { InstanceLookup } from '../instances';
import { type ConfirmationRule, isConfirmed, type Misses, missed } from './confirmations';

const SHUTDOWN_TAINT: Taint = { key: TAINT_SHUTDOWN, effect: 'NoSchedule' };

export type Action =
  | { kind: 'None' }
  /** Strategic merge patch with the resourceVersion of the Node that was judged. */
  | { kind: 'PatchNode'; patch: object }
  | { kind: 'Delete' };

export interface Judgement {
  action: Action;
  /** undefined = forget what was missed so far. */
  misses: Misses | undefined;
}

/** When a Node is judged, and by what rule. */
export interface JudgedWhen {
  rule: ConfirmationRule;
  /** Monotonic milliseconds. */
  now: number;
  /** Milliseconds since 1970. */
  wallNow: number;
}

/** True for Nodes about which the cloud must be asked: a Ready one never, one that is on its way out neither (contract 4). */
export function mustAsk(node: Node): boolean {
  return !isReady(node) && node.metadata.deletionTimestamp === undefined;
}

/** A Node about which the cloud need not be asked: a Ready one loses the shutdown taint. Pure. */
export function evaluateReady(node: Node): Action {
  if (!isReady(node) || !hasTaint(node, SHUTDOWN_TAINT.key, SHUTDOWN_TAINT.effect)) return { kind: 'None' };
  const taints = (node.spec.taints ?? []).filter(({ key, effect }) => key !== SHUTDOWN_TAINT.key || effect !== SHUTDOWN_TAINT.effect);
  return patchTaints(node, taints);
}

/**
 * A Node that isn't Ready, and what the cloud says of its machine. Pure.
 * Only the owning provider's repeated word that there is no machine deletes the Node; a cloud that can't be asked never gets here.
 */
export function evaluateLookup(node: Node, lookup: InstanceLookup, before: Misses | undefined, when: JudgedWhen): Judgement {
  switch (lookup.state) {
    case 'Unclaimed':
    case 'Unmanaged':
    case 'Ambiguous':
      return { action: { kind: 'None' }, misses: undefined };
    case 'Missing': {
      if (isYoungerThan(lookup.lateMs, node, when.wallNow)) return { action: { kind: 'None' }, misses: undefined };
      const machine = { nodeUID: node.metadata.uid, providerID: node.spec.providerID ?? '' };
      const misses = missed(before, machine, { now: when.now, listedAt: lookup.listedAt });
      return { action: isConfirmed(misses, when.rule, when.now) ? { kind: 'Delete' } : { kind: 'None' }, misses };
    }
    case 'Found':
      return { action: lookup.shutdown ? addTaint(node) : { kind: 'None' }, misses: undefined };
  }
}

/** Clocks differ: where nothing lags behind, no age keeps a Node. */
function isYoungerThan(ms: number, { metadata }: Node, wallNow: number): boolean {
  return ms > 0 && wallNow - Date.parse(metadata.creationTimestamp) < ms;
}

function addTaint(node: Node): Action {
  if (hasTaint(node, SHUTDOWN_TAINT.key, SHUTDOWN_TAINT.effect)) return { kind: 'None' };
  return patchTaints(node, [...(node.spec.taints ?? []), SHUTDOWN_TAINT]);
}

function patchTaints(node: Node, taints: Taint[]): Action {
  return { kind: 'PatchNode', patch: { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints } } };
}
