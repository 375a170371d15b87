import { ANNOTATIONS, type CloudProviderSpec, type WaitingPlan } from '../../../crds';
import type { EventRecorder } from '../../kube/api';
import { keyOf } from '../../kube/object';
import { capped, summaryOf, type Plan } from '../../updates/plan';
import type { StackState, StackUpdate, UpdateHooks, Updates } from '../../updates/update';
import { updateHash } from '../../updates/update-hash';
import type { Warning } from '../conditions';
import type { StoredLoadBalancer } from '../stack/load-balancer-stacks';
import { updatePolicyOf, whyManual } from './approval';
import { unprotected, type ApprovalGuard } from './approval-guard';
import { approvalMessage } from './approval-message';
import { PlanCache } from './plan-cache';

/** What may be done about an extra stack now. */
export type ExtraGate =
  /** The update may run; with `approved` it is exactly that plan, or fails. */
  | { run: true; approved?: string }
  /** Nobody, or not everybody, has approved it. */
  | { run: false; warning: Warning; waiting: WaitingPlan[] };

/** Lets no change of an extra stack to the cloud that the people of its load balancers must approve first, and have not (design: Levers). */
export class ExtraApprovals {
  private readonly cache = new PlanCache();
  /** Hash of the plan that was last told of, by stack. */
  private readonly told = new Map<string, string>();

  constructor(
    private readonly options: { updates: Pick<Updates, 'preview'>; guard: Pick<ApprovalGuard, 'problem'>; events: EventRecorder },
  ) {}

  /**
   * @param objects the load balancers that the stack is for
   * @param provider of all of them
   * @throws OperatorError when a plan can't be made
   */
  async open(
    update: StackUpdate,
    objects: readonly StoredLoadBalancer[],
    { stored, hooks, provider }: { stored: StackState | undefined; hooks: UpdateHooks; provider: CloudProviderSpec | undefined },
  ): Promise<ExtraGate> {
    const manual = objects.filter((object) => updatePolicyOf(object, provider)?.approval === 'Manual');
    const hash = updateHash(update);
    if (manual.length === 0 || needsNone(hash, stored)) return { run: true };
    const problem = await this.options.guard.problem();
    if (problem !== undefined) return { run: false, waiting: [], warning: warningOf('ApprovalUnprotected', unprotected(problem).message) };
    const plan = await this.cache.plan(update.stack, stored, hash, () => this.options.updates.preview(update, hooks));
    const lacking = lackingOf(plan, manual);
    if (lacking.length === 0) return { run: true, approved: plan.hash };
    const whyOf: WhyOf = (object) => whyManual(updatePolicyOf(object, provider) ?? { approval: 'Manual' });
    const warning = warningOf('AwaitingApproval', messageOf(update.stack, plan, lacking, whyOf));
    this.tell(update.stack, plan, lacking, whyOf);
    return { run: false, warning, waiting: lacking.map((object) => waitingOf(plan, object, whyOf)) };
  }

  /** The stack is gone, or its plan has become another one. */
  forget(stack: string): void {
    this.cache.forget(stack);
    this.told.delete(stack);
  }

  private tell(stack: string, plan: Plan, lacking: readonly StoredLoadBalancer[], whyOf: WhyOf): void {
    if (this.told.get(stack) === plan.hash) return;
    this.told.set(stack, plan.hash);
    for (const object of lacking) {
      const message = `Plan ${plan.hash} of stack ${stack} waits for approval, since ${whyOf(object)}: ${summaryOf(plan)}`;
      this.options.events.event(object, 'Normal', 'AwaitingApproval', message);
    }
  }
}

/** Why a load balancer's approval is asked for, in words. */
type WhyOf = (object: StoredLoadBalancer) => string;

/** It is what it should be, or was approved and stopped halfway with the operator. */
function needsNone(hash: string, stored: StackState | undefined): boolean {
  if (stored === undefined) return false;
  return stored.open ? stored.underway === hash : stored.inputsHash === hash;
}

/** Who has not approved the plan; a plan that changes nothing needs nobody. Pure. */
export function lackingOf({ hash, operations }: Plan, manual: readonly StoredLoadBalancer[]): StoredLoadBalancer[] {
  return operations.length === 0 ? [] : manual.filter(({ metadata }) => metadata.annotations?.[ANNOTATIONS.approve]?.trim() !== hash);
}

function messageOf(stack: string, plan: Plan, [first, ...others]: readonly StoredLoadBalancer[], whyOf: WhyOf): string {
  if (first === undefined) return '';
  const given = first.metadata.annotations?.[ANNOTATIONS.approve]?.trim();
  const message = approvalMessage({ stack, object: first, hash: plan.hash, summary: summaryOf(plan), why: whyOf(first), given });
  const more = others.length === 0 ? '' : `, and the same for ${others.map(({ metadata }) => keyOf(metadata)).join(', ')}`;
  return `What the extension adds: ${message}${more}`;
}

function waitingOf(plan: Plan, object: StoredLoadBalancer, whyOf: WhyOf): WaitingPlan {
  return { member: keyOf(object.metadata), hash: plan.hash, reason: whyOf(object), summary: summaryOf(plan), ...capped(plan.operations) };
}

function warningOf(reason: 'AwaitingApproval' | 'ApprovalUnprotected', message: string): Warning {
  return { type: 'ExtraAwaitingApproval', reason, message };
}
