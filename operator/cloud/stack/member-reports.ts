import { ANNOTATIONS } from '../../../crds';
import { toOperatorError, type OperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import { withoutNextTry } from '../../base/next-try';
import type { EventRecorder } from '../../kube/api';
import { keyOf, type KubeObject } from '../../kube/object';
import type { StateHold } from '../../updates/held-writes';
import { verdictOfError, verdictOfHold, verdictWithoutState, type Verdict } from '../conditions';
import type { ObjectWriter } from '../object-writer';
import { echoOf } from '../reconcile-token';
import type { PlannedRetry } from './stack-retries';
import type { Knowledge, Member, StackKind, StatusFields } from './stack-kind';

/** What went wrong, and what follows from it. */
export interface Failure {
  error: OperatorError;
  retry: PlannedRetry;
  /** Nothing is known to be wrong with what stands: the state could not be read or stored. */
  standing?: boolean;
  /** In words: the cloud was changed by somebody else, and is left as it is. */
  drifted?: string | undefined;
}

export interface MemberReportsOptions<O extends Member> {
  kind: StackKind<O>;
  writer: ObjectWriter;
  events: EventRecorder;
  logger: Logger;
}

/** Says in the members' statuses and Events how their stacks are. */
export class MemberReports<O extends Member> {
  /** Stacks whose newest pass failed, and the objects (UID and generation) that say so. */
  private readonly failing = new Map<string, Set<string>>();
  /** UIDs of objects whose status was written by the pass that runs. */
  private readonly written = new Set<string>();
  /** What the passes that run know of their stacks. */
  private readonly knowledge = new Map<string, Knowledge>();
  /** The same of other stacks that have some of the members, by stack and UID. */
  private readonly origins = new Map<string, Map<string, Knowledge>>();

  constructor(private readonly options: MemberReportsOptions<O>) {}

  /** A pass has found out about its stack, or an update has changed it. */
  know(stack: string, knowledge: Knowledge): void {
    this.knowledge.set(stack, knowledge);
  }

  /** An update of the stack has failed on its way: what it has left is what there is. */
  left(stack: string, state: Knowledge['state']): void {
    const known = this.knowledge.get(stack);
    if (known !== undefined) this.know(stack, { ...known, state });
  }

  /** Another stack has the newest of a member, and is what its status speaks of. */
  knowOrigin(stack: string, uid: string, origin: Knowledge): void {
    this.origins.set(stack, (this.origins.get(stack) ?? new Map<string, Knowledge>()).set(uid, origin));
  }

  /** From now on the member is what its own stack has. */
  arrived(stack: string, uid: string): void {
    this.origins.get(stack)?.delete(uid);
  }

  isElsewhere(stack: string, uid: string): boolean {
    return this.origins.get(stack)?.has(uid) === true;
  }

  /** The pass is over. */
  forget(stack: string): void {
    this.knowledge.delete(stack);
    this.origins.delete(stack);
  }

  isFailing(stack: string): boolean {
    return this.failing.has(stack);
  }

  passed(stack: string): void {
    this.failing.delete(stack);
  }

  failed(stack: string): void {
    if (!this.failing.has(stack)) this.failing.set(stack, new Set());
  }

  /** The part of its status that stays true whatever happens now. */
  kept(stack: string, object: O): StatusFields {
    return this.options.kind.keptFields(object, this.known(stack, object));
  }

  serving(stack: string, object: O): boolean {
    return this.options.kind.serving(object, this.known(stack, object));
  }

  /** Writes the status where the cache shows another one, or may be behind a write of this pass. */
  async report(object: O, fields: StatusFields, verdict: Verdict): Promise<void> {
    if (verdict.state === 'Stalled') this.warn(object, verdict);
    await this.write(object, fields, verdict);
  }

  private async write(object: O, fields: StatusFields, verdict: Verdict): Promise<void> {
    const lastHandledReconcile = echoOf(object.metadata.annotations?.[ANNOTATIONS.reconcile]);
    const always = this.written.delete(object.metadata.uid);
    await this.options.writer.writeStatus(object, { ...fields, lastHandledReconcile }, verdict, always);
  }

  /** An update begins. An object that says why the last try failed goes on saying so while the same is tried again. */
  async announce(stack: string, objects: readonly O[], reason: 'Updating' | 'Deleting'): Promise<void> {
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
      // Nothing that is said later of what is being deleted is what its status said before.
      if (reason === 'Updating') this.written.add(object.metadata.uid);
    }
  }

  /** An update waits for the state store. */
  async held(stack: string, objects: readonly O[], hold: StateHold): Promise<void> {
    for (const object of objects) {
      // What failed before is no longer what it says: when this is over, it says that the update goes on.
      this.failing.get(stack)?.delete(versionOf(object));
      const serving = this.serving(stack, object) && object.metadata.deletionTimestamp === undefined;
      const fields = { ...this.kept(stack, object), stack };
      await this.write(object, fields, verdictOfHold(hold, serving)).catch((thrown: unknown) => this.complain(object, thrown));
      this.written.add(object.metadata.uid);
    }
  }

  /** Their stack could not be brought to what they ask for. */
  async fail(stack: string, objects: readonly O[], { error, retry, standing = false, drifted }: Failure): Promise<void> {
    for (const object of objects) {
      const fields = { ...this.kept(stack, object), stack };
      const stands = standing && this.serving(stack, object) ? verdictWithoutState(object, error) : undefined;
      if (stands !== undefined) {
        await this.write(object, fields, stands).catch((thrown: unknown) => this.complain(object, thrown));
        continue;
      }
      this.failing.get(stack)?.add(versionOf(object));
      const serving = this.serving(stack, object) && object.metadata.deletionTimestamp === undefined;
      const verdict = { ...verdictOfError(error, serving, retry), ...(drifted !== undefined && { drifted }) };
      // The time of the next try would make each Event another one.
      this.options.events.event(object, 'Warning', 'UpdateFailed', verdictOfError(error, serving).message);
      this.written.add(object.metadata.uid);
      await this.write(object, fields, verdict).catch((thrown: unknown) => this.complain(object, thrown));
    }
  }

  /** Once per message: a person is needed. */
  private warn(object: O, { reason, message }: Verdict & { state: 'Stalled' }): void {
    const said = object.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    const text = withoutNextTry(message);
    if (withoutNextTry(said) !== text) this.options.events.event(object, 'Warning', reason, text);
  }

  private known(stack: string, { metadata }: O): Knowledge {
    return this.origins.get(stack)?.get(metadata.uid) ?? this.knowledge.get(stack) ?? {};
  }

  private complain(object: O, thrown: unknown): void {
    const error = toOperatorError(thrown).message;
    this.options.logger.warn({ object: keyOf(object.metadata), error }, 'status not written; the next pass writes it');
  }
}

function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid} ${metadata.generation}`;
}
