import { type Condition, SERVICE_READY_CONDITION, SERVICE_STALLED_CONDITION } from '../../../crds';
import { hashJson } from '../../base/json';
import type { Service } from '../../kube/object';
import type { StoredCloudLoadBalancer } from '../kinds';
import { type Readiness, readinessOf } from '../readiness';
import { type Action, type Evaluation, EVENTS, isOfOurs, type Memory } from './actions';
import { type Claim, LEFT_TO_OTHER } from './claim';
import { bodyOf, type CloudLoadBalancerBody, isOwnedBy, isUpToDate } from './cloud-load-balancer';
import { isPublished, wantedIngress } from './ingress';
import {
  addFinalizerPatch,
  conditionOf,
  releasePatch,
  SERVICE_WARNING_CONDITION,
  silencePatch,
  statusPatch,
  type WantedStatus,
} from './patches';
import type { Problem } from './problem';
import { isDeleting, isLoadBalancer } from './rules';
import { inServiceWords, readinessInServiceWords } from './service-words';

/** Reasons of a CloudLoadBalancer's Ready that are not mirrored: they pass by, and each would be a write of its own to the Service. */
const IN_PROGRESS = new Set(['Updating', 'Deleting']);

/** Everything that a decision about one Service rests on. */
export interface Gathered {
  service: Service;
  /** Whatever has the Service's name, ours or not. */
  cloudLoadBalancer: StoredCloudLoadBalancer | undefined;
  claim: Claim;
  /** Its CloudProvider is only observed: nothing is written to the Service. */
  observed: boolean;
  /** Nodes that may take traffic (contract 2.9). */
  hasNodes: boolean;
  memory: Memory;
  /** RFC 3339. */
  now: string;
}

/** Decides what a pass does for one Service; of one that is only observed, what is done to our own kind. Pure. */
export function evaluate(gathered: Gathered): Evaluation {
  const evaluation = decide(gathered);
  return gathered.observed ? { actions: evaluation.actions.filter(isOfOurs), memory: gathered.memory } : evaluation;
}

function decide(gathered: Gathered): Evaluation {
  const { service, cloudLoadBalancer, claim } = gathered;
  const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid) ? cloudLoadBalancer : undefined;
  if (isDeleting(service) || !isLoadBalancer(service)) return cleanUp(gathered, owned);
  if (claim.kind === 'Foreign') return leave(gathered);
  const ours = { ...gathered, memory: without(gathered.memory, 'others') };
  if (owned !== undefined && isDeleting(owned)) return waitUntilGone(ours, owned);
  if (owned === undefined && cloudLoadBalancer !== undefined) return nameTaken(ours, cloudLoadBalancer);
  return claim.kind === 'Held' ? hold(ours, owned, claim) : ensure(ours, owned, claim);
}

/** The class is remembered: it goes with the type LoadBalancer. */
function leave({ service, cloudLoadBalancer, memory, now }: Gathered): Evaluation {
  // What it was to be left for is gone. Ready stays: by that the finalizer is known to be ours.
  const isLeft = cloudLoadBalancer === undefined && conditionOf(service, SERVICE_STALLED_CONDITION)?.reason === LEFT_TO_OTHER;
  return {
    actions: isLeft ? patchStatus(statusPatch(service, { stalled: null }, now)) : [],
    memory: service.spec.loadBalancerClass === undefined ? memory : { ...memory, others: true },
  };
}

/**
 * What is to be said of a failure that the API server or we found: the event once per message, and the condition.
 * The CloudLoadBalancer and its ingress stay as they are.
 * @param problem `stalled`: only a person can help
 */
export function reportFailure(
  gathered: Gathered,
  owned: StoredCloudLoadBalancer | undefined,
  { stalled, ...problem }: Problem & { stalled: boolean },
): Evaluation {
  const { memory, said } = sayOnce(gathered, problem.message);
  const wanted: WantedStatus = { ready: { status: 'False', ...problem }, stalled: stalled ? { status: 'True', ...problem } : null };
  const { actions, memory: after } = status({ ...gathered, memory }, owned, wanted);
  return { actions: [...said, ...actions], memory: after };
}

function cleanUp(gathered: Gathered, owned: StoredCloudLoadBalancer | undefined): Evaluation {
  const { service, memory } = gathered;
  if (owned !== undefined && isDeleting(owned)) return waitUntilGone(gathered, owned);
  if (owned === undefined && isOthers(gathered)) return { actions: [], memory };
  if (owned !== undefined) {
    const said = memory.deleting === true ? [] : [EVENTS.deleting];
    return { actions: [...said, { kind: 'Delete', uid: owned.metadata.uid }], memory: { ...memory, deleting: true } };
  }
  const patch = releasePatch(service);
  if (patch !== undefined) {
    // What was published here was made here, or taken over.
    const asks = memory.published === undefined && !isPublished(service);
    return { actions: [{ kind: 'Release', patch, asks }], memory: without(memory, 'pending', 'ensuring', 'deleting') };
  }
  const said: Action[] = memory.deleting === true ? [EVENTS.deleted] : [];
  return { actions: [...said, ...patchStatus(silencePatch(service))], memory: without(memory, 'deleting') };
}

/**
 * A Service of a class that nobody here claims, which we have never had: its finalizer, named as ours is, is the other controller's promise
 * (field case R-06). One that we had, under a CloudProvider that claimed its class then, bears our condition.
 */
function isOthers({ service, claim, memory }: Gathered): boolean {
  const known = memory.deleting === true || memory.ensuring !== undefined || conditionOf(service, SERVICE_READY_CONDITION) !== undefined;
  const others = isLoadBalancer(service)
    ? service.spec.loadBalancerClass !== undefined && claim.kind === 'Foreign'
    : memory.others === true;
  return others && !known;
}

/** The CloudLoadBalancer is on its way out: nothing to do but to tell a failure. */
function waitUntilGone(gathered: Gathered, owned: StoredCloudLoadBalancer): Evaluation {
  const { failure, current } = readinessInServiceWords(gathered.service, readinessOf(owned));
  // What it said before its deletion is not about the deletion.
  if (failure === undefined || !current) return { actions: [], memory: gathered.memory };
  return reportFailure(gathered, owned, { ...failure, message: `failed to delete load balancer: ${failure.message}` });
}

/** Never taken over: identity is the UID, not the name. Said only when the other one isn't on its way out already. */
function nameTaken(gathered: Gathered, other: StoredCloudLoadBalancer): Evaluation {
  const { namespace, name } = other.metadata;
  const leaving = isDeleting(other);
  const message = leaving
    ? `CloudLoadBalancer ${namespace}/${name} of an earlier owner is being deleted; this Service gets its own when that is gone`
    : `CloudLoadBalancer ${namespace}/${name} was not made for this Service and is not taken over; delete or rename one of the two`;
  const memory = leaving ? { ...gathered.memory, failure: message } : gathered.memory;
  return reportFailure({ ...gathered, memory }, undefined, { reason: 'NameTaken', message, stalled: !leaving });
}

/** Something is wrong with the input, or nobody can take it now: the last good CloudLoadBalancer keeps serving, untouched. */
function hold(gathered: Gathered, owned: StoredCloudLoadBalancer | undefined, claim: Claim & { kind: 'Held' }): Evaluation {
  const { actions, memory } = reportFailure(gathered, owned, { ...claim.problem, stalled: claim.passes !== true });
  return { actions: claim.retry ? [...actions, { kind: 'Retry' }] : actions, memory };
}

function ensure(gathered: Gathered, owned: StoredCloudLoadBalancer | undefined, claim: Claim & { kind: 'Wanted' }): Evaluation {
  const { service } = gathered;
  const body = bodyOf(service, claim, owned);
  const patch = addFinalizerPatch(service);
  const addFinalizer: Action[] = patch === undefined ? [] : [{ kind: 'AddFinalizer', patch }];
  const warning = warningOf([...claim.warnings, ...warningsOf(service, owned)]);
  const told = warningEvents(service, warning);
  if (owned !== undefined && isUpToDate(owned, body, service.metadata.uid)) {
    const settled = observe(gathered, owned, warning);
    return { ...settled, actions: [...addFinalizer, ...told, ...settled.actions] };
  }
  return apply(gathered, owned, { body, addFinalizer: [...addFinalizer, ...told], warning });
}

function apply(
  gathered: Gathered,
  owned: StoredCloudLoadBalancer | undefined,
  wanted: { body: CloudLoadBalancerBody; addFinalizer: Action[]; warning: WantedStatus },
): Evaluation {
  const hash = hashJson(wanted.body.spec);
  const withoutNodes = !gathered.hasNodes;
  const { memory } = gathered;
  const deleted = memory.deleting === true ? [EVENTS.deleted] : [];
  const first = memory.ensuring !== hash;
  const restored = status({ ...gathered, memory: without(memory, 'deleting') }, owned, wanted.warning);
  const actions: Action[] = [
    ...deleted,
    ...(first ? [EVENTS.ensuring] : []),
    ...wanted.addFinalizer,
    ...(first && withoutNodes ? [EVENTS.withoutNodes] : []),
    ...restored.actions,
    { kind: 'Apply', body: wanted.body },
  ];
  return { actions, memory: { ...restored.memory, ensuring: hash, withoutNodes, pending: true } };
}

/** The CloudLoadBalancer says what we want: tell what became of it. */
function observe(gathered: Gathered, owned: StoredCloudLoadBalancer, warning: WantedStatus): Evaluation {
  const { objectUID } = owned.status ?? {};
  const foreign = objectUID !== undefined && objectUID !== owned.metadata.uid;
  const readiness: Readiness = foreign ? { current: false, settled: false } : readinessInServiceWords(gathered.service, readinessOf(owned));
  const spoken = speak(gathered, readiness);
  const ready = readiness.current && !IN_PROGRESS.has(readiness.ready?.reason ?? '') ? readiness.ready : undefined;
  const mirrored = ready === undefined ? {} : mirror(ready, readiness);
  const written = status({ ...gathered, memory: spoken.memory }, owned, { ...mirrored, ...warning });
  return { actions: [...spoken.actions, ...written.actions], memory: written.memory };
}

function mirror({ status: isReady, reason, message }: Condition, { failure }: Readiness): WantedStatus {
  const stalled = failure?.stalled === true ? ({ status: 'True', reason: failure.reason, message: failure.message } as const) : null;
  return { ready: { status: isReady, reason, message }, stalled };
}

/** The events that a CloudLoadBalancer's own conditions call for. */
function speak(gathered: Gathered, readiness: Readiness): Evaluation {
  const withoutNodes = !gathered.hasNodes;
  const lost: Action[] = withoutNodes && gathered.memory.withoutNodes === false ? [EVENTS.withoutNodes] : [];
  const memory: Memory = { ...gathered.memory, withoutNodes };
  const held = heldUp(readiness);
  if (held !== undefined) {
    const said = sayOnce({ ...gathered, memory }, held, `failed to ensure load balancer: ${held}`);
    return { actions: [...lost, ...said.said], memory: said.memory };
  }
  if (!readiness.settled) return { actions: lost, memory };
  const news = memory.pending === true || conditionOf(gathered.service, SERVICE_READY_CONDITION)?.status !== 'True';
  return { actions: [...lost, ...(news ? [EVENTS.ensured] : [])], memory: without(memory, 'pending', 'failure') };
}

/** Why its load balancer is not brought up to date: that failed, or a person has to approve it first, whoever asks for it. */
function heldUp({ current, failure, ready }: Readiness): string | undefined {
  if (!current) return undefined;
  return failure?.message ?? (ready?.reason === 'AwaitingApproval' ? ready.message : undefined);
}

/** A failure is told once per distinct message; after a restart the condition shows what was told before. */
function sayOnce(gathered: Gathered, message: string, error = message): { memory: Memory; said: Action[] } {
  const known = gathered.memory.failure === message || conditionOf(gathered.service, SERVICE_READY_CONDITION)?.message === message;
  return { memory: { ...gathered.memory, failure: message }, said: known ? [] : [EVENTS.failed(error)] };
}

function status(gathered: Gathered, owned: StoredCloudLoadBalancer | undefined, wanted: WantedStatus): Evaluation {
  const { service, claim, memory, now } = gathered;
  const isLeft = claim.kind === 'Held' && claim.left === true;
  const ingress = isLeft ? undefined : wantedIngress(service, owned, memory.published);
  const patch = statusPatch(service, { ...wanted, ...(ingress === undefined ? {} : { ingress }) }, now);
  return {
    actions: patchStatus(patch),
    memory: ingress === undefined ? memory : { ...memory, published: ingress },
  };
}

function patchStatus(patch: object | undefined): Action[] {
  return patch === undefined ? [] : [{ kind: 'PatchStatus', patch }];
}

/** What the CloudLoadBalancer warns of. */
function warningsOf(service: Service, owned: StoredCloudLoadBalancer | undefined): Problem[] {
  const conditions = owned?.status?.conditions ?? [];
  return conditions
    .filter(({ type }) => type === 'Warning')
    .map(({ reason, message }) => ({ reason, message: inServiceWords(service, message) }));
}

function warningOf(warnings: Problem[]): WantedStatus {
  const [first] = warnings;
  if (first === undefined) return { warning: null };
  const message = warnings.map(({ message: text }) => text).join('; ');
  return { warning: { status: 'True', reason: first.reason, message } };
}

/** `kubectl describe service` shows Events, but no conditions: what the condition says for the first time is also told so. */
function warningEvents(service: Service, { warning }: WantedStatus): Action[] {
  if (warning === undefined || warning === null || conditionOf(service, SERVICE_WARNING_CONDITION)?.message === warning.message) return [];
  return [{ kind: 'Event', type: 'Warning', reason: warning.reason, message: warning.message }];
}

function without<Key extends keyof Memory>(memory: Memory, ...keys: Key[]): Memory {
  return Object.fromEntries(Object.entries(memory).filter(([key]) => !keys.includes(key as Key))) as unknown as Memory;
}
