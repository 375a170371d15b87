import type { Problem } from '../../providers/provider';
import type { Verdict } from './conditions';

/** A member of a stack, as far as the plan depends on it. */
export interface MemberFacts<O> {
  object: O;
  deleting: boolean;
  paused: boolean;
  /** What policy and provider have against it; only Errors count. */
  problems: Problem[];
  /** An earlier version of it is in the cloud. */
  serving: boolean;
}

export interface StackFacts<O> {
  members: MemberFacts<O>[];
  /** There is state for the stack. */
  known: boolean;
  /** CloudProvider.spec.freeze. */
  frozen: boolean;
  provider: string;
}

export type StackPlan<O> =
  /** Nothing wanted, nothing known: the record may go. */
  | { kind: 'Forget' }
  /** State without members, none of which left by its deletion: kept until a person releases it. */
  | { kind: 'Keep' }
  /** Nothing is done now; each member gets its verdict. */
  | { kind: 'Hold'; verdicts: { object: O; verdict: Verdict }[] }
  | { kind: 'Update'; live: O[]; leaving: O[] }
  | { kind: 'Destroy'; leaving: O[] };

/** What to do about a stack. Pure; the levers in the order of the design (section 4, Levers). */
export function planStack<O>(facts: StackFacts<O>): StackPlan<O> {
  const { members } = facts;
  if (members.length === 0) return facts.known ? { kind: 'Keep' } : { kind: 'Forget' };
  if (facts.frozen)
    return hold(members, () =>
      waiting('Frozen', `CloudProvider ${facts.provider} is frozen (spec.freeze); nothing is written to the cloud`),
    );
  if (members.some((member) => member.paused))
    return hold(members, () => waiting('Paused', 'paused by annotation cloud-operator.dev/pause'));
  const live = members.filter((member) => !member.deleting);
  const leaving = members.filter((member) => member.deleting).map((member) => member.object);
  if (live.length === 0) return { kind: 'Destroy', leaving };
  if (live.some((member) => errorsOf(member).length > 0)) return hold(members, refusal);
  return { kind: 'Update', live: live.map((member) => member.object), leaving };
}

function hold<O>(members: MemberFacts<O>[], verdictFor: (member: MemberFacts<O>) => Verdict): StackPlan<O> {
  return {
    kind: 'Hold',
    verdicts: members.map((member) => {
      const verdict = verdictFor(member);
      return {
        object: member.object,
        verdict: verdict.state === 'Ready' ? verdict : { ...verdict, serving: member.serving && verdict.state !== 'Stalled' },
      };
    }),
  };
}

function refusal<O>(member: MemberFacts<O>): Verdict {
  const errors = errorsOf(member);
  if (errors.length === 0) return waiting('StackHeld', 'another load balancer of the same placement is invalid; see the CloudStack');
  const text = errors.map((problem) => problem.message).join('; ');
  return { state: 'Stalled', reason: 'Invalid', message: member.serving ? `${text}. The last good version keeps serving.` : text };
}

function waiting(reason: string, message: string): Verdict {
  return { state: 'Reconciling', reason, message };
}

function errorsOf<O>(member: MemberFacts<O>): Problem[] {
  return member.problems.filter((problem) => problem.severity === 'Error');
}
