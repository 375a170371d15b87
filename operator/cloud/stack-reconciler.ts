import { ANNOTATIONS, CLEANUP_FINALIZER, type CloudStackSpec } from '../../crds';
import type { Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { EventRecorder, Store } from '../kube/api';
import { keyOf, type KubeObject } from '../kube/object';
import type { StackUpdate, UpdateHooks, UpdateResult, Updates } from '../updates/update';
import { verdictOfError, type Verdict } from './conditions';
import type { ObjectWriter } from './object-writer';
import type { CloudRegistry, ConnectedCloud } from './registry';
import type { StackIndex } from './stack-index';
import type { Knowledge, Member, StackKind, StatusFields } from './stack-kind';
import { planStack, type StackPlan } from './stack-plan';
import { changesText, type StackRecord } from './stack-record';

export interface StackReconcilerOptions<O extends Member> {
  kind: StackKind<O>;
  store: Store<O>;
  index: StackIndex;
  registry: CloudRegistry;
  updates: Updates;
  writer: ObjectWriter;
  record: StackRecord;
  events: EventRecorder;
  clusterID: string;
  isValid: () => boolean;
  /** Told how each update ended: `Updated`, `Destroyed`, or the code of the OperatorError. */
  onUpdate: (provider: string, result: string, tookMs: number) => void;
  clock: Clock;
  logger: Logger;
}

/** Brings one stack after another to what its members ask for: gather → plan → act. The caller's queue sees to one pass per stack at a time. */
export class StackReconciler<O extends Member> {
  /** Stacks whose cloud was found changed: run even when the inputs are the stored ones. */
  private readonly drifted = new Set<string>();
  /** Stacks whose newest pass failed, and the objects (UID and generation) that say so. */
  private readonly failing = new Map<string, Set<string>>();
  /** What the passes that run know of their stacks. */
  private readonly knowledge = new Map<string, Knowledge>();

  constructor(private readonly options: StackReconcilerOptions<O>) {}

  /** The next pass over the stack heals what was found. */
  heal(stack: string): void {
    this.drifted.add(stack);
  }

  /** Its newest pass failed: it is tried again after its back-off. */
  isFailing(stack: string): boolean {
    return this.failing.has(stack);
  }

  /** One pass. @throws OperatorError: the queue tries again later */
  async reconcile(stack: string): Promise<void> {
    const members = this.members(stack);
    const provider = members[0]?.spec.provider;
    try {
      const cloud = provider === undefined ? undefined : this.options.registry.connected(provider);
      const state = await this.options.updates.state(stack);
      this.knowledge.set(stack, { cloud, state });
      const plan = planStack({
        members: members.map((object) => this.facts(stack, object, cloud)),
        known: state !== undefined,
        frozen: cloud?.spec.freeze === true,
        provider: provider ?? '',
      });
      await this.act(stack, plan, cloud);
      this.failing.delete(stack);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      const said = this.failing.get(stack) ?? new Set();
      this.failing.set(stack, said);
      if (error.code === 'NotFound' && error.resource !== undefined && provider !== undefined) await this.rediscover(stack, provider);
      if (error.code !== 'Conflict' || error.resource !== undefined) await this.reportFailure(stack, members, error);
      throw error;
    } finally {
      this.knowledge.delete(stack);
    }
  }

  /** Something that the state speaks of is gone from the cloud: the next pass makes it again. */
  private async rediscover(stack: string, provider: string): Promise<void> {
    const { cloud } = this.options.registry.connected(provider);
    if (cloud.discover === undefined) return;
    const found = (await cloud.discover([stack])).get(stack) ?? [];
    const drift = await this.options.updates.adoptFindings(stack, found);
    if (drift.length > 0) this.heal(stack);
  }

  private async act(stack: string, plan: StackPlan<O>, cloud: ConnectedCloud | undefined): Promise<void> {
    if (plan.kind === 'Forget') return this.options.record.removed(stack);
    if (plan.kind === 'Keep') {
      this.options.record.abandoned(stack);
      this.options.logger.warn({ stack }, 'the stack has resources in the cloud but no object asks for them; they are kept until released');
      return;
    }
    if (plan.kind === 'Hold') {
      for (const { object, verdict } of plan.verdicts) await this.report(object, this.kept(stack, object), verdict);
      return;
    }
    if (cloud === undefined) throw new OperatorError('Unknown', `stack ${stack} has members but no cloud`);
    if (plan.kind === 'Destroy') return this.destroy(stack, plan.leaving, cloud);
    return this.update(stack, plan, cloud);
  }

  private async update(stack: string, plan: { live: O[]; leaving: O[] }, cloud: ConnectedCloud): Promise<void> {
    for (const object of plan.live) await this.options.writer.addFinalizer(object);
    const inputs = this.options.kind.render(stack, plan.live, cloud);
    const { result, announced } = await this.run(stack, inputs, plan.live, cloud);
    this.drifted.delete(stack);
    for (const object of plan.live) {
      const { fields, verdict } = await this.options.kind.settle(object, cloud, result);
      await this.report(object, fields, verdict, announced);
    }
    for (const object of plan.leaving) await this.options.writer.removeFinalizer(object);
  }

  private async destroy(stack: string, leaving: O[], cloud: ConnectedCloud): Promise<void> {
    const made = leaving.filter((object) => object.metadata.finalizers?.includes(CLEANUP_FINALIZER));
    if (made.length > 0) await this.run(stack, undefined, made, cloud);
    for (const object of made) await this.options.writer.removeFinalizer(object);
    await this.options.record.removed(stack);
  }

  private async run(
    stack: string,
    inputs: StackUpdate['inputs'],
    objects: O[],
    cloud: ConnectedCloud,
  ): Promise<{ result: UpdateResult; announced: boolean }> {
    const spec = this.stackSpec(cloud.name);
    const names = objects.map((object) => keyOf(object.metadata));
    const verb = inputs === undefined ? 'Destroy' : 'Update';
    let announcing: Promise<void> | undefined;
    const hooks: UpdateHooks = {
      isValid: this.options.isValid,
      discover: async () => (await cloud.cloud.discover?.([stack]))?.get(stack) ?? [],
      onStart: () => {
        this.options.record.started(stack, spec, names, verb);
        announcing = this.announce(stack, objects, verb === 'Destroy' ? 'Deleting' : 'Updating');
      },
    };
    const update: StackUpdate = {
      stack,
      project: spec.project,
      providerName: cloud.name,
      providerKind: cloud.kind,
      programVersion: cloud.module.programVersion,
      clusterID: this.options.clusterID,
      inputs,
      settings: cloud.cloud.workerSettings(),
      force: this.drifted.has(stack),
    };
    const startedAt = this.options.clock.monotonic();
    try {
      const result = await this.options.updates.run(update, hooks);
      await announcing;
      if (announcing !== undefined) this.options.onUpdate(cloud.name, result.result, result.durationMs);
      if (announcing !== undefined) this.celebrate(stack, spec, objects, result);
      else if (result.result === 'Unchanged') this.options.record.unchanged(stack, spec, names, result);
      return { result, announced: announcing !== undefined };
    } catch (thrown) {
      await announcing;
      this.options.onUpdate(cloud.name, toOperatorError(thrown).code, this.options.clock.monotonic() - startedAt);
      throw thrown;
    }
  }

  private celebrate(stack: string, spec: CloudStackSpec, objects: O[], result: UpdateResult): void {
    const changes = changesText(result.changes);
    this.options.logger.info({ stack, changes, ms: Math.round(result.durationMs), cloudCalls: result.cloudCalls }, 'stack updated');
    if (result.result === 'Destroyed') return;
    this.options.record.succeeded(
      stack,
      spec,
      objects.map((object) => keyOf(object.metadata)),
      result,
    );
    const seconds = (result.durationMs / 1000).toFixed(1);
    for (const object of objects)
      this.options.events.event(object, 'Normal', 'Updated', `Stack ${stack} updated in ${seconds} s (${changes})`);
  }

  /** An object that says why the last try failed goes on saying so while the same is tried again. */
  private async announce(stack: string, objects: O[], reason: 'Updating' | 'Deleting'): Promise<void> {
    for (const object of objects) {
      if (this.failing.get(stack)?.has(versionOf(object)) === true) continue;
      const verdict: Verdict = {
        state: 'Reconciling',
        reason,
        message: reason === 'Updating' ? 'Pulumi is bringing the cloud to this spec' : 'Pulumi is deleting the cloud resources',
        serving: reason === 'Updating' && this.serving(stack, object),
      };
      const fields = { ...this.kept(stack, object), stack };
      await this.report(object, fields, verdict).catch((thrown: unknown) => this.complain(object, thrown));
    }
  }

  private async reportFailure(stack: string, members: O[], error: OperatorError): Promise<void> {
    this.options.logger.warn({ stack, code: error.code, error: error.message, resource: error.resource }, 'stack not reconciled');
    const provider = members[0]?.spec.provider;
    if (provider === undefined) return;
    // Stopped by ourselves, at the end of the process or of the lease: whoever goes on says how it went.
    for (const object of error.code === 'Canceled' ? [] : members) {
      this.failing.get(stack)?.add(versionOf(object));
      const serving = this.serving(stack, object);
      const verdict = verdictOfError(error, serving && object.metadata.deletionTimestamp === undefined);
      this.options.events.event(object, 'Warning', 'UpdateFailed', verdict.message);
      const fields = { ...this.kept(stack, object), stack };
      await this.report(object, fields, verdict, true).catch((thrown: unknown) => this.complain(object, thrown));
    }
    const names = members.map((object) => keyOf(object.metadata));
    if (this.options.registry.get(provider)?.cloud !== undefined) {
      this.options.record.failed(stack, this.stackSpec(provider), names, error);
    }
  }

  /** @param always write even when the cache shows the same status: the cache may be behind a write of this pass */
  private async report(object: O, fields: StatusFields, verdict: Verdict, always = false): Promise<void> {
    const token = object.metadata.annotations?.[ANNOTATIONS.reconcile];
    await this.options.writer.writeStatus(object, { ...fields, lastHandledReconcile: token }, verdict, always);
  }

  private facts(stack: string, object: O, cloud: ConnectedCloud | undefined): Parameters<typeof planStack<O>>[0]['members'][number] {
    return {
      object,
      deleting: object.metadata.deletionTimestamp !== undefined,
      paused: object.metadata.annotations?.[ANNOTATIONS.pause] !== undefined,
      problems: cloud === undefined ? [] : this.options.kind.problems(object, cloud),
      serving: this.serving(stack, object),
    };
  }

  private kept(stack: string, object: O): StatusFields {
    return this.options.kind.keptFields(object, this.knowledge.get(stack) ?? {});
  }

  private serving(stack: string, object: O): boolean {
    return this.options.kind.serving(object, this.knowledge.get(stack) ?? {});
  }

  private members(stack: string): O[] {
    return this.options.index
      .keys(stack)
      .map((key) => this.options.store.get(key))
      .filter((object) => object !== undefined);
  }

  private stackSpec(provider: string): CloudStackSpec {
    return { provider, kind: this.options.kind.kind, project: 'cloud-operator' };
  }

  private complain(object: O, thrown: unknown): void {
    this.options.logger.warn(
      { object: keyOf(object.metadata), error: toOperatorError(thrown).message },
      'status not written; the next pass writes it',
    );
  }
}

function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid} ${metadata.generation}`;
}
