import { CLEANUP_FINALIZER } from '../../../crds';
import type { Adoption } from '../../../providers/provider';
import { OperatorError, type ErrorCode } from '../../base/errors';
import { keyOf } from '../../kube/object';
import { capped, summaryOf, type Plan } from '../../updates/plan';
import type { StackState } from '../../updates/update';
import { updateHash } from '../../updates/update-hash';
import { verdictOfError, type Verdict } from '../conditions';
import { leverOn, type ProviderLevers } from '../levers';
import { PlanCache } from '../plan/plan-cache';
import type { ConnectedCloud } from '../providers/registry';
import type { Known } from './stack-facts';
import type { Member } from './stack-kind';
import type { Whereabouts } from './stack-moves';
import type { UpdatePlan } from './stack-parts';
import type { AcceptedInputs } from './stack-plan';
import type { StackReconcilerOptions } from './stack-reconciler-options';
import type { StackRuns } from './stack-runs';
import { togetherOf, type Takeovers } from './takeovers';

/** Why one of several can't take over what it asks for, which says nothing of the others. */
const OF_ONE: readonly ErrorCode[] = ['Invalid', 'Taken'];
/** Nobody tells us when somebody else gives up what one of several asks for. */
const REFUSED_POLL_MS = 60_000;

/** What of others is taken over in place of being made (docs/operate/adopt.md). */
export class Adoptions<O extends Member> {
  private readonly plans = new PlanCache();

  constructor(
    private readonly options: Pick<StackReconcilerOptions<O>, 'kind' | 'registry' | 'updates' | 'events' | 'record' | 'again'>,
    private readonly runs: Pick<StackRuns<O>, 'of' | 'update' | 'hooks' | 'specOf'>,
  ) {}

  /**
   * What the stack's members take over, of which nothing was made here yet; asked again after an update that did not end.
   * @throws OperatorError why its only member can't, or that somebody else has what that asks for; of several, what says nothing of any of them
   */
  async gather(
    stack: string,
    members: readonly O[],
    { cloud, state }: Known,
    { origins }: Pick<Whereabouts, 'origins'>,
  ): Promise<Takeovers | undefined> {
    const { kind, registry } = this.options;
    if (kind.adoption === undefined || cloud === undefined || cloud.spec.freeze) return undefined;
    const alone = members.length === 1;
    const asking = members.filter((member) => isYetToBeMade(member, state, { alone, registry }) && !origins.has(member.metadata.uid));
    const taken = new Map<string, Adoption>();
    const refused = new Map<string, OperatorError>();
    const ask = async (member: O): Promise<void> => {
      const { uid } = member.metadata;
      try {
        const adoption = await kind.adoption?.(stack, member, cloud);
        if (adoption !== undefined) taken.set(uid, adoption);
      } catch (thrown) {
        if (alone || !(thrown instanceof OperatorError) || !OF_ONE.includes(thrown.code)) throw thrown;
        refused.set(uid, thrown);
      }
    };
    await Promise.all(asking.map(ask));
    if (refused.size > 0) this.options.again(stack, REFUSED_POLL_MS);
    return taken.size + refused.size === 0 ? undefined : { taken, refused };
  }

  /**
   * What taking over would do, for members that are only observed, in one plan: shown with their CloudStack.
   * @returns what is said of each of them, by UID
   * @throws OperatorError as a preview does
   */
  async foresee(
    stack: string,
    members: readonly O[],
    { takeovers, state }: Pick<Known, 'takeovers' | 'state'>,
    cloud: ConnectedCloud,
  ): Promise<ReadonlyMap<string, Verdict>> {
    const said = new Map<string, Verdict>();
    for (const { metadata } of members) {
      const error = takeovers?.refused.get(metadata.uid);
      if (error !== undefined) said.set(metadata.uid, verdictOfError(error, false));
    }
    const shown = members.flatMap((member) => {
      const adoption = takeovers?.taken.get(member.metadata.uid);
      return adoption === undefined ? [] : [{ member, adoption }];
    });
    const [first, ...others] = shown;
    if (first === undefined) return said;
    const plan = await this.preview(stack, shown, { takeovers, state }, cloud);
    const summary = summaryOf(plan);
    const reasonOf = ({ from }: Adoption): string => `it is only observed; otherwise it would be taken over from ${from}`.slice(0, 1024);
    const name = keyOf(first.member.metadata);
    const member = others.length === 0 ? name : `${name} and ${others.length} more`;
    const waiting = { member, hash: plan.hash, reason: reasonOf(first.adoption), summary, ...capped(plan.operations) };
    await this.options.record.waiting(stack, this.runs.specOf(cloud.name), [waiting]);
    const together = others.length === 0 ? '' : `, together with ${others.length} more of its load balancer`;
    for (const {
      member: { metadata },
      adoption,
    } of shown) {
      const message = `${reasonOf(adoption)}${together}: ${summary}. To see all of it: kubectl get cloudstack ${stack} -o yaml`;
      said.set(metadata.uid, { state: 'Reconciling', reason: 'Observed', message });
    }
    return said;
  }

  private preview(
    stack: string,
    shown: readonly { member: O; adoption: Adoption }[],
    { takeovers, state }: Pick<Known, 'takeovers' | 'state'>,
    cloud: ConnectedCloud,
  ): Promise<Plan> {
    const { kind, updates } = this.options;
    const taking = shown.map(({ member, adoption: { kept } }) => ({
      ...kind.inputOf(member),
      ...(kept !== undefined && { adopted: kept }),
    }));
    const inputs = [...Object.values((state?.accepted ?? {}) as unknown as AcceptedInputs), ...taking];
    const adopted = togetherOf(takeovers, taking) ?? [];
    const update = this.runs.update(stack, { ...this.runs.of(stack, inputs, cloud), force: true, adopted }, cloud);
    const key = `${updateHash(update)} ${adopted.map(({ id }) => id).join()}`;
    const hooks = this.runs.hooks(stack, cloud, adopted);
    return this.plans.plan(stack, undefined, key, () => updates.preview(update, hooks));
  }

  /** The update that takes it over has ended; one that left a member out took nothing of that. */
  ended({ parts }: UpdatePlan<O>, takeovers: Takeovers | undefined, failed: readonly O[]): void {
    for (const { object } of parts) {
      const { resources, from } = takeovers?.taken.get(object.metadata.uid) ?? { resources: [], from: '' };
      if (resources.length === 0 || failed.includes(object)) continue;
      this.options.events.event(object, 'Normal', 'Adopted', `Took over ${resources.length} resources from ${from}`);
    }
  }

  forget(stack: string): void {
    this.plans.forget(stack);
  }
}

/** Nothing was made of it here, or not to the end; and nothing keeps it from being looked at. */
function isYetToBeMade(
  member: Member,
  state: StackState | undefined,
  { alone, registry }: { alone: boolean; registry: ProviderLevers },
): boolean {
  const { metadata } = member;
  const accepted = state?.accepted?.[metadata.uid] !== undefined;
  // One that has the stack to itself is what the stack is; of older states with several nobody knows who is in them.
  const isMade = state !== undefined && (accepted || (!state.open && (alone || state.accepted === undefined)));
  const lever = leverOn(member, registry)?.kind;
  return !isMade && metadata.deletionTimestamp === undefined && (lever === undefined || lever === 'Observe');
}

/** It may have been taken over in an update that did not end: what it has is to stay until it is known what that is. Pure. */
export function hasBegun({ metadata, spec }: Member): boolean {
  return metadata.finalizers?.includes(CLEANUP_FINALIZER) === true && 'adopt' in spec && spec.adopt !== undefined;
}
