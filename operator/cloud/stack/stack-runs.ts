import type { Attempt, CloudStackSpec } from '../../../crds';
import { messageWithRemedy, OperatorError, toOperatorError } from '../../base/errors';
import { canonicalJson, type JsonObject } from '../../base/json';
import type { DiscoveredResource } from '../../../providers/provider';
import { PLAN_OUTDATED } from '../../updates/departure';
import { transformOf, updateHash } from '../../updates/update-hash';
import { resultOf, type StackState, type StackUpdate, type UpdateHooks, type UpdateResult } from '../../updates/update';
import { isUpgrade } from '../../updates/upgrade';
import { freshSettings } from './fresh-settings';
import { hashWithoutTargets, withoutTargetsOf, type WithoutTargets } from './hash-without-targets';
import { keyOfInput, type MemberInput } from './member-input';
import type { MemberReports } from './member-reports';
import { OutgrownUpdates } from './outgrown-updates';
import { isPromised } from '../plan/promise';
import type { GivingUp } from '../plan/stack-approvals';
import type { ConnectedCloud } from '../providers/registry';
import type { Member } from './stack-kind';
import { acceptedOf, inputsOf, suspectsOf, type UpdatePlan } from './stack-parts';
import type { Origin } from './stack-moves';
import type { StackReconcilerOptions } from './stack-reconciler-options';
import { merged } from './takeovers';
import { changesText, stackSpec } from './stack-record';

/** What one run of the engine is asked for. */
export interface Run<O> {
  /** Absent = everything is deleted. */
  inputs?: JsonObject;
  accepted?: JsonObject;
  /** Hash of the plan that it must be. */
  approved?: string;
  /** UIDs of the owners whose own resources it may replace; absent = everything (Gated.replaces). */
  replaces?: readonly string[] | undefined;
  /** Run although nothing that was asked for has changed. */
  force: boolean;
  /** Candidates are among the inputs: it has to be tried only as long as there is hope. The way back, and a deletion, always are. */
  asks?: boolean;
  /** It brings back what somebody else changed in the cloud. */
  healing?: boolean;
  /** Only this operator's newer program asks for it. */
  upgrading?: boolean;
  /** It was made before (StackUpdate.mayExist). */
  mayExist?: boolean;
  /** What is taken over from others. */
  adopted?: DiscoveredResource[] | undefined;
  /** Names of those that the stack carries when it has succeeded. */
  members: string[];
  /** Those for whom the run is made. */
  objects: O[];
}

export interface Ran {
  result: UpdateResult;
  /** False when there was nothing to do. */
  engine: boolean;
  /** Not all that is to go could be deleted; all else is as it was asked for (OperatorError.undeleted). */
  undeleted?: OperatorError;
}

export type StackRunsOptions<O extends Member> = Pick<
  StackReconcilerOptions<O>,
  'kind' | 'index' | 'registry' | 'updates' | 'extend' | 'record' | 'events' | 'clusterID' | 'isValid' | 'onUpdate' | 'clock' | 'logger'
> & {
  /** A run waits for the state store, or no longer does. */
  onHeld: (stack: string, held: boolean) => void;
};

/** Asks the engine for one update after another, and tells how each went. */
export class StackRuns<O extends Member> {
  private readonly outgrown = new OutgrownUpdates();

  constructor(
    private readonly options: StackRunsOptions<O>,
    private readonly reports: MemberReports<O>,
  ) {}

  /** The run that brings a stack to these inputs. */
  of(stack: string, inputs: MemberInput[], cloud: ConnectedCloud): Pick<Run<O>, 'inputs' | 'accepted' | 'members'> {
    return {
      inputs: this.options.kind.render(
        stack,
        inputs.filter((input) => !isPromised(input)),
        cloud,
      ),
      accepted: acceptedOf(inputs),
      members: inputs.map(keyOfInput).sort(),
    };
  }

  /** @param adopted what is taken over from others */
  hooks(stack: string, cloud: ConnectedCloud, adopted: readonly DiscoveredResource[] = []): UpdateHooks {
    return {
      isValid: this.options.isValid,
      isFrozen: () => this.options.registry.isFrozen(cloud.name),
      settings: () => freshSettings(cloud.cloud),
      discover: async () => merged([...((await cloud.cloud.discover?.([stack]))?.get(stack) ?? []), ...adopted]),
      syncTargets: async (group) => this.options.kind.syncTargets?.(stack, group, cloud),
    };
  }

  update(
    stack: string,
    run: Pick<Run<O>, 'inputs' | 'accepted' | 'approved' | 'replaces' | 'force' | 'mayExist' | 'adopted'>,
    cloud: ConnectedCloud,
  ): StackUpdate {
    const { inputs, accepted, approved, replaces, force, adopted, mayExist = false } = run;
    return this.options.extend({
      stack,
      project: this.specOf(cloud.name).project,
      providerName: cloud.name,
      providerKind: cloud.kind,
      programVersion: cloud.module.programVersion,
      ...(cloud.spec.plugin === 'Official' && { plugin: cloud.spec.plugin }),
      clusterID: this.options.clusterID,
      inputs,
      ...(accepted === undefined ? {} : { accepted }),
      ...(approved === undefined ? {} : { approved }),
      ...(replaces === undefined ? {} : { replaces }),
      settings: cloud.cloud.workerSettings(),
      force,
      mayExist: mayExist || adopted !== undefined,
      ...(adopted !== undefined && adopted.length > 0 && { adopts: true as const }),
    });
  }

  /** How a stack gives up a member that moves away. @throws OperatorError Transient while its cloud is not connected */
  givingUp(origin: Origin | undefined): GivingUp | undefined {
    if (origin === undefined) return undefined;
    const { stack, others, state } = origin;
    const { cloud } = origin.knowledge;
    if (cloud === undefined)
      throw new OperatorError('Transient', `the cloud of stack ${stack} is not connected: what it is to give up can't be said yet`);
    const left = others.length === 0 ? {} : this.of(stack, [...others], cloud);
    return { state, update: this.update(stack, { ...left, force: true }, cloud), hooks: this.hooks(stack, cloud) };
  }

  /** True when nobody asks for anything: an update would only bring the stack to this operator's newer program. */
  isUpgrade(stack: string, plan: UpdatePlan<O>, cloud: ConnectedCloud, state: StackState | undefined): boolean {
    if (state === undefined || !plan.engine || plan.leaving.length + plan.departing.length > 0) return false;
    const inputs = inputsOf(plan, suspectsOf(plan));
    try {
      return isUpgrade(this.update(stack, { ...this.of(stack, inputs, cloud), force: false }, cloud), state);
    } catch (thrown) {
      // Somebody asks for what can't be made: the update finds out who, and the others go on.
      if (thrown instanceof OperatorError) return false;
      throw thrown;
    }
  }

  /**
   * True when the stack was brought to what its members had before: those that ask for nothing new have what they ask for, and whatever keeps the others
   * from theirs is none of their business.
   */
  hasAccepted(stack: string, cloud: ConnectedCloud, state: StackState | undefined): boolean {
    const update = this.asAccepted(stack, cloud, state);
    return update !== undefined && updateHash(update) === state?.inputsHash;
  }

  /**
   * Why a stack is made otherwise by now of what its members were accepted with, for another reason than their Nodes: the beginning of a sentence. Undefined =
   * it isn't, or nothing was accepted.
   */
  remade(stack: string, cloud: ConnectedCloud, state: StackState | undefined): string | undefined {
    const update = this.asAccepted(stack, cloud, state);
    if (state === undefined || update === undefined || updateHash(update) === state.inputsHash) return undefined;
    if (state.programVersion !== update.programVersion) return 'a newer version of the operator makes it otherwise';
    if (state.transform !== transformOf(update.extension)) return 'another extension in code makes it otherwise';
    const isSame = sameBut(withoutTargetsOf(this.options.kind, cloud), state.inputs, update.inputs);
    return isSame ? undefined : `the settings of CloudProvider ${cloud.name} have changed`;
  }

  /** The next update of the stack is tried, also where the same could not be stored. */
  tryAnew(stack: string): void {
    this.outgrown.forget(stack);
  }

  /** What its members had before, as it would be made today; undefined = nothing was accepted. */
  private asAccepted(stack: string, cloud: ConnectedCloud, state: StackState | undefined): StackUpdate | undefined {
    if (state?.accepted === undefined) return undefined;
    const before = Object.values(state.accepted) as unknown as MemberInput[];
    return this.update(stack, { ...this.of(stack, before, cloud), force: false }, cloud);
  }

  /** @throws OperatorError with the failure's class */
  async run(stack: string, run: Run<O>, cloud: ConnectedCloud): Promise<Ran> {
    const members = this.involved(stack, run);
    const spec = this.specOf(cloud.name);
    const verb = run.inputs === undefined ? 'Destroy' : 'Update';
    let announcing: Promise<void> | undefined;
    const announce = (): Promise<void> => this.reports.announce(stack, run.objects, verb === 'Destroy' ? 'Deleting' : 'Updating');
    const hooks: UpdateHooks = {
      ...this.hooks(stack, cloud, run.adopted),
      onStart: () => {
        this.options.record.started(stack, spec, members, { kind: verb, cause: causeOf(run) });
        announcing = announce();
      },
      onOperations: (done) => this.options.record.carriedOut(stack, done),
      onCalls: (cloudCalls) => this.options.record.carriedOut(stack, { cloudCalls }),
      onRemark: (text) => {
        this.options.logger.warn({ stack }, text);
        for (const object of run.objects) this.options.events.event(object, 'Warning', 'WrittenByOthers', text);
      },
      onHeld: (hold) => {
        // Where nothing can be stored no condition can be written either: the log has the cause and the next step.
        if (hold === undefined) this.options.logger.info({ stack }, 'state stored again');
        else this.options.logger.warn({ stack, error: messageWithRemedy(hold.error) }, 'state can not be stored');
        this.options.record.held(stack, spec, hold);
        this.options.onHeld(stack, hold !== undefined);
        announcing = announcing?.then(() => (hold === undefined ? announce() : this.reports.held(stack, run.objects, hold)));
      },
    };
    const startedAt = this.options.clock.monotonic();
    const withoutTargets = withoutTargetsOf(this.options.kind, cloud);
    const update = recognizable(this.update(stack, run, cloud), withoutTargets);
    if (run.asks === true) this.outgrown.assertFits(update, withoutTargets);
    try {
      const result = await this.options.updates.run(update, hooks);
      await announcing;
      if (announcing !== undefined) this.options.onUpdate(cloud.name, result.result, result.durationMs);
      if (announcing !== undefined) this.celebrate(stack, spec, run, result);
      else if (result.result === 'Unchanged') this.options.record.unchanged(stack, spec, run.members, result);
      return { result, engine: announcing !== undefined };
    } catch (thrown) {
      await announcing;
      const error = toOperatorError(thrown);
      this.options.onUpdate(cloud.name, error.code, this.options.clock.monotonic() - startedAt);
      if (error.reason === PLAN_OUTDATED)
        run.objects.forEach((object) => this.options.events.event(object, 'Warning', PLAN_OUTDATED, error.message));
      // What is refused before it begins may well be tried again: that makes nothing.
      if (announcing === undefined) throw error;
      const left = await this.failed(stack, spec, members, error);
      if (left !== undefined) return { result: resultOf(left), engine: true, undeleted: error };
      throw run.asks === true ? this.outgrown.failed(update, error, withoutTargets) : error;
    } finally {
      this.options.onHeld(stack, false);
    }
  }

  /** What has moved away may be here until the run has succeeded: after a restart only the record says so. */
  private involved(stack: string, { members }: Run<O>): string[] {
    return [...new Set([...members, ...this.options.index.formersIn(stack)])].sort();
  }

  /** What can't be read is as it was known to be. @returns what the stack has, where only deletions failed */
  private async failed(stack: string, spec: CloudStackSpec, members: string[], error: OperatorError): Promise<StackState | undefined> {
    const read = await this.options.updates.state(stack).then(
      (state) => ({ state }),
      () => undefined,
    );
    const { resources = [], epoch } = read?.state ?? {};
    if (read !== undefined) this.reports.left(stack, read.state);
    this.options.record.failed(stack, spec, members, { error, left: read && { resources, ...(epoch !== undefined && { epoch }) } });
    return error.undeleted === undefined ? undefined : read?.state;
  }

  /** Spec of the CloudStack of a provider. */
  specOf(provider: string): CloudStackSpec {
    return stackSpec(provider, this.options.kind.kind);
  }

  private celebrate(stack: string, spec: CloudStackSpec, { members, objects, healing }: Run<O>, result: UpdateResult): void {
    const changes = changesText(result.changes);
    this.options.logger.info({ stack, changes, ms: Math.round(result.durationMs), cloudCalls: result.cloudCalls }, 'stack updated');
    if (result.result === 'Destroyed') return this.outgrown.forget(stack);
    this.options.record.succeeded(stack, spec, members, result);
    const seconds = (result.durationMs / 1000).toFixed(1);
    const what = `in ${seconds} s (${changes})`;
    for (const object of objects) {
      if (healing !== true) this.options.events.event(object, 'Normal', 'Updated', `Stack ${stack} updated ${what}`);
      else this.options.events.event(object, 'Normal', 'DriftRepaired', `The cloud was changed by somebody else; brought back ${what}`);
    }
  }
}

/** Nodes that come and go make no other update of it. */
function recognizable(update: StackUpdate, withoutTargets: WithoutTargets): StackUpdate {
  return { ...update, begun: () => hashWithoutTargets(update, withoutTargets) };
}

function sameBut(bare: WithoutTargets, one: JsonObject | undefined, other: JsonObject | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalJson(bare(one)) === canonicalJson(bare(other));
}

function causeOf({ healing, upgrading }: Pick<Run<unknown>, 'healing' | 'upgrading'>): Attempt['cause'] {
  if (healing === true) return 'Drift';
  return upgrading === true ? 'Upgrade' : 'Change';
}
