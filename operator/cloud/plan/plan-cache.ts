import type { Plan } from '../../updates/plan';
import type { StackState } from '../../updates/update';

/** Of a stack: more than it has members, of which each may wait with a plan of its own. Without a limit, each edit of what nobody approves would leave one. */
export const PLANS_KEPT = 2_000;

/** Plans that were made, so that a pass over a stack where nothing has happened makes none again. */
export class PlanCache {
  /** By stack: key → plan, of the state that it was made from. */
  private readonly plans = new Map<string, { basis: string; byInputs: Map<string, Plan> }>();

  /**
   * The plan for a state and the hash of an update's inputs.
   * @param make asked where the plan is not known; never kept for a stack that is open, since its plan depends on the cloud
   */
  async plan(stack: string, state: StackState | undefined, inputs: string, make: () => Promise<Plan>): Promise<Plan> {
    if (state?.open === true) return make();
    const basis = state === undefined ? '' : `${state.incarnation} ${state.revision}`;
    let known = this.plans.get(stack);
    if (known?.basis !== basis) this.plans.set(stack, (known = { basis, byInputs: new Map<string, Plan>() }));
    const { byInputs } = known;
    const plan = byInputs.get(inputs) ?? (await make());
    byInputs.delete(inputs);
    byInputs.set(inputs, plan);
    const [longestAgo = inputs] = byInputs.keys();
    if (byInputs.size > PLANS_KEPT) byInputs.delete(longestAgo);
    return plan;
  }

  forget(stack: string): void {
    this.plans.delete(stack);
  }
}
