import type { Adoption } from '../../../providers/provider';
import { keyOf } from '../../kube/object';
import { capped, summaryOf, type Plan } from '../../updates/plan';
import type { StackState } from '../../updates/update';
import { updateHash } from '../../updates/update-hash';
import type { Verdict } from '../conditions';
import { leverOn, type Observed } from '../levers';
import { PlanCache } from '../plan/plan-cache';
import type { ConnectedCloud } from '../providers/registry';
import type { Known } from './stack-facts';
import type { Member } from './stack-kind';
import type { Whereabouts } from './stack-moves';
import type { UpdatePlan } from './stack-parts';
import type { StackReconcilerOptions } from './stack-reconciler';
import type { StackRuns } from './stack-runs';

/** What of others is taken over in place of being made (docs/operate/adopt.md). */
export class Adoptions<O extends Member> {
  private readonly plans = new PlanCache();

  constructor(
    private readonly options: Pick<StackReconcilerOptions<O>, 'kind' | 'registry' | 'updates' | 'events' | 'record'>,
    private readonly runs: Pick<StackRuns<O>, 'of' | 'update' | 'hooks' | 'specOf'>,
  ) {}

  /**
   * What the stack's only member takes over, where nothing was made of it here yet; asked again after an update that did not end.
   * @throws OperatorError why it can't, or that somebody else has what it asks for
   */
  async gather(
    stack: string,
    members: readonly O[],
    { cloud, state }: Known,
    { origins }: Pick<Whereabouts, 'origins'>,
  ): Promise<Adoption | undefined> {
    const [member, ...others] = members;
    if (member === undefined || others.length > 0 || cloud === undefined || cloud.spec.freeze) return undefined;
    if (!isYetToBeMade(member, state, this.options.registry) || origins.has(member.metadata.uid)) return undefined;
    return this.options.kind.adoption?.(stack, member, cloud);
  }

  /** What taking it over would do, for a member that is only observed: shown with its CloudStack. @throws OperatorError as a preview does */
  async foresee(stack: string, member: O, adoption: Adoption, cloud: ConnectedCloud): Promise<Verdict> {
    const plan = await this.preview(stack, member, adoption, cloud);
    const summary = summaryOf(plan);
    const reason = `it is only observed; otherwise it would be taken over from ${adoption.from}`.slice(0, 1024);
    const shown = { member: keyOf(member.metadata), hash: plan.hash, reason, summary, ...capped(plan.operations) };
    await this.options.record.waiting(stack, this.runs.specOf(cloud.name), [shown]);
    const message = `${reason}: ${summary}. To see all of it: kubectl get cloudstack ${stack} -o yaml`;
    return { state: 'Reconciling', reason: 'Observed', message };
  }

  private preview(stack: string, member: O, adoption: Adoption, cloud: ConnectedCloud): Promise<Plan> {
    const { kind, updates } = this.options;
    const { kept, resources } = adoption;
    const input = { ...kind.inputOf(member), ...(kept !== undefined && { adopted: kept }) };
    const update = this.runs.update(stack, { ...this.runs.of(stack, [input], cloud), force: true, adoption }, cloud);
    const key = `${updateHash(update)} ${resources.map(({ id }) => id).join()}`;
    // A preview writes nothing, so that it may also run where nothing may be written.
    const hooks = { ...this.runs.hooks(stack, cloud, adoption), isFrozen: () => false };
    return this.plans.plan(stack, undefined, key, () => updates.preview(update, hooks));
  }

  /** The update that takes it over has ended; one that left the member out took nothing. */
  ended({ parts }: UpdatePlan<O>, adoption: Adoption | undefined, failed: number): void {
    if (adoption === undefined || adoption.resources.length === 0 || failed > 0) return;
    const message = `Took over ${adoption.resources.length} resources from ${adoption.from}`;
    parts.forEach(({ object }) => this.options.events.event(object, 'Normal', 'Adopted', message));
  }

  forget(stack: string): void {
    this.plans.forget(stack);
  }
}

/** Nothing was made of it here, or not to the end; and nothing keeps it from being looked at. */
function isYetToBeMade(member: Member, state: StackState | undefined, registry: Observed): boolean {
  const { metadata } = member;
  const isMade = state !== undefined && (!state.open || state.accepted?.[metadata.uid] !== undefined);
  const lever = leverOn(member, registry)?.kind;
  return !isMade && metadata.deletionTimestamp === undefined && (lever === undefined || lever === 'Observe');
}
