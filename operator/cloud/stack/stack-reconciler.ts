import type { Drift } from '../../../crds';
import { inChange, newChangeID } from '../../base/change';
import { OperatorError, toOperatorError } from '../../base/errors';
import { traced } from '../../base/tracing';
import { keyOf } from '../../kube/object';
import { PLAN_OUTDATED } from '../../updates/departure';
import { resultOf } from '../../updates/update';
import type { Verdict } from '../conditions';
import { CloudFindings } from '../drift/cloud-findings';
import { FoundDrift } from '../drift/found-drift';
import { compareStack } from '../drift/stack-comparison';
import { inCloudOf, leverOn, providerPauseOf, type WideLevers } from '../levers';
import type { Gated } from '../plan/approval-gate';
import { Retirements } from '../plan/retirements';
import { StackApprovals, type ApprovalPass } from '../plan/stack-approvals';
import type { ConnectedCloud } from '../providers/registry';
import { TargetFollower } from '../targets/target-follower';
import { Adoptions } from './adoptions';
import { isRace } from './blame';
import { CandidateHolds } from './candidate-holds';
import { Departures } from './departures';
import { stackHeld } from './former-clouds';
import { MemberReports, type Failure } from './member-reports';
import { StackFactsOf, type Known } from './stack-facts';
import { membersOf, providerAmong } from './stack-index';
import type { Member } from './stack-kind';
import { StackMoves, type Whereabouts } from './stack-moves';
import { anyIsLeaving, mayExist, type UpdatePlan } from './stack-parts';
import { planStack, type StackPlan } from './stack-plan';
import type { StackReconcilerOptions } from './stack-reconciler-options';
import { StackRuns } from './stack-runs';
import { StackSettling } from './stack-settling';
import { standingIn } from './standing';
import { isOfTheStore, StateReads } from './state-reads';
import { togetherOf } from './takeovers';
import { UpdateAttempts, type Attempted } from './update-attempts';

type Moving = Known & Pick<Whereabouts, 'origins'>;

type Connected = Moving & { cloud: ConnectedCloud; upgrading: boolean };

/** Who loses a race tries again with what the others wrote, and nobody need know; one that is lost so often in a row is none. */
const RACES_LOST = 3;
/** When a stack that was looked at without the lease is looked at again. */
const LEASE_POLL_MS = 1_000;

/** Brings one stack after another to what its members ask for: gather → plan → act. The caller's queue sees to one pass per stack at a time. */
export class StackReconciler<O extends Member> {
  private readonly drift: FoundDrift<O>;
  private readonly reports: MemberReports<O>;
  private readonly holds: CandidateHolds;
  private readonly approvals: StackApprovals<O>;
  private readonly runs: StackRuns<O>;
  private readonly moves: StackMoves<O>;
  private readonly facts: StackFactsOf<O>;
  private readonly adoptions: Adoptions<O>;
  private readonly attempts: UpdateAttempts<O>;
  private readonly departures: Departures<O>;
  private readonly reads: StateReads;
  private readonly findings: CloudFindings;
  /** Keeps the targets of stacks on which nothing else can be done now. */
  readonly follower: TargetFollower<O>;
  /** What comes after an update, such as to bring targets to the Nodes. */
  private readonly settling: StackSettling<O>;

  constructor(private readonly options: StackReconcilerOptions<O>) {
    this.drift = new FoundDrift(options.kind);
    this.reports = new MemberReports(options);
    this.holds = new CandidateHolds(options.clock, options.retryPlan);
    this.approvals = new StackApprovals(options);
    this.reads = new StateReads({ ...options, onBack: (stacks) => stacks.forEach((stack) => options.again(stack, 0)) });
    this.findings = new CloudFindings(options.clock);
    this.follower = new TargetFollower({ ...options, reads: this.reads, findings: this.findings });
    this.runs = new StackRuns({ ...options, onHeld: (stack, held) => this.follower.holdUp(stack, held) }, this.reports);
    const retirements = new Retirements(options.clock);
    this.moves = new StackMoves({ ...options, updates: this.reads, retirements });
    this.facts = new StackFactsOf(options, this.reports, this.holds, retirements);
    this.settling = new StackSettling({ ...options, reports: this.reports, holds: this.holds, retirements });
    this.adoptions = new Adoptions(options, this.runs);
    const { drift, reports, holds, runs, approvals, adoptions } = this;
    this.attempts = new UpdateAttempts({ kind: options.kind, registry: options.registry, runs, drift, holds, reports });
    this.departures = new Departures({ ...options, runs, approvals, adoptions, holds });
  }

  /** The next pass over the stack heals what was found. */
  heal(stack: string, drift: Drift[]): void {
    this.drift.add(stack, drift);
  }

  /** Somebody asks for the stack as it is: what is not tried again by itself is tried by the next pass. */
  tryAnew(stack: string): void {
    this.runs.tryAnew(stack);
  }

  /** Somebody asks for all of a CloudProvider: what its members were refused is tried by the next pass. One who asks for his own has that tried alone. */
  releaseHolds(stack: string): void {
    membersOf(this.options.index, this.options.store, stack).forEach(({ metadata }) => this.holds.release(metadata.uid));
  }

  /** The object with this UID is no more. */
  forgetMember(uid: string): void {
    this.holds.clear(uid);
    this.approvals.forgetMember(uid);
  }

  /** A lever keeps some of what the stack has as it is: what somebody else changes is shown and left. */
  isHeld(stack: string): boolean {
    const { index, store, record, registry } = this.options;
    const provider = record.providerOf(stack);
    const objects = [...index.keys(stack), ...index.formersIn(stack)].flatMap((key) => store.get(key) ?? []);
    return objects.some((object) => leverOn(inCloudOf(provider, object), registry) !== undefined);
  }

  /** Its newest pass failed: it is tried again after its back-off. */
  isFailing(stack: string): boolean {
    return this.reports.isFailing(stack);
  }

  /** One pass, as part of the change that asked for it. @throws OperatorError: the queue tries again later */
  reconcile(stack: string): Promise<void> {
    const { index, store, changes } = this.options;
    const members = membersOf(index, store, stack);
    const keys = [...members.map((object) => `${object.kind}/${keyOf(object.metadata)}`), `CloudStack/${stack}`];
    const asked = changes.newest(keys);
    const change = { ...(asked ?? { id: newChangeID() }), object: `CloudStack ${stack}` };
    return inChange(change, async () => {
      // Tries of the same, which nobody has asked for anew, are one change.
      if (asked === undefined) changes.note(`CloudStack/${stack}`);
      await traced('stack', { 'cloud_operator.members': members.length }, () => this.reconcileMembers(stack, members));
      changes.done(keys, change);
    });
  }

  private async reconcileMembers(stack: string, members: O[]): Promise<void> {
    const provider = this.providerOf(stack, members);
    try {
      await this.pass(stack, members, this.cloudOf(provider, members.length > 0));
      this.reports.passed(stack);
      this.options.retries.forget(stack);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.reports.failed(stack);
      // A plan that was made before would be taken for approved again and again.
      if (error.reason === PLAN_OUTDATED) this.approvals.forget(stack);
      if (error.code === 'NotFound' && error.resource !== undefined && provider !== undefined) {
        await this.rediscover(stack, provider).catch((failed: unknown) =>
          this.options.logger.warn({ stack, error: toOperatorError(failed).message }, 'what is gone from the cloud could not be found out'),
        );
      }
      const failure = {
        error,
        retry: this.options.retries.failed(stack, error, anyIsLeaving(members)),
        standing: this.stands(stack, error),
        drifted: this.settling.driftOf(stack),
      };
      if (!isRace(error) || this.options.retries.failuresOf(stack) >= RACES_LOST) await this.reportFailure(stack, members, failure);
      if (!this.isFollowed(error)) await this.follower.follow(stack);
      throw error;
    } finally {
      this.reports.forget(stack);
    }
  }

  private providerOf(stack: string, members: readonly O[]): string | undefined {
    return this.options.record.providerOf(stack) ?? providerAmong(members, this.options.registry);
  }

  /** Targets have followed the Nodes by now, as far as they can. */
  private isFollowed(error: OperatorError): boolean {
    return error.code === 'Canceled' || error.undeleted !== undefined || this.settling.concernedBy(error) !== undefined;
  }

  private async pass(stack: string, members: O[], cloud: ConnectedCloud | undefined): Promise<void> {
    const before = this.findings.known(stack);
    if (before !== undefined) this.reports.know(stack, { stack, cloud, found: before });
    const state = await this.reads.state(stack);
    this.findings.forget(stack);
    this.reports.know(stack, { stack, cloud, state });
    const whereabouts = await this.moves.gather(stack, members, state);
    whereabouts.origins.forEach(({ knowledge }, uid) => this.reports.knowOrigin(stack, uid, knowledge));
    const wide = await this.wideLevers(members, cloud, whereabouts);
    // Whoever was frozen for a moment may hold it again, and nobody says so.
    if (!wide.leading) this.options.again(stack, LEASE_POLL_MS);
    const takeovers = wide.leading ? await this.adoptions.gather(stack, members, { cloud, state }, whereabouts) : undefined;
    const ask = wide.leading && this.options.kind.inputFound !== undefined;
    const found = await standingIn(stack, members, { cloud, state }, { ...whereabouts, findings: this.findings, ask });
    if (found !== undefined) this.reports.know(stack, { stack, cloud, state, found });
    const known = { cloud, state, takeovers, found, origins: whereabouts.origins };
    const facts = this.facts.of(stack, members, known, { ...whereabouts, wide });
    // Whatever pass this is, what waits has its turn: nobody else may come by.
    for (const { held } of facts.members) if (held?.leftMs !== undefined) this.options.again(stack, held.leftMs);
    await this.act(stack, planStack(facts), known);
  }

  /** The failure says nothing against what there is. */
  private stands(stack: string, error: OperatorError): boolean {
    return (this.reads.isUnread(error) || isOfTheStore(error)) && !this.drift.has(stack);
  }

  /** @throws OperatorError that says why the cloud of a stack with members can't be used: no connection, or refused credentials */
  private cloudOf(provider: string | undefined, hasMembers: boolean): ConnectedCloud | undefined {
    if (provider === undefined) return undefined;
    const refusal = this.options.registry.accounts.refusal(provider);
    if (refusal !== undefined) throw refusal;
    const connected = this.options.registry.get(provider)?.cloud !== undefined;
    return hasMembers || connected ? this.options.registry.connected(provider) : undefined;
  }

  /** Something that the state speaks of is gone from the cloud: the next pass makes it again, where drift is healed. */
  private async rediscover(stack: string, provider: string): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    if (cloud.discover === undefined) return;
    const since = this.options.updates.moment();
    const found = (await cloud.discover([stack])).get(stack) ?? [];
    await compareStack({ stack, provider, found, since }, this.options, {
      isHeld: () => this.isHeld(stack),
      found: (_stack, _provider, drift) => this.heal(stack, drift),
      reported: this.options.reported,
    });
  }

  /** Deletes may come from the deletion of the whole kind, which nobody means for the cloud. */
  private async wideLevers(
    members: readonly O[],
    cloud: ConnectedCloud | undefined,
    { departing }: Pick<Whereabouts, 'departing'>,
  ): Promise<WideLevers> {
    const { isValid, isKindDeleted, kind, registry } = this.options;
    const deletes = departing.size > 0 || anyIsLeaving(members);
    return {
      leading: isValid(),
      kindDeleted: deletes && (await isKindDeleted()) ? kind.crd : undefined,
      frozen: cloud?.spec.freeze === true ? cloud.name : undefined,
      observed: members.length === 0 && cloud?.spec.managementPolicy === 'Observe' ? cloud.name : undefined,
      providerPause: members.length === 0 && cloud !== undefined ? providerPauseOf(cloud.name, registry) : undefined,
    };
  }

  private async act(stack: string, plan: StackPlan<O>, known: Moving): Promise<void> {
    const { cloud, state, takeovers } = known;
    if (plan.kind === 'Forget') {
      await this.departures.ended(stack);
      return this.forget(stack);
    }
    if (plan.kind === 'Keep') {
      this.options.record.abandoned(stack, plan.missing);
      this.options.logger.warn({ stack }, 'the stack has resources in the cloud but no object asks for them; they are kept until released');
      return;
    }
    if (plan.kind === 'Hold') return this.wait(stack, plan.verdicts, { cloud, state, takeovers });
    if (cloud === undefined) throw new OperatorError('Transient', `the cloud of stack ${stack} is not connected`);
    if (plan.kind === 'Destroy' || plan.kind === 'Release') {
      if (plan.kind === 'Destroy') await this.departures.destroy(stack, plan.leaving, cloud);
      else await this.departures.forget(stack, plan.released, cloud);
      return this.forget(stack);
    }
    const upgrading = !this.drift.has(stack) && this.runs.isUpgrade(stack, plan, cloud, state);
    const waitMs = upgrading ? this.options.rollout.waitOf(stack) : 0;
    if (waitMs === 0) return this.update(stack, plan, { ...known, cloud, upgrading });
    this.options.again(stack, waitMs);
    this.options.record.missing(stack, plan.missing);
    return this.rest(stack, plan, { ...known, cloud });
  }

  /** The stack is no more. */
  private forget(stack: string): void {
    this.attempts.forget(stack);
    this.drift.forget(stack);
  }

  /** Nothing is written; what taking over would do is shown of what is only observed. */
  private async wait(stack: string, verdicts: { object: O; verdict: Verdict }[], { cloud, state, takeovers }: Known): Promise<void> {
    const held = verdicts.length === 0 ? stackHeld(cloud, this.options.registry) : undefined;
    if (held !== undefined) this.options.record.rests(stack, held);
    const observed = verdicts.filter(({ verdict }) => verdict.reason === 'Observed').map(({ object }) => object);
    const foreseen = cloud === undefined ? undefined : await this.adoptions.foresee(stack, observed, { takeovers, state }, cloud);
    for (const { object, verdict } of verdicts) {
      const said = foreseen?.get(object.metadata.uid) ?? verdict;
      await this.reports.report(object, { ...this.reports.kept(stack, object), stack }, this.settling.withDrift(stack, said));
    }
  }

  /** Somebody has changed the cloud. What is left so (a lever, a policy) is no reason for an update; one that goes on with what was interrupted would take it back. */
  private isDrifted(stack: string, state: Known['state']): boolean {
    return this.drift.has(stack) || (state?.open === true && this.options.record.drift(stack).length > 0);
  }

  private async update(stack: string, wanted: UpdatePlan<O>, known: Connected): Promise<void> {
    const { cloud, state, takeovers, found, upgrading, origins } = known;
    const pass: ApprovalPass<O> = {
      ...{ stack, plan: wanted, cloud, state, found, drifted: this.isDrifted(stack, state) },
      hooksOf: (inputs) => this.runs.hooks(stack, cloud, togetherOf(takeovers, inputs)),
      serving: (object) => this.reports.serving(stack, object),
      updateOf: (inputs) =>
        this.runs.update(
          stack,
          { ...this.runs.of(stack, inputs, cloud), force: true, mayExist: mayExist(wanted), adopted: togetherOf(takeovers, inputs) },
          cloud,
        ),
      remade: () => this.runs.remade(stack, cloud, state),
      givingUp: ({ metadata }) => this.runs.givingUp(origins.get(metadata.uid)),
    };
    const gated = await this.approvals.open(pass);
    const { plan, approved, replaces, run, waiting, leaving } = gated;
    await this.noteWaiting(stack, gated, cloud);
    if (!run || !(plan.engine || this.approvals.follows(pass))) {
      const stuck = leaving === undefined ? [] : plan.leaving.map((object) => ({ object, verdict: leaving }));
      return this.rest(stack, { ...plan, parts: [...plan.parts, ...stuck] }, { cloud, state, found });
    }
    for (const { object, candidate, accepted } of plan.parts) {
      if ((candidate ?? accepted) !== undefined) await this.options.writer.addFinalizer(object);
    }
    const trial = await this.attempts.bring(stack, plan, { cloud, state, approved, replaces, upgrading, takeovers });
    this.adoptions.ended(
      plan,
      takeovers,
      trial.failed.map(({ candidate }) => candidate.object),
    );
    const isAwaited = plan.conflicts || waiting.length > 0;
    await this.ended(stack, plan, trial, { cloud, isAwaited, isApproved: approved !== undefined });
  }

  /** @throws OperatorError where not all could be deleted that is to go: nobody waits for that but what goes */
  private async ended(
    stack: string,
    plan: UpdatePlan<O>,
    { undeleted, ...trial }: Attempted<O>,
    { cloud, isAwaited, isApproved }: { cloud: ConnectedCloud; isAwaited: boolean; isApproved: boolean },
  ): Promise<void> {
    this.drift.forget(stack);
    const left = await this.departures.letGoOf(plan, undeleted?.stuck);
    await this.departures.release(stack, plan);
    await this.settling.settle(plan, trial, { stack, cloud, result: trial.result });
    // What was given up now may be what others wait for, and the plans of those that wait for approval are of before.
    const isNews = trial.engine && undeleted === undefined;
    if ((isAwaited && isNews) || left || isApproved) this.options.again(stack, 0);
    if (undeleted !== undefined) throw undeleted.error;
  }

  private async noteWaiting(stack: string, { plan, waiting, held, rests }: Gated<O>, cloud: ConnectedCloud): Promise<void> {
    const { record } = this.options;
    await record.waiting(stack, this.runs.specOf(cloud.name), waiting, held);
    record.missing(stack, plan.missing);
    if (rests !== undefined) record.rests(stack, rests);
  }

  /** Nothing is to be done but to keep what is there. */
  private async rest(stack: string, plan: UpdatePlan<O>, { cloud, state, found }: Known & { cloud: ConnectedCloud }): Promise<void> {
    if (state !== undefined && found === undefined)
      await this.settling.settle(plan, { failed: [], result: resultOf(state) }, { stack, cloud, result: resultOf(state) });
    else await this.reportParts(stack, plan);
    if (found !== undefined) await this.follower.follow(stack);
    await this.departures.release(stack, plan);
  }

  private async reportParts(stack: string, { parts }: UpdatePlan<O>): Promise<void> {
    for (const { object, verdict } of parts) {
      if (verdict !== undefined) await this.reports.report(object, { ...this.reports.kept(stack, object), stack }, verdict);
    }
  }

  private async reportFailure(stack: string, members: O[], failure: Failure): Promise<void> {
    const { error, retry } = failure;
    this.options.logger.warn({ stack, code: error.code, error: error.message, resource: error.resource }, 'stack not reconciled');
    const provider = members.length === 0 ? undefined : this.providerOf(stack, members);
    // Stopped by ourselves, at the end of the process or of the lease: whoever goes on says how it went. An attempt that had begun says so by now.
    if (provider === undefined || error.code === 'Canceled') return;
    await this.reports.fail(stack, this.attempts.concernedBy(error) ?? this.settling.concernedBy(error) ?? members, failure);
    const names = [...members.map((object) => keyOf(object.metadata)), ...this.options.index.formersIn(stack)].sort();
    if (this.options.registry.get(provider)?.cloud !== undefined) {
      this.options.record.failed(stack, this.runs.specOf(provider), names, { error, retry });
    }
  }
}
