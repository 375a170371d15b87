import { CLEANUP_FINALIZER } from '../../../crds';
import { keyOf } from '../../kube/object';
import type { StackApprovals } from '../plan/stack-approvals';
import type { ConnectedCloud } from '../providers/registry';
import type { Adoptions } from './adoptions';
import type { CandidateHolds } from './candidate-holds';
import type { Member } from './stack-kind';
import type { UpdatePlan } from './stack-parts';
import type { StackReconcilerOptions } from './stack-reconciler-options';
import type { StackRuns } from './stack-runs';

export type DeparturesOptions<O extends Member> = Pick<
  StackReconcilerOptions<O>,
  'index' | 'registry' | 'updates' | 'writer' | 'record' | 'events' | 'isValid' | 'again' | 'rollout' | 'logger'
> & {
  runs: StackRuns<O>;
  approvals: StackApprovals<O>;
  adoptions: Adoptions<O>;
  holds: CandidateHolds;
};

/** How members and whole stacks go: out of the cloud, or let go of while what they have there stays. */
export class Departures<O extends Member> {
  constructor(private readonly options: DeparturesOptions<O>) {}

  /** Deletes all of the stack from the cloud. */
  async destroy(stack: string, leaving: readonly O[], cloud: ConnectedCloud): Promise<void> {
    const { record, updates, runs, index, again } = this.options;
    const made = leaving.filter((object) => object.metadata.finalizers?.includes(CLEANUP_FINALIZER));
    const known = record.leftover(stack) !== undefined || (await updates.state(stack)) !== undefined;
    const all = { members: made.map(({ metadata }) => keyOf(metadata)), objects: made, force: true };
    if (made.length > 0 || known) await runs.run(stack, all, cloud);
    for (const object of made) await this.letGo(object);
    if (index.formersIn(stack).length > 0) again(stack, 0);
    await this.ended(stack);
  }

  /** What the stack has is marked as nobody's before its state is dropped: from then on nothing of it would be known to be ours. */
  async forget(stack: string, released: readonly O[], { name, cloud }: ConnectedCloud): Promise<void> {
    const { registry, updates, logger, again } = this.options;
    const isValid = (): boolean => this.options.isValid() && !registry.isFrozen(name);
    await cloud.release?.(stack, isValid);
    await updates.forget(stack);
    const message = 'What it had in the cloud stays there, marked as released; nobody looks after it any more (docs/operate/adopt.md)';
    await this.releaseObjects(released, message);
    logger.info({ stack }, 'stack released: its resources stay in the cloud');
    await this.ended(stack);
    if (!released.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) again(stack, 0);
  }

  /** These objects go; what the stack has of them stays in it, as of members that vanished (docs/operate/levers.md). */
  release(stack: string, { released }: UpdatePlan<O>): Promise<void> {
    return this.releaseObjects(released, `It is let go of, and what it has in the cloud stays as it is: see CloudStack ${stack}`);
  }

  /**
   * Ends what the update has taken out of the stack: what they had may be what those wait for that are held.
   * @param stuck have something that could not be deleted
   * @returns true when that was something
   */
  async letGoOf({ parts, leaving, departing }: UpdatePlan<O>, stuck: readonly O[] = []): Promise<boolean> {
    const gone = leaving.filter((object) => !stuck.includes(object));
    for (const object of gone) await this.letGo(object);
    const left = gone.length + departing.length > 0;
    if (left) parts.forEach(({ object }) => this.options.holds.release(object.metadata.uid));
    return left;
  }

  private async releaseObjects(objects: readonly O[], message: string): Promise<void> {
    for (const object of objects) {
      this.options.events.event(object, 'Normal', 'Released', message);
      await this.options.writer.removeFinalizer(object);
    }
  }

  /** An object that other stacks may still have keeps its finalizer until they don't. */
  private async letGo(object: O): Promise<void> {
    const formers = this.options.index.formersOf(keyOf(object.metadata));
    if (formers.length === 0) await this.options.writer.removeFinalizer(object);
    else formers.forEach((stack) => this.options.again(stack, 0));
  }

  /** The stack is no more: nothing is remembered of it. */
  async ended(stack: string): Promise<void> {
    this.options.approvals.forget(stack);
    this.options.adoptions.forget(stack);
    this.options.rollout.forget(stack);
    await this.options.record.removed(stack);
  }
}
