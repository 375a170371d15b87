import type { Service } from '../../kube/object';
import type { StoredCloudLoadBalancer } from '../kinds';
import { readinessOf } from '../readiness';
import { type Action, EVENTS, isOfOurs, type Memory } from './actions';
import { isOwnedBy } from './cloud-load-balancer';
import { isDeleting } from './rules';

/** A Service as it was last seen, and what is remembered of it. */
export interface LastSeen {
  service: Service;
  memory: Memory;
}

export interface DepartedEvaluation {
  actions: Action[];
  memory: Memory;
  /** Nothing is left of it. */
  done: boolean;
}

/**
 * A Service that is gone although nobody has waited for its load balancer: its finalizer was taken off, or another one has its name by now
 * (contract 2.8). Its CloudLoadBalancer goes, where there is one. Pure.
 * @param observed its CloudProvider is only observed: nothing is said of the Service
 */
export function evaluateDeparted(
  last: LastSeen,
  cloudLoadBalancer: StoredCloudLoadBalancer | undefined,
  observed: boolean,
): DepartedEvaluation {
  const evaluation = decide(last, cloudLoadBalancer);
  return observed ? { ...evaluation, actions: evaluation.actions.filter(isOfOurs) } : evaluation;
}

function decide({ service, memory }: LastSeen, cloudLoadBalancer: StoredCloudLoadBalancer | undefined): DepartedEvaluation {
  const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid) ? cloudLoadBalancer : undefined;
  const said = memory.deleting === true;
  if (owned === undefined) return { actions: said ? [EVENTS.deleted] : [], memory, done: true };
  const actions: Action[] = said ? [] : [EVENTS.deleting];
  if (!isDeleting(owned))
    return { actions: [...actions, { kind: 'Delete', uid: owned.metadata.uid }], memory: { ...memory, deleting: true }, done: false };
  const { failure, current } = readinessOf(owned);
  const news = current && failure !== undefined && memory.failure !== failure.message;
  if (news) actions.push(EVENTS.deleteFailed(failure.message));
  return { actions, memory: { ...memory, deleting: true, ...(news ? { failure: failure.message } : {}) }, done: false };
}
