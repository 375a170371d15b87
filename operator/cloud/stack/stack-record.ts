import { isDeepStrictEqual } from 'node:util';
import {
  ANNOTATIONS,
  type Attempt,
  type Condition,
  type CloudStackSpec,
  type CloudStackStatus,
  type Drift,
  type WaitingPlan,
  CLOUD_STACKS,
} from '../../../crds';
import { currentChange } from '../../base/change';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { KubeApi, Store } from '../../kube/api';
import type { HeldByWindow } from '../plan/approval-gate';
import type { StateHold } from '../../updates/held-writes';
import type { ShownOperations } from '../../updates/plan';
import type { ChangeCounts, StackState, UpdateResult } from '../../updates/update';
import { conditionsOf, DRIFTED, verdictOfError, verdictOfHold, type Verdict } from '../conditions';
import { isLeftover } from '../drift/leftovers';
import { keyOfInput, type MemberInput } from './member-input';
import { RecordWrites } from './record-writes';
import type { PlannedRetry } from './stack-retries';
import type { Stored } from '../stored';

/** The Pulumi project of all our stacks. */
const PROJECT = 'cloud-operator';
const ATTEMPTS_KEPT = 5;
const PLANS_SHOWN = 16;
const DRIFT_SHOWN = 100;
/** Type of the condition, and reason where nothing but missing members is left. */
const MEMBER_MISSING = 'MemberMissing';

export type StoredStack = Stored<CloudStackSpec, CloudStackStatus>;

export interface StackRecordOptions {
  api: KubeApi;
  store: Store<StoredStack>;
  holder: string;
  clock: Clock;
  logger: Logger;
}

interface FailedAttempt {
  error: OperatorError;
  /** When the stack is tried next, where that is known by now. */
  retry?: PlannedRetry;
  /** What the stack has after it; absent = as it was known to be. */
  left?: (Pick<StackState, 'resources'> & Partial<Pick<StackState, 'epoch'>>) | undefined;
}

type Done = ShownOperations & Pick<Attempt, 'cloudCalls'>;

/** Keeps the CloudStack objects: what each stack holds and how its last updates went. People read them; nothing is decided from them but in which cloud a stack is. */
export class StackRecord {
  private readonly known = new Map<string, CloudStackStatus>();
  private readonly writes: RecordWrites;
  /** When the attempts that run now began, by stack, on the monotonic clock: the wall clock may be set meanwhile. */
  private readonly begun = new Map<string, number>();
  /** What the attempts that run have done, by stack. */
  private readonly done = new Map<string, Partial<Done>>();
  /** What is to be said of members that vanished, by stack. */
  private readonly missingMembers = new Map<string, string>();
  /** What waits for a maintenance window, by stack. */
  private readonly windows = new Map<string, HeldByWindow>();
  /** Stacks that are no more, and whose record goes. */
  private readonly ended = new Set<string>();
  /** What records of stacks that are there and have none are to say, until they are there again. */
  private readonly lost = new Map<string, CloudStackSpec>();
  /** Differences that are only reported, by stack. */
  private readonly reportedDrift = new Map<string, Drift[]>();

  constructor(private readonly options: StackRecordOptions) {
    this.writes = new RecordWrites(options, (stack) => this.known.get(stack));
  }

  /** An update of the stack begins. While a failed one is tried again, the conditions go on telling why it failed. */
  started(stack: string, spec: CloudStackSpec, members: string[], { kind, cause }: Pick<Attempt, 'kind' | 'cause'>): void {
    const id = currentChange()?.id;
    const attempt: Attempt = { kind, cause, ...(id === undefined ? {} : { id }), startedAt: this.time(), result: 'Running' };
    this.begun.set(stack, this.options.clock.monotonic());
    this.done.delete(stack);
    const earlier = (this.status(stack).attempts ?? []).map(asEnded);
    const attempts = [attempt, ...earlier].slice(0, ATTEMPTS_KEPT);
    const verdict: Verdict = { state: 'Reconciling', reason: 'Updating', message: `${kind} is running` };
    const again = earlier[0]?.result === 'Failed' && earlier[0].kind === kind;
    this.write(stack, spec, { members, attempts, holder: this.options.holder }, again ? undefined : verdict);
  }

  /** What the attempt that runs did to the cloud, or has begun: written with its end. */
  carriedOut(stack: string, done: Partial<Done>): void {
    this.done.set(stack, { ...this.done.get(stack), ...done });
  }

  /** The attempt that runs waits for the state store, or no longer does. */
  held(stack: string, spec: CloudStackSpec, hold: StateHold | undefined): void {
    const running: Verdict = { state: 'Reconciling', reason: 'Updating', message: 'an update is running' };
    this.write(stack, spec, {}, hold === undefined ? running : verdictOfHold(hold, false));
  }

  succeeded(stack: string, spec: CloudStackSpec, members: string[], result: UpdateResult): void {
    const attempts = this.closeAttempt(stack, {
      result: 'Succeeded',
      durationMs: Math.round(result.durationMs),
      changes: changesText(result.changes),
      cloudCalls: result.cloudCalls,
    });
    const drift = listed(this.drift(stack));
    const fields = { members, attempts, ...contentOf(result), epoch: result.epoch, drift };
    this.write(stack, spec, fields, this.atRest(stack, result.resources.length));
  }

  /** The stack was found as its members ask: written only where the record says otherwise, such as after the end of an operator in between. */
  unchanged(stack: string, spec: CloudStackSpec, members: string[], result: UpdateResult): void {
    const before = this.status(stack);
    const attempts = (before.attempts ?? []).map(asEnded);
    const drift = listed(this.drift(stack));
    const fields = { members, attempts, ...contentOf(result), drift };
    const { conditions = [] } = before;
    const verdict = this.atRest(stack, result.resources.length);
    const expected = verdict.state === 'Ready' ? ['Ready', MEMBER_MISSING, DRIFTED] : ['Ready', verdict.state, MEMBER_MISSING];
    const isSaid = conditions.every(({ type }) => expected.includes(type)) && conditions[0]?.message === verdict.message;
    const known = Object.entries(fields).every(([name, value]) => isDeepStrictEqual(value, before[name as keyof typeof fields]));
    if (known && isSaid && this.options.store.get(stack) !== undefined) return;
    this.write(stack, spec, { ...fields, epoch: result.epoch }, verdict);
  }

  /**
   * A request of an earlier leader was held up on its way and came after ours, which no lease can prevent: what we know is written again.
   * @param stored as the API server has it now
   */
  noticed({ metadata: { name }, spec, status }: StoredStack): void {
    const { holder } = this.options;
    this.lost.delete(name);
    if (this.known.get(name)?.holder === holder && status?.holder !== holder) this.writes.queue(name, spec);
  }

  /**
   * A record is gone. Where somebody has deleted it, it is written again: nothing else says whose stack it is when no object asks for it any more.
   * @param before what it said
   * @returns true when somebody has
   */
  deleted({ metadata: { name }, spec, status = {} }: StoredStack): boolean {
    if (this.ended.delete(name) || isLeftover({ status })) return false;
    this.known.set(name, this.known.get(name) ?? status);
    this.restore(name, spec);
    return true;
  }

  /** Writes the record of a stack that is there and has none. */
  restore(stack: string, spec: CloudStackSpec): void {
    this.lost.set(stack, spec);
    this.write(stack, spec, {});
  }

  /** The CloudProvider of a stack, by its record; undefined where there is none. */
  providerOf(stack: string): string | undefined {
    return (this.options.store.get(stack)?.spec ?? this.lost.get(stack))?.provider;
  }

  /** What people have released, by annotation: UIDs of missing members, or the stack's incarnation for all that it has. */
  released(stack: string): ReadonlySet<string> {
    const text = this.options.store.get(stack)?.metadata.annotations?.[ANNOTATIONS.release] ?? '';
    return new Set(text.split(/[\s,]+/).filter((token) => token !== ''));
  }

  /** What a sweep has found, and whether a person has released it; undefined = something accounts for the stack. */
  leftover(stack: string): 'Kept' | 'Released' | undefined {
    const record = this.options.store.get(stack);
    if (record === undefined || !isLeftover(record)) return undefined;
    return this.released(stack).has(record.status?.incarnation ?? '') ? 'Released' : 'Kept';
  }

  /** These members vanished without a deletion; said in the next status that is written, and at once where nothing else is to be said. */
  missing(stack: string, members: readonly MemberInput[]): void {
    const message = members.length === 0 ? undefined : missingText(stack, members);
    const said = this.status(stack).conditions?.find(({ type }) => type === MEMBER_MISSING)?.message;
    if (message === undefined) this.missingMembers.delete(stack);
    else this.missingMembers.set(stack, message);
    const record = this.options.store.get(stack);
    if (message !== said && record !== undefined) this.write(stack, record.spec, {});
  }

  /** No object asks for the stack any more, but none was deleted either: that needs a person. */
  abandoned(stack: string, missing: readonly MemberInput[]): void {
    const record = this.options.store.get(stack);
    const { members = [], conditions = [], incarnation = '' } = this.status(stack);
    if (record === undefined || isLeftover(record) || conditions.some(({ reason }) => reason === MEMBER_MISSING)) return;
    const who = members.join(', ') || 'its member';
    const release = missing.length > 0 ? missing.map(({ uid }) => uid).join(',') : incarnation;
    const message = `${who} is gone without having been deleted from the cloud, so what the stack has there is kept; ${releaseText(stack, release)}`;
    this.missingMembers.set(stack, message);
    this.write(stack, record.spec, {}, { state: 'Stalled', reason: MEMBER_MISSING, message });
  }

  /** Why nothing is done about a stack, where nobody is a member of it, or not all members can say so. */
  rests(stack: string, verdict: Verdict): void {
    const record = this.options.store.get(stack);
    const said = this.status(stack).conditions?.some(({ type, message }) => type === 'Ready' && message === verdict.message);
    if (record !== undefined && said !== true) this.write(stack, record.spec, {}, { ...verdict, ...this.differing(stack) });
  }

  /** An attempt has failed, or could not begin. */
  failed(stack: string, spec: CloudStackSpec, members: string[], { error, retry, left }: FailedAttempt): void {
    const attempts = this.closeAttempt(stack, {
      result: error.code === 'Canceled' ? 'Canceled' : 'Failed',
      code: error.code,
      message: error.message.slice(0, 1024),
    });
    const fields = { members, attempts, ...(left !== undefined && { ...left, resourceCount: left.resources.length }) };
    this.write(stack, spec, fields, { ...verdictOfError(error, false, retry), ...this.differing(stack) });
  }

  /**
   * These changes wait until a person approves them; none = nothing waits any more.
   * @param held what waits for a window alone; absent = nothing does
   * @returns once that was written, or tried: who is told by an object's condition that something waits shall find it here
   */
  async waiting(stack: string, spec: CloudStackSpec, plans: WaitingPlan[], held?: HeldByWindow): Promise<void> {
    const { plans: before = [], plansOmitted: omittedBefore, resourceCount = 0 } = this.status(stack);
    const news = !isDeepStrictEqual(held, this.windows.get(stack));
    if (held === undefined) this.windows.delete(stack);
    else this.windows.set(stack, held);
    const shown = plans.slice(0, PLANS_SHOWN);
    const plansOmitted = plans.length > PLANS_SHOWN ? plans.length - PLANS_SHOWN : undefined;
    if (isDeepStrictEqual(before, shown) && plansOmitted === omittedBefore) {
      // Once nothing waits any more, an update says what is done; and what is yet to be made has no record.
      if (news && held !== undefined && this.options.store.get(stack) !== undefined)
        this.write(stack, spec, {}, this.atRest(stack, resourceCount));
      return;
    }
    if (plans.length === 0) this.write(stack, spec, { plans: undefined, plansOmitted });
    else this.write(stack, spec, { plans: shown, plansOmitted }, awaiting(shown, plansOmitted, resourceCount > 0));
    await this.writes.tried(stack);
  }

  /** The cloud was changed, and is being brought back. */
  drifted(stack: string, spec: CloudStackSpec, drift: Drift[]): void {
    this.reportedDrift.delete(stack);
    this.write(stack, spec, { drift: listed(drift) }, { state: 'Reconciling', reason: DRIFTED, message: differences(drift) });
  }

  /** The cloud was compared, and what differs is left as it is. @returns true when that is another finding than before */
  reported(stack: string, spec: CloudStackSpec, drift: Drift[]): boolean {
    const before = this.drift(stack);
    this.reportedDrift.set(stack, drift);
    if (isDeepStrictEqual(before, drift)) return false;
    this.write(stack, spec, { drift: listed(drift) }, this.atRest(stack, this.status(stack).resourceCount ?? 0));
    return true;
  }

  /** What differs in the cloud and is left as it is; after a restart, what was found before. */
  drift(stack: string): Drift[] {
    const { conditions = [], drift = [] } = this.status(stack);
    return this.reportedDrift.get(stack) ?? (conditions.some(({ type }) => type === DRIFTED) ? drift : []);
  }

  /** What is said of a stack on which nothing is done. */
  private atRest(stack: string, resources: number): Verdict {
    const { plans = [], plansOmitted } = this.status(stack);
    if (plans.length > 0) return awaiting(plans, plansOmitted, resources > 0);
    const held = this.windows.get(stack);
    if (held !== undefined)
      return { state: 'Reconciling', reason: 'AwaitingWindow', message: `${held.member}: ${held.message}`, serving: resources > 0 };
    return { state: 'Ready', message: inTheCloud(resources), ...this.differing(stack) };
  }

  /** What is said besides of a stack whose cloud differs and is left as it is. */
  private differing(stack: string): Pick<Verdict, 'drifted'> {
    const drift = this.drift(stack);
    return drift.length === 0 ? {} : { drifted: differences(drift) };
  }

  /** The stack is gone from cloud and state. */
  async removed(stack: string): Promise<void> {
    await this.writes.tried(stack);
    // What was just written may not be in the store yet.
    const isWritten = this.known.delete(stack) || this.options.store.get(stack) !== undefined || !this.options.store.synced;
    this.missingMembers.delete(stack);
    this.reportedDrift.delete(stack);
    this.windows.delete(stack);
    this.begun.delete(stack);
    this.done.delete(stack);
    this.lost.delete(stack);
    this.writes.forget(stack);
    if (!isWritten) return;
    this.ended.add(stack);
    await this.options.api.remove(CLOUD_STACKS, stack);
  }

  /** For the end: waits until everything said so far is written, or was tried. */
  flush(): Promise<void> {
    return this.writes.flush();
  }

  private closeAttempt(stack: string, end: Partial<Attempt>): Attempt[] {
    const [newest, ...older] = this.status(stack).attempts ?? [];
    if (newest?.result !== 'Running') return [newest, ...older].filter((attempt) => attempt !== undefined);
    const begun = this.begun.get(stack);
    const durationMs = begun === undefined ? undefined : Math.round(this.options.clock.monotonic() - begun);
    const done = this.done.get(stack);
    this.begun.delete(stack);
    this.done.delete(stack);
    return [{ ...newest, durationMs, ...end, ...done }, ...older];
  }

  private status(stack: string): CloudStackStatus {
    return this.known.get(stack) ?? this.options.store.get(stack)?.status ?? {};
  }

  /** @param verdict absent = as it was */
  private write(stack: string, spec: CloudStackSpec, fields: Partial<Record<keyof CloudStackStatus, unknown>>, verdict?: Verdict): void {
    this.ended.delete(stack);
    const before = this.status(stack);
    const generation = this.options.store.get(stack)?.metadata.generation ?? 1;
    const merged = {
      ...before,
      ...fields,
      observedGeneration: generation,
      conditions: this.conditions(stack, verdict, generation, before.conditions),
    };
    const status = JSON.parse(
      JSON.stringify({ ...merged, lastAttempt: attemptText((merged as CloudStackStatus).attempts?.[0]) }),
    ) as CloudStackStatus;
    this.known.set(stack, status);
    this.writes.queue(stack, spec);
  }

  /** @param verdict absent = as it was */
  private conditions(stack: string, verdict: Verdict | undefined, generation: number, before: readonly Condition[] = []): Condition[] {
    const said = before.find(({ type }) => type === MEMBER_MISSING);
    const own = verdict === undefined ? before.filter((one) => one !== said) : conditionsOf(verdict, generation, before, this.time());
    const message = this.missingMembers.get(stack);
    if (message === undefined) return own;
    const lastTransitionTime = said?.lastTransitionTime ?? this.time();
    const missing = { type: MEMBER_MISSING, status: 'True', reason: 'Vanished', observedGeneration: generation } as const;
    return [...own, { ...missing, message, lastTransitionTime }];
  }

  private time(): string {
    return new Date(this.options.clock.now()).toISOString();
  }
}

/** Spec of the CloudStack of a provider's stack. Pure. */
export function stackSpec(provider: string, kind: CloudStackSpec['kind']): CloudStackSpec {
  return { provider, kind, project: PROJECT };
}

/** `+2 ~1 -0 =3`: created, updated or replaced, deleted, unchanged. */
export function changesText(changes: ChangeCounts): string {
  return `+${changes.create} ~${changes.update + changes.replace} -${changes.delete} =${changes.same}`;
}

/** What a stack is by now. */
function contentOf({ inputsHash, incarnation, programVersion, plugin, resources }: UpdateResult): Partial<CloudStackStatus> {
  return { inputsHash, incarnation, programVersion, plugin, resources, resourceCount: resources.length };
}

/** An attempt that runs no longer, because the operator that ran it has ended. */
function asEnded(attempt: Attempt): Attempt {
  return attempt.result === 'Running' ? { ...attempt, result: 'Canceled', message: 'the operator that ran it has ended' } : attempt;
}

function awaiting([first, ...others]: readonly WaitingPlan[], omitted: number | undefined, serving: boolean): Verdict {
  const count = others.length + (omitted ?? 0);
  const more = count > 0 ? `, and ${count} more` : '';
  const message = `A change of ${first?.member ?? ''} waits for approval: ${first?.summary ?? ''}${more}; see status.plans`;
  return { state: 'Reconciling', reason: 'AwaitingApproval', message, serving };
}

/** How much the cloud differs, in words. */
export function differences(drift: readonly Drift[]): string {
  return `${drift.length} difference${drift.length === 1 ? '' : 's'} between the cloud and what is wanted`;
}

function listed(drift: readonly Drift[]): Drift[] | undefined {
  return drift.length === 0 ? undefined : drift.slice(0, DRIFT_SHOWN);
}

function inTheCloud(resources: number): string {
  return `${resources} resource${resources === 1 ? '' : 's'} in the cloud`;
}

function attemptText(attempt: Attempt | undefined): string | undefined {
  if (attempt === undefined) return undefined;
  const took = attempt.durationMs === undefined ? '' : ` in ${(attempt.durationMs / 1000).toFixed(1)} s`;
  const why = attempt.cause === 'Drift' || attempt.cause === 'Upgrade' ? ` (${attempt.cause.toLowerCase()})` : '';
  return [`${attempt.kind}${why} ${attempt.result}${took}`, attempt.changes ?? attempt.code]
    .filter((part) => part !== undefined)
    .join(', ');
}

function missingText(stack: string, members: readonly MemberInput[]): string {
  const who = members.map(keyOfInput).join(', ');
  const uids = members.map(({ uid }) => uid).join(',');
  return `${who} is gone without having been deleted from the cloud; what it has there goes on as it was. ${releaseText(stack, uids)}`;
}

/** How a person has what a CloudStack stands for deleted from the cloud. Pure. */
export function releaseText(stack: string, token: string): string {
  return `If nobody needs it: kubectl annotate cloudstack ${stack} --overwrite ${ANNOTATIONS.release}=${token}`;
}
