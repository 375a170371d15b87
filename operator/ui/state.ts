import { SERVICE_READY_CONDITION } from '../../crds';
import { objectState, type Tone } from '../explain/object-state';
import type { Judged } from '../explain/kinds';
import { hasTaint, isReady, TAINT_SHUTDOWN, TAINT_UNINITIALIZED } from '../kube/node';
import type { KubeCondition, Node, Service } from '../kube/object';

/** How an object is, in one word, and why. */
export interface State {
  word: string;
  tone: Tone;
  /** Of the condition that decided. */
  reason?: string;
  message?: string;
  /** When that condition became so, RFC 3339. */
  since?: string;
}

/** Of one of our kinds. Pure. */
export function stateOf(object: Judged): State {
  const { word, tone, condition } = objectState(object);
  if (condition === undefined) return { word, tone };
  const { reason, message, lastTransitionTime: since } = condition;
  return { word, tone, reason, message, since };
}

/** Pure. */
export function serviceState({ metadata, spec, status }: Service): State {
  if (metadata.deletionTimestamp !== undefined) return { word: 'Deleting', tone: 'waiting', since: metadata.deletionTimestamp };
  const condition = status?.conditions?.find(({ type }) => type === SERVICE_READY_CONDITION);
  if (condition?.status === 'True') return { word: 'Ready', tone: 'good', ...why(condition) };
  if (condition !== undefined) return { word: 'NotReady', tone: 'waiting', ...why(condition) };
  // Those of another controller have no condition of ours.
  if ((status?.loadBalancer?.ingress ?? []).length > 0) return { word: 'Published', tone: 'plain' };
  return spec.loadBalancerClass === undefined ? { word: 'Pending', tone: 'waiting' } : { word: 'Foreign', tone: 'plain' };
}

/** Pure. */
export function nodeState(node: Node): State {
  if (node.metadata.deletionTimestamp !== undefined) return { word: 'Deleting', tone: 'waiting', since: node.metadata.deletionTimestamp };
  if (hasTaint(node, TAINT_UNINITIALIZED)) {
    const message = `taint ${TAINT_UNINITIALIZED}: no operator has initialized it yet, and nothing is scheduled on it`;
    return { word: 'Uninitialized', tone: 'bad', message };
  }
  if (hasTaint(node, TAINT_SHUTDOWN)) return { word: 'Stopped', tone: 'bad', message: 'the cloud says that its machine is stopped' };
  if (isReady(node)) return { word: 'Ready', tone: 'good' };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const unsaid = { message: 'its kubelet has not said yet whether it is ready' };
  return { word: 'NotReady', tone: 'waiting', ...(ready === undefined ? unsaid : why(ready)) };
}

function why({ reason, message, lastTransitionTime: since }: KubeCondition): Pick<State, 'reason' | 'message' | 'since'> {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(since === undefined ? {} : { since }),
  };
}
