import { parseDuration } from '../../base/duration';
import { type OperatorError, toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { EventRecorder, Store } from '../../kube/api';
import { keyOf } from '../../kube/object';
import type { Updates } from '../../updates/update';
import type { Verdict } from '../conditions';
import { keepsTargets } from '../targets/keeps-targets';
import { generationOf, isUndated, leftBehind, retirementIn, stamped } from '../plan/generation';
import { isPromised } from '../plan/promise';
import type { Retirements } from '../plan/retirements';
import type { CloudRegistry, ConnectedCloud } from '../providers/registry';
import { type CandidateHolds, versionOf } from './candidate-holds';
import type { TrialResult } from './isolate';
import { keyOfInput, type MemberInput } from './member-input';
import type { MemberReports } from './member-reports';
import type { StackIndex } from './stack-index';
import type { Member, Settled, Settlement, StackKind } from './stack-kind';
import { acceptedOf, inputOfPart, inputsOf, type UpdatePlan } from './stack-parts';
import type { Part } from './stack-plan';
import { differences, type StackRecord } from './stack-record';

export interface StackSettlingOptions<O extends Member> {
  kind: StackKind<O>;
  store: Store<O>;
  index: Pick<StackIndex, 'formersOf' | 'tell'>;
  registry: CloudRegistry;
  record: Pick<StackRecord, 'drift'>;
  events: EventRecorder;
  reports: MemberReports<O>;
  holds: CandidateHolds;
  /** Asks for another pass over a stack after so many milliseconds. */
  again: (stack: string, afterMs: number) => void;
  retirements: Retirements;
  updates: Pick<Updates, 'amend'>;
  isValid: () => boolean;
  logger: Logger;
}

/** What comes after an update, or after it was found that none is needed: targets, statuses, and what waits. */
export class StackSettling<O extends Member> {
  private readonly unsettled = new WeakMap<OperatorError, O[]>();
  private readonly reports: MemberReports<O>;
  private readonly holds: CandidateHolds;

  constructor(private readonly options: StackSettlingOptions<O>) {
    this.reports = options.reports;
    this.holds = options.holds;
  }

  /** Whom a failure concerns that `settle` has thrown; undefined = it is not from there. */
  concernedBy(error: OperatorError): O[] | undefined {
    return this.unsettled.get(error);
  }

  /** After the update: targets, statuses, and what waits now. @throws OperatorError the first failure; the others' statuses are right by then */
  async settle(plan: UpdatePlan<O>, { failed }: TrialResult<Part<O>, unknown>, settlement: Settlement): Promise<void> {
    const { stack, cloud, result } = settlement;
    this.reports.know(stack, { stack, cloud, state: result });
    const failures: { object: O; error: OperatorError }[] = [];
    const attempted = async (object: O, work: Promise<void>): Promise<void> => {
      await work.catch((thrown: unknown) => failures.push({ object, error: toOperatorError(thrown) }));
    };
    const errors = new Map(failed.map(({ candidate, error }) => [candidate, error]));
    for (const part of plan.parts) await attempted(part.object, this.settleOne(part, errors.get(part), settlement));
    for (const input of [...plan.missing, ...plan.elsewhere.filter((one) => keepsTargets(one, cloud.name, this.options))].filter(
      (one) => !isPromised(one),
    )) {
      await this.options.kind.keep(settlement, input).catch((thrown: unknown) => {
        this.options.logger.warn({ stack, member: keyOfInput(input), error: toOperatorError(thrown).message }, 'targets not kept');
      });
    }
    const succeeded = plan.parts.filter((part) => !errors.has(part));
    await this.date(
      stack,
      inputsOf(plan, plan.parts).filter(({ uid }) => !failures.some(({ object }) => object.metadata.uid === uid)),
      cloud,
    );
    this.retireLater(plan, settlement, succeeded);
    const [first] = failures;
    if (first === undefined) return;
    this.unsettled.set(
      first.error,
      failures.map(({ object }) => object),
    );
    throw first.error;
  }

  /** Clients are sent to the new generations now: from here on the old ones stay for `retireAfter`, however long the update took. */
  private async date(stack: string, inputs: readonly MemberInput[], cloud: ConnectedCloud): Promise<void> {
    const switched = new Set(inputs.filter(isUndated).map(({ uid }) => uid));
    if (switched.size === 0 || !this.options.isValid()) return;
    await this.options.updates.amend(stack, (accepted) => {
      const made = Object.values(accepted) as unknown as MemberInput[];
      if (!made.some((input) => switched.has(input.uid) && isUndated(input))) return accepted;
      const until = this.options.retirements.begin(parseDuration(cloud.spec.retireAfter));
      return acceptedOf(made.map((input) => (switched.has(input.uid) ? stamped(input, until) : input)));
    });
  }

  /**
   * Has the stack looked at again when the old generation of a replacement may go, and all that had its members before at once: one that moved on has
   * left several behind, and some of them were not known when it was made here.
   */
  private retireLater(plan: UpdatePlan<O>, { stack, cloud }: Settlement, succeeded: readonly Part<O>[]): void {
    const { index } = this.options;
    const formers = succeeded.flatMap(({ candidate, object }) => {
      const key = keyOf(object.metadata);
      const last = leftBehind(candidate);
      if (last !== undefined) return [last, ...index.formersOf(key)];
      return candidate === undefined ? [] : index.tell(stack, key, generationOf(candidate));
    });
    new Set(formers).forEach((former) => this.options.again(former, 0));
    const retireAfterMs = parseDuration(cloud.spec.retireAfter);
    const left = this.options.retirements.within(retireAfterMs);
    const delays = inputsOf(plan, plan.parts).flatMap((input) => retirementIn(input, left, retireAfterMs) ?? []);
    if (delays.length > 0) this.options.again(stack, Math.min(...delays));
  }

  private async settleOne(part: Part<O>, failure: OperatorError | undefined, settlement: Settlement): Promise<void> {
    const { object, candidate } = part;
    const { stack } = settlement;
    const input = inputOfPart(part, failure === undefined);
    if (candidate !== undefined && failure === undefined) this.reached(stack, part);
    const settled = input === undefined ? undefined : await this.settleInput(settlement, part, input);
    if (settled?.againMs !== undefined) this.options.again(stack, settled.againMs);
    if (failure !== undefined) return this.hold(settlement, part, failure);
    const verdict = this.withDrift(stack, part.verdict ?? settled?.verdict);
    if (verdict !== undefined)
      await this.reports.report(object, settled?.fields ?? { ...this.reports.kept(stack, object), stack }, verdict);
  }

  /** The candidate is what the stack has now, or, of a move that deletes first, what it has promised to make. */
  private reached(stack: string, { object, candidate, verdict }: Part<O>): void {
    this.holds.clear(object.metadata.uid);
    if (isPromised(candidate)) this.options.events.event(object, 'Normal', 'Replacing', verdict?.message ?? '');
    else this.reports.arrived(stack, object.metadata.uid);
  }

  /** What the stack has of a member that another one has a newer generation of is kept, but not what the status speaks of. */
  private async settleInput(settlement: Settlement, { object, targets }: Part<O>, input: MemberInput): Promise<Settled | undefined> {
    if (isPromised(input)) return undefined;
    if (!this.reports.isElsewhere(settlement.stack, object.metadata.uid)) {
      return this.options.kind.settle({ ...settlement, targets: targets !== 'Kept' }, object, input);
    }
    if (targets !== 'Kept') await this.options.kind.keep(settlement, input);
    return undefined;
  }

  /** What is said, with what the cloud was found to have besides. */
  withDrift<V extends Verdict | undefined>(stack: string, verdict: V): V {
    const drifted = this.driftOf(stack);
    return verdict === undefined || drifted === undefined ? verdict : { ...verdict, drifted };
  }

  /** In words what the cloud was found to have besides; undefined = nothing. */
  driftOf(stack: string): string | undefined {
    const drift = this.options.record.drift(stack);
    return drift.length === 0 ? undefined : `${differences(drift)}: kubectl get cloudstack ${stack} -o yaml`;
  }

  /** The object's spec failed, and waits for its turn; it goes on with its accepted input. */
  private async hold({ stack, cloud }: Settlement, { object, candidate }: Part<O>, failure: OperatorError): Promise<void> {
    const version = versionOf(candidate ?? this.options.kind.inputOf(object), object, cloud);
    const retry = this.holds.fail(object.metadata.uid, version, failure);
    this.options.logger.warn(
      { stack, member: keyOf(object.metadata), code: failure.code, error: failure.message, delay: retry.delayMs },
      'candidate held',
    );
    this.options.again(stack, retry.delayMs);
    await this.reports.fail(stack, [object], { error: failure, retry });
  }
}
