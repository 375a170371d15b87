import type { EventRecorder } from '../../kube/api';
import { updateHash } from '../../updates/update-hash';
import type { StackState, StackUpdate, UpdateHooks, Updates } from '../../updates/update';
import type { MemberInput } from '../member-input';
import type { ConnectedCloud } from '../registry';
import type { Member, StackKind } from '../stack-kind';
import { inputsOf, type UpdatePlan } from '../stack-parts';
import type { ApprovalGuard } from './approval-guard';
import { whyApproval } from './approval';
import { ApprovalGate, type Gated } from './approval-gate';
import { PlanCache } from './plan-cache';

export interface StackApprovalsOptions<O extends Member> {
  kind: StackKind<O>;
  updates: Updates;
  events: EventRecorder;
  guard: Pick<ApprovalGuard, 'problem'>;
  /** Asks for another pass over a stack after so many milliseconds. */
  again: (stack: string, afterMs: number) => void;
}

/** Nobody tells us when the guard is installed. */
const GUARD_POLL_MS = 10_000;

/** One pass over a stack that would change something. */
export interface ApprovalPass<O> {
  stack: string;
  plan: UpdatePlan<O>;
  cloud: ConnectedCloud;
  state: StackState | undefined;
  /** The cloud was found changed. */
  drifted: boolean;
  hooks: UpdateHooks;
  serving: (object: O) => boolean;
  updateOf: (inputs: MemberInput[]) => StackUpdate;
}

/** Finds out which changes of a stack wait for a person, and what they would do. */
export class StackApprovals<O extends Member> {
  private readonly gate: ApprovalGate<O>;
  private readonly cache = new PlanCache();

  constructor(private readonly options: StackApprovalsOptions<O>) {
    this.gate = new ApprovalGate(options.events);
  }

  /** @throws OperatorError when a plan can't be made */
  open(pass: ApprovalPass<O>): Promise<Gated<O>> {
    const { stack, plan, state, hooks } = pass;
    const { kind, updates } = this.options;
    const manual = plan.parts.some(({ object }) => kind.updatePolicy?.(object)?.approval === 'Manual');
    const pending = manual && isPending(pass);
    let asked: Promise<string | undefined> | undefined;
    return this.gate.open({
      stack,
      plan,
      serving: (object) => pass.serving(object),
      unprotected: async ({ object }) => {
        if (kind.updatePolicy?.(object)?.approval !== 'Manual') return undefined;
        asked ??= this.options.guard.problem();
        const problem = await asked;
        if (problem !== undefined) this.options.again(stack, GUARD_POLL_MS);
        return problem;
      },
      why: (part) => whyApproval({ part, pending, policy: kind.updatePolicy?.(part.object), replacement: part.replacement }),
      preview: (inputs) => {
        const update = pass.updateOf(inputs);
        return this.cache.plan(stack, state, updateHash(update), () => updates.preview(update, hooks));
      },
    });
  }

  /** The stack is gone. */
  forget(stack: string): void {
    this.cache.forget(stack);
  }
}

/** True when an update would run with what was accepted already. */
function isPending<O>({ plan, state, drifted, updateOf }: ApprovalPass<O>): boolean {
  if (state === undefined || plan.leaving.length + plan.departing.length > 0) return false;
  return drifted || state.open || updateHash(updateOf(inputsOf(plan, []))) !== state.inputsHash;
}
