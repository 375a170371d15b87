import { ANNOTATIONS, type Attempt, type CloudStackSpec } from '../../../crds';
import type { LoadBalancer, PublishedLoadBalancer } from '../../../extensions';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import { messageWithRemedy, toOperatorError } from '../../base/errors';
import { hashJson, type JsonObject } from '../../base/json';
import type { Logger } from '../../base/log';
import { Turns } from '../../base/turns';
import type { EventRecorder, Store, WorkQueue } from '../../kube/api';
import type { ExtensionModule } from '../../updates/extension-module';
import type { StackUpdate, UpdateHooks, Updates } from '../../updates/update';
import { isUpgrade } from '../../updates/upgrade';
import { reasonOfError, sentence, type Warning } from '../conditions';
import { leverOn } from '../levers';
import type { ApprovalGuard } from '../plan/approval-guard';
import { ExtraApprovals } from '../plan/extra-approvals';
import { ExtraLanes } from './extra-lanes';
import { freshSettings } from './fresh-settings';
import type { StoredLoadBalancer } from './load-balancer-stacks';
import type { CloudRegistry } from '../providers/registry';
import { StateOutgrown } from './outgrown-updates';
import type { StackRecord } from './stack-record';
import type { UpgradeRollout } from './upgrade-rollout';
import { untilWindow } from '../windows/windows-of';

export interface ExtraStacksOptions {
  /** Without the extension's part. */
  updates: Updates;
  /** Absent = no extension: extra stacks of an earlier one are destroyed. */
  module: ExtensionModule | undefined;
  /** Which functions the extension exports. @throws OperatorError when it can't be loaded */
  exportsOf: (module: ExtensionModule) => Promise<readonly string[]>;
  store: Store<StoredLoadBalancer>;
  registry: CloudRegistry;
  record: StackRecord;
  events: EventRecorder;
  /** Keyed by the load balancers' stack. */
  queue: WorkQueue;
  /** The same, of those that keep the others waiting. */
  slowQueue: WorkQueue;
  /** How long an update may take, in milliseconds, where its account says nothing else. */
  updateDeadlineMs: number;
  /** When it is a stack's turn to be brought to another extension. */
  rollout: UpgradeRollout;
  /** Who keeps approvals to those who may give them. */
  guard: Pick<ApprovalGuard, 'problem'>;
  isValid: () => boolean;
  clock: Pick<Clock, 'now' | 'after'>;
  /** A warning of the stack's load balancers has come or gone. */
  changed: (stack: string) => void;
  logger: Logger;
}

/** A load balancers' stack that is as it should be. */
export interface SettledStack {
  update: StackUpdate;
  loadBalancers: LoadBalancer[];
  outputs: JsonObject;
}

const SUFFIX = '-extra';
const DEADLINE_MS = 300_000;
/** As an update that takes longer gives its worker's place to others. */
const PATIENCE_MS = 15_000;
/** Where updates may take only a little longer, others wait for no more than this part of it. */
const PATIENCE_PART = 1 / 4;
/** Nobody tells us when the guard is installed. */
const GUARD_POLL_MS = 10_000;

/**
 * The second stacks of load balancers, made by an extension's `extra` (design section 5). They have a queue of their own: whatever becomes of
 * one, the load balancers stay as they are and only show a warning.
 */
export class ExtraStacks {
  private readonly settledStacks = new Map<string, SettledStack>();
  /** Hash of what was last tried for a stack, and who has asked for it: the same is not tried again but by the queue's back-off. */
  private readonly tried = new Map<string, string>();
  private readonly warnings = new Map<string, Warning>();
  /** What runs for a stack; the next one waits for it. */
  private readonly turns = new Turns();
  private hasExtra: Promise<boolean> | undefined;
  private existing: Promise<Set<string>> | undefined;

  private readonly approvals: ExtraApprovals;
  private readonly lanes: ExtraLanes;

  constructor(private readonly options: ExtraStacksOptions) {
    this.approvals = new ExtraApprovals(options);
    this.lanes = new ExtraLanes({ ...options, patienceMs: (stack) => this.patienceMs(stack) });
  }

  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.lanes.run((stack) => this.turns.run(stack, () => this.reconcile(stack)), signal);
  }

  /** A load balancers' stack was brought up to date, or found so. */
  settled(settled: SettledStack): void {
    const { stack } = settled.update;
    this.settledStacks.set(stack, settled);
    if (this.tried.get(stack) !== this.hashOf(settled)) this.lanes.add(stack);
  }

  /** A person asks for all that a provider has: also what is not tried again by itself is tried. */
  ask(provider: string): void {
    for (const [stack, { update }] of this.settledStacks) if (update.providerName === provider) this.lanes.add(stack);
  }

  /** Before the load balancers' stack is destroyed. @throws OperatorError: then that one must wait, or nobody would ever come back for this one */
  async destroy(update: StackUpdate): Promise<void> {
    this.options.rollout.forget(extraStackOf(update.stack));
    this.settledStacks.delete(update.stack);
    this.lanes.forget(update.stack);
    this.tried.delete(update.stack);
    await this.turns.run(update.stack, async () => {
      await this.lookFor(extraStackOf(update.stack));
      await this.remove(update);
      this.warnings.delete(update.stack);
    });
  }

  /** The load balancers' stack is given up, and what there is beside it stays in the cloud too, marked as nobody's where our own provider has made it. */
  async forget(stack: string): Promise<void> {
    this.settledStacks.delete(stack);
    this.lanes.forget(stack);
    this.tried.delete(stack);
    const name = extraStackOf(stack);
    this.options.rollout.forget(name);
    await this.turns.run(stack, async () => {
      await this.lookFor(name);
      const existing = await this.existingStacks();
      if (!existing.has(name)) return;
      await this.markReleased(stack, name);
      await this.options.updates.forget(name);
      existing.delete(name);
      this.warnings.delete(stack);
      await this.options.record.removed(name);
    });
  }

  /** Once the state is dropped, nothing else would tell that it was left on purpose. */
  private async markReleased(stack: string, name: string): Promise<void> {
    const { record, registry, isValid } = this.options;
    const provider = record.providerOf(stack) ?? '';
    await registry.get(provider)?.cloud?.release?.(name, () => isValid() && !registry.isFrozen(provider));
  }

  /** What the load balancers of a stack are to say of their extra stack. */
  warningOf(stack: string | undefined): Warning | undefined {
    return stack === undefined ? undefined : this.warnings.get(stack);
  }

  private async reconcile(stack: string): Promise<void> {
    const settled = this.settledStacks.get(stack);
    if (settled === undefined) return;
    if (this.isHeld(settled)) {
      this.tried.delete(stack);
      return;
    }
    const closedMs = this.untilWindow(settled);
    if (closedMs > 0) {
      this.tried.delete(stack);
      return this.lanes.addAfter(stack, closedMs);
    }
    const wanted = await this.wanted(settled);
    const upgrading = await this.isUpgrade(extraStackOf(stack), wanted);
    const waitMs = upgrading ? this.options.rollout.waitOf(extraStackOf(stack)) : 0;
    if (waitMs > 0) {
      this.tried.delete(stack);
      return this.lanes.addAfter(stack, waitMs);
    }
    this.tried.set(stack, this.hashOf(settled));
    try {
      await this.bring(settled, wanted, upgrading ? 'Upgrade' : 'Change');
    } catch (thrown) {
      const error = toOperatorError(thrown);
      // Stopped by ourselves: whoever goes on says how it went.
      this.approvals.forget(extraStackOf(stack));
      if (error.code === 'Canceled') this.tried.delete(stack);
      // It would come to the same each time, and make again what it could not write down.
      else if (wanted !== undefined && error.reason === 'StateTooLarge') return this.fail(settled, new StateOutgrown(error));
      else this.fail(settled, error);
      throw error;
    }
  }

  /** How long the others wait for it. */
  private patienceMs(stack: string): number {
    const { registry, updateDeadlineMs } = this.options;
    const provider = this.settledStacks.get(stack)?.update.providerName;
    const ownMs = provider === undefined ? undefined : registry.accounts.of(provider).limits.updateDeadlineMs;
    return Math.min(PATIENCE_MS, PATIENCE_PART * (ownMs ?? updateDeadlineMs));
  }

  /** The update of its extra stack; undefined = there is to be none. */
  private async wanted(settled: SettledStack): Promise<StackUpdate | undefined> {
    const { module } = this.options;
    if (module === undefined || !(await this.exportsExtra(module))) return undefined;
    return this.updateOf(settled.update, this.inputsOf(settled), { role: 'extra', module });
  }

  /** Only another extension asks for the change, or for the end of what an earlier one made. */
  private async isUpgrade(name: string, wanted: StackUpdate | undefined): Promise<boolean> {
    const stored = (await this.existingStacks()).has(name) ? await this.options.updates.state(name) : undefined;
    return wanted === undefined ? stored !== undefined : isUpgrade(wanted, stored);
  }

  private async bring(settled: SettledStack, wanted: StackUpdate | undefined, cause: Attempt['cause']): Promise<void> {
    if (wanted === undefined) {
      await this.remove(settled.update);
      return this.warn(settled.update.stack, undefined);
    }
    const hooks = this.hooksOf(wanted);
    const gate = await this.gate(settled, wanted, hooks);
    if (gate === undefined) return;
    const [name, spec, members] = [wanted.stack, specOf(wanted), settled.loadBalancers.map(keyOf)];
    (await this.existingStacks()).add(name);
    const started = (): void => this.options.record.started(name, spec, members, { kind: 'Update', cause });
    const onOperations: UpdateHooks['onOperations'] = (done) => this.options.record.carriedOut(name, done);
    const result = await this.options.updates.run({ ...wanted, ...gate }, { ...hooks, onStart: started, onOperations });
    if (result.result === 'Unchanged') this.options.record.unchanged(name, spec, members, result);
    else this.options.record.succeeded(name, spec, members, result);
    this.warn(settled.update.stack, undefined);
  }

  /** What goes with the update, where it may run. It is looked at again when a load balancer is: an approval is an annotation. */
  private async gate(
    { update: { stack }, loadBalancers }: SettledStack,
    wanted: StackUpdate,
    hooks: UpdateHooks,
  ): Promise<Pick<StackUpdate, 'approved'> | undefined> {
    const stored = (await this.existingStacks()).has(wanted.stack) ? await this.options.updates.state(wanted.stack) : undefined;
    const provider = this.options.registry.get(wanted.providerName)?.spec;
    const gate = await this.approvals.open(wanted, this.objectsOf(loadBalancers), { stored, hooks, provider });
    await this.options.record.waiting(wanted.stack, specOf(wanted), gate.run ? [] : gate.waiting);
    if (gate.run) return gate.approved === undefined ? {} : { approved: gate.approved };
    this.tried.delete(stack);
    this.warn(stack, gate.warning);
    if (gate.waiting.length === 0) this.lanes.addAfter(stack, GUARD_POLL_MS);
    return undefined;
  }

  /** As of every other update: credentials that last as long as it may take are got when it has a worker. */
  private hooksOf({ providerName, settings }: StackUpdate): UpdateHooks {
    const { isValid, registry } = this.options;
    return {
      isValid,
      isFrozen: () => registry.isFrozen(providerName),
      settings: async () => {
        const cloud = registry.get(providerName)?.cloud;
        return cloud === undefined ? settings : freshSettings(cloud);
      },
    };
  }

  private async remove(update: StackUpdate): Promise<void> {
    const name = extraStackOf(update.stack);
    const existing = await this.existingStacks();
    this.approvals.forget(name);
    // One that only waited for approval has a record, and nothing else.
    if (!existing.has(name)) return this.options.record.removed(name);
    const onStart = (): void => this.options.record.started(name, specOf(update), [], { kind: 'Destroy', cause: 'Change' });
    try {
      await this.options.updates.run(this.updateOf(update, undefined, { role: 'extra' }), { ...this.hooksOf(update), onStart });
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.record.failed(name, specOf(update), [], { error });
      throw error;
    }
    existing.delete(name);
    await this.options.record.removed(name);
  }

  /**
   * No `discover` goes with it: the provider knows nothing of what official plugins made, and what it doesn't know would be taken for gone.
   */
  private updateOf(base: StackUpdate, inputs: JsonObject | undefined, extension: NonNullable<StackUpdate['extension']>): StackUpdate {
    const { project, providerName, providerKind, clusterID } = base;
    // Those of today: the load balancers' stack may have settled long ago.
    const settings = this.options.registry.get(providerName)?.cloud?.workerSettings() ?? base.settings;
    const common = { project, providerName, providerKind, clusterID, settings, deadlineMs: DEADLINE_MS };
    const asked = inputs === undefined ? {} : { accepted: inputs };
    return { ...common, ...asked, stack: extraStackOf(base.stack), programVersion: versionOf(extension), inputs, extension };
  }

  /** StackOutputs of extensions/index.ts. */
  private inputsOf({ update, loadBalancers, outputs }: SettledStack): JsonObject {
    const capability = this.options.registry.connected(update.providerName).cloud.loadBalancers;
    const published = loadBalancers.flatMap((loadBalancer): PublishedLoadBalancer[] => {
      const ingress = capability?.results(outputs, loadBalancer.uid)?.ingress ?? [];
      return ingress.length === 0 ? [] : [{ ...loadBalancer, ingress }];
    });
    return { stack: update.stack, loadBalancers: published as unknown as JsonObject[], outputs };
  }

  private fail(settled: SettledStack, error: OperatorError): void {
    const { update, loadBalancers } = settled;
    const name = extraStackOf(update.stack);
    const message = `${sentence(messageWithRemedy(error, '. '))} The load balancer itself is not affected.`;
    this.options.logger.warn({ stack: name, code: error.code, error: error.message }, 'extra stack not reconciled');
    this.options.record.failed(name, specOf(update), loadBalancers.map(keyOf), { error });
    for (const object of this.objectsOf(loadBalancers)) this.options.events.event(object, 'Warning', 'ExtraFailed', message);
    this.warn(update.stack, { type: 'ExtraFailed', reason: reasonOfError(error), message });
  }

  private warn(stack: string, warning: Warning | undefined): void {
    if (this.warnings.get(stack)?.message === warning?.message) return;
    if (warning === undefined) this.warnings.delete(stack);
    else this.warnings.set(stack, warning);
    this.options.changed(stack);
  }

  /** The levers that stop the load balancers' own updates stop these too. */
  private isHeld({ update, loadBalancers }: SettledStack): boolean {
    if (this.options.registry.isFrozen(update.providerName)) return true;
    return this.objectsOf(loadBalancers).some((object) => leverOn(object, this.options.registry) !== undefined);
  }

  /** So do closed windows. @returns milliseconds until all are open; 0 = they are */
  private untilWindow({ update, loadBalancers }: SettledStack): number {
    const { registry, clock } = this.options;
    return untilWindow(this.objectsOf(loadBalancers), registry.get(update.providerName), clock.now());
  }

  private objectsOf(loadBalancers: readonly LoadBalancer[]): StoredLoadBalancer[] {
    const objects = loadBalancers.map((loadBalancer) => this.options.store.get(keyOf(loadBalancer)));
    return objects.filter(
      (object) => object !== undefined && loadBalancers.some(({ uid }) => uid === object.metadata.uid),
    ) as StoredLoadBalancer[];
  }

  /** Somebody who asks for a pass has it tried, too. */
  private hashOf({ loadBalancers, outputs }: SettledStack): string {
    const asked = this.objectsOf(loadBalancers).map(({ metadata }) => metadata.annotations?.[ANNOTATIONS.reconcile]);
    return hashJson({ loadBalancers, outputs, asked });
  }

  /** Remembered once it is known; after a failure it is asked again. */
  private exportsExtra(module: ExtensionModule): Promise<boolean> {
    this.hasExtra ??= this.options.exportsOf(module).then((names) => names.includes('extra'));
    this.hasExtra.catch(() => (this.hasExtra = undefined));
    return this.hasExtra;
  }

  /**
   * The list leaves out what can't be read, and after the load balancers' stack has gone nobody asks again.
   * @throws OperatorError Invalid where there is a state that can't be read
   */
  private async lookFor(name: string): Promise<void> {
    const existing = await this.existingStacks();
    if (!existing.has(name) && (await this.options.updates.state(name)) !== undefined) existing.add(name);
  }

  /** Names of the extra stacks that have state and can be read: read once, then kept, because nobody else makes any. */
  private existingStacks(): Promise<Set<string>> {
    this.existing ??= this.options.updates
      .states()
      .then((states) => new Set(states.map(({ stack }) => stack).filter((name) => name.endsWith(SUFFIX))));
    this.existing.catch(() => (this.existing = undefined));
    return this.existing;
  }
}

/** Name of the stack that has what an extension makes beside a load balancers' stack. */
export function extraStackOf(stack: string): string {
  return `${stack}${SUFFIX}`;
}

/** The extension's program has no version but what it is made of; none of them is newer than another. */
function versionOf({ module }: NonNullable<StackUpdate['extension']>): string {
  return module === undefined ? 'extension' : `extension ${module.digest}`;
}

function specOf({ providerName, project }: StackUpdate): CloudStackSpec {
  return { provider: providerName, kind: 'Extra', project };
}

function keyOf({ namespace, name }: LoadBalancer): string {
  return `${namespace}/${name}`;
}
