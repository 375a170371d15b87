import { SERVICE_READY_CONDITION, SERVICE_STALLED_CONDITION } from '../../crds';
import type { KubeMeta, KubeObject } from '../kube/object';

/** An object that says by conditions how it is: of one of our kinds, or a Service. */
export interface Judged extends KubeObject {
  status?: { conditions?: readonly JudgedCondition[] | undefined } | undefined;
}

interface JudgedCondition {
  type: string;
  status: string;
  reason?: string | undefined;
  /** RFC 3339. */
  lastTransitionTime?: string | undefined;
}

/** How an object is, as kstatus reads it. */
export interface ObjectState {
  state: 'Ready' | 'Reconciling' | 'Stalled';
  reason: string;
  /** Since when it has not been as its spec asks, in milliseconds since 1970; absent = it is, it is being deleted, or somebody wants it to wait. */
  unsettledSince?: number;
}

/** What a lever or a policy makes wait, of the object or of one that it can't go on without (docs/operate/levers.md). */
const MEANT: ReadonlySet<string> = new Set(['Frozen', 'Paused', 'Observed', 'AwaitingApproval', 'StackAwaitingApproval', 'AwaitingWindow']);

/** The conditions that say how an object is; Stalled and Reconciling only where they are True. */
interface Said {
  ready?: JudgedCondition | undefined;
  stalled?: JudgedCondition | undefined;
  reconciling?: JudgedCondition | undefined;
}

/** Whether an object says that it is Ready: a Service by our condition, which stands beside those of others. Pure. */
export function isReady({ kind, status }: Judged): boolean {
  return isTrue(saidIn(status?.conditions ?? [], typesOf(kind)).ready);
}

/** What an object's conditions say; undefined = a Service of which we have said nothing. Pure. */
export function stateOf({ kind, metadata, status }: Judged): ObjectState | undefined {
  const said = saidIn(status?.conditions ?? [], typesOf(kind));
  return kind === SERVICE && said.ready === undefined ? undefined : judge(metadata, said);
}

function judge({ creationTimestamp, deletionTimestamp }: KubeMeta, said: Said): ObjectState {
  const { state, reason } = wordsOf(said);
  const waits = state === 'Reconciling' && MEANT.has(reason);
  if (state === 'Ready' || waits || deletionTimestamp !== undefined) return { state, reason };
  // What nobody has looked at yet has the time that the schema gives.
  return { state, reason, unsettledSince: Math.max(sinceOf(said), Date.parse(creationTimestamp)) };
}

function wordsOf({ ready, stalled, reconciling }: Said): Pick<ObjectState, 'state' | 'reason'> {
  const reason = (stalled ?? reconciling ?? ready)?.reason ?? 'Queued';
  if (stalled !== undefined) return { state: 'Stalled', reason };
  return { state: reconciling === undefined && isTrue(ready) ? 'Ready' : 'Reconciling', reason };
}

const SERVICE = 'Service';
const OF_OURS = { ready: 'Ready', stalled: 'Stalled', reconciling: 'Reconciling' };
const OF_SERVICES = { ready: SERVICE_READY_CONDITION, stalled: SERVICE_STALLED_CONDITION, reconciling: undefined };

function typesOf(kind: string): Record<keyof Said, string | undefined> {
  return kind === SERVICE ? OF_SERVICES : OF_OURS;
}

function saidIn(conditions: readonly JudgedCondition[], types: Record<keyof Said, string | undefined>): Said {
  const find = (type: string | undefined): JudgedCondition | undefined => conditions.find((condition) => condition.type === type);
  const [stalled, reconciling] = [find(types.stalled), find(types.reconciling)].map((one) => (isTrue(one) ? one : undefined));
  return { ready: find(types.ready), stalled, reconciling };
}

/** The first time of what is not as it should be, in milliseconds since 1970; 0 = none is said. */
function sinceOf({ ready, stalled, reconciling }: Said): number {
  const wrong = [stalled, reconciling, isTrue(ready) ? undefined : ready];
  const times = wrong.flatMap((one) => (one?.lastTransitionTime === undefined ? [] : [Date.parse(one.lastTransitionTime)]));
  return times.length === 0 ? 0 : Math.min(...times);
}

function isTrue(condition: JudgedCondition | undefined): boolean {
  return condition?.status === 'True';
}
