import { toOperatorError, type OperatorError } from '../../base/errors';
import type { StackState, UpdateResult } from '../../updates/update';
import type { FoundDrift } from '../drift/found-drift';
import type { CloudRegistry, ConnectedCloud } from '../providers/registry';
import { isPermission } from './blame';
import { versionOf, type CandidateHolds } from './candidate-holds';
import { isolate, type TrialResult } from './isolate';
import type { MemberInput } from './member-input';
import type { MemberReports } from './member-reports';
import type { Member, StackKind } from './stack-kind';
import { inputsOf, mayExist, standingOf, suspectsOf, type UpdatePlan } from './stack-parts';
import type { Part } from './stack-plan';
import type { Ran, StackRuns } from './stack-runs';
import { isOfTheStore } from './state-reads';
import { stuckIn } from './stuck';
import { togetherOf, type Takeovers } from './takeovers';

export interface UpdateAttemptsOptions<O extends Member> {
  kind: StackKind<O>;
  registry: Pick<CloudRegistry, 'accounts'>;
  runs: StackRuns<O>;
  drift: FoundDrift<O>;
  holds: CandidateHolds;
  reports: MemberReports<O>;
}

/** How an update is carried out. */
export interface Trial {
  cloud: ConnectedCloud;
  /** As it was before. */
  state: StackState | undefined;
  /** Only this operator's newer program asks for it. */
  upgrading: boolean;
  takeovers?: Takeovers | undefined;
  /** Hash of the plan that it must be. */
  approved: string | undefined;
  /** UIDs of the owners whose own resources it may replace; undefined = everything. */
  replaces: readonly string[] | undefined;
}

/** What became of it. */
export interface Attempted<O> extends TrialResult<Part<O>, UpdateResult> {
  /** False when there was nothing to do. */
  engine: boolean;
  /** All is done but some deletions, and whose these are of those that leave: they wait, and nobody else does. */
  undeleted?: { error: OperatorError; stuck: O[] };
}

/** Brings a stack to as much of a plan as the cloud takes, in as many runs as that needs. */
export class UpdateAttempts<O extends Member> {
  /** Failures that concern some of a stack's members only. */
  private readonly concerned = new WeakMap<OperatorError, O[]>();
  /** Stacks in whose newest run not all could be deleted that is to go. */
  private readonly unfinished = new Set<string>();

  constructor(private readonly options: UpdateAttemptsOptions<O>) {}

  /** Whom a failure concerns that `bring` has thrown; undefined = all members, or it is not from there. */
  concernedBy(error: OperatorError): O[] | undefined {
    return this.concerned.get(error);
  }

  /** @throws OperatorError the failure, where it is no candidate's, or leaving candidates out does not help */
  async bring(stack: string, plan: UpdatePlan<O>, how: Trial): Promise<Attempted<O>> {
    let engine = false;
    let undeleted: OperatorError | undefined;
    const standing = standingOf(plan);
    const isAnythingLeft = inputsOf(plan, []).length + plan.leaving.length + plan.departing.length > 0;
    const trial = await isolate<Part<O>, UpdateResult>({
      suspects: suspectsOf(plan).filter((part) => !standing.includes(part)),
      isOwn: (error) => plan.parts.length > 1 && isPermission(error, how.cloud.name, this.options.registry.accounts),
      restorable: (error) => !awaitsItsOwn(error, plan) && (isAnythingLeft || this.takesOver(stack, plan)),
      attempt: async (chosen) => {
        const ran = await this.attempt(stack, plan, [...standing, ...chosen], how);
        engine ||= ran.engine;
        undeleted = ran.undeleted;
        return ran.result;
      },
      attribute: (error, chosen) => {
        const uids = this.options.kind.attribute(error, inputsOf(plan, [...standing, ...chosen]), how.cloud);
        return chosen.filter(({ object }) => uids.includes(object.metadata.uid));
      },
    });
    if (undeleted === undefined) this.unfinished.delete(stack);
    else this.unfinished.add(stack);
    return { ...trial, engine, ...(undeleted !== undefined && { undeleted: this.stuck(undeleted, plan, how.cloud) }) };
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.unfinished.delete(stack);
  }

  private stuck(error: OperatorError, plan: UpdatePlan<O>, cloud: ConnectedCloud): { error: OperatorError; stuck: O[] } {
    const { kind } = this.options;
    const ownersOf = (failure: OperatorError, inputs: MemberInput[]): string[] => kind.attribute(failure, inputs, cloud);
    const stuck = stuckIn(error, plan, { inputOf: (object) => kind.inputOf(object), ownersOf });
    this.concerned.set(error, stuck);
    return { error, stuck };
  }

  private attempt(
    stack: string,
    plan: UpdatePlan<O>,
    chosen: readonly Part<O>[],
    { cloud, state, approved, replaces, upgrading, takeovers }: Trial,
  ): Promise<Ran> {
    const { drift, runs } = this.options;
    const inputs = inputsOf(plan, chosen);
    const healing = drift.has(stack);
    const damaged = drift.concerned(stack, inputs, cloud);
    const parts = plan.parts.filter((part) => chosen.includes(part) || damaged.includes(part.object.metadata.uid));
    // Whoever has what it asks for has no part in it when deletions are tried again.
    const isConcerned = (part: Part<O>): boolean => !this.unfinished.has(stack) || healing || suspectsOf(plan).includes(part);
    const objects = parts.filter((part) => !this.hasFailed(part, cloud) && isConcerned(part)).map(({ object }) => object);
    // Without its candidate, an update is not what was approved, but the way back.
    const asApproved = approved === undefined || chosen.length < suspectsOf(plan).length ? {} : { approved };
    const adopted = togetherOf(takeovers, inputs);
    const asks = suspectsOf(plan).some((part) => chosen.includes(part));
    const how = { ...asApproved, asks, replaces, force: healing, healing, upgrading, adopted, mayExist: mayExist(plan) };
    return runs.run(stack, { ...runs.of(stack, inputs, cloud), objects, ...how }, cloud).catch((thrown: unknown) => {
      const error = toOperatorError(thrown);
      const asking = [...parts.map(({ object }) => object), ...plan.leaving];
      if (isOfTheStore(error)) this.concerned.set(error, [...objects, ...plan.leaving]);
      else if (asking.length > 0 && runs.hasAccepted(stack, cloud, state)) this.concerned.set(error, asking);
      throw error;
    });
  }

  /** True when nothing is lost by going back to what the stack had before its candidates: another one still has them. */
  private takesOver(stack: string, plan: UpdatePlan<O>): boolean {
    return plan.parts.every(({ object }) => this.options.reports.isElsewhere(stack, object.metadata.uid));
  }

  private hasFailed({ object, candidate }: Part<O>, cloud: ConnectedCloud): boolean {
    return candidate !== undefined && this.options.holds.hasFailed(object.metadata.uid, versionOf(candidate, object, cloud));
  }
}

/**
 * What was deleted first is gone, and the cloud has not let go yet of what exists only once: made again it would wait for the same, and might get it before
 * the new one does (hashicorp/terraform-provider-aws#15031).
 */
function awaitsItsOwn<O>({ code, retryAfterMs }: OperatorError, plan: UpdatePlan<O>): boolean {
  return code === 'Conflict' && retryAfterMs !== undefined && plan.parts.some(({ replacement }) => replacement?.gap === true);
}
