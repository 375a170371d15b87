import type { Plan } from '../../updates/plan';
import type { StackState } from '../../updates/update';

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
    const plan = known.byInputs.get(inputs) ?? (await make());
    known.byInputs.set(inputs, plan);
    return plan;
  }

  forget(stack: string): void {
    this.plans.delete(stack);
  }
}
