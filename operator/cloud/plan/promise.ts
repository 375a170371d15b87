import { hashJson } from '../../base/json';
import type { Verdict } from '../conditions';
import { keyOfInput, type MemberInput } from '../stack/member-input';
import type { Part } from '../stack/stack-plan';
import type { UpdatePlan } from '../stack/stack-parts';
import type { Plan } from '../../updates/plan';
import { generationOf, type GenerationalInput } from './generation';

/**
 * A move of what exists only once, such as an address, deletes first. It has three steps, each of which begins with what the stacks' state says, so that
 * whoever goes on after a crash takes the next one: the new stack accepts the member as promised, and makes nothing of it; the old one gives it up;
 * the new one makes it. Consent is asked for the first step alone (docs/decisions/0015-moves-that-delete-first.md).
 */
export function isPromised(input: MemberInput | undefined): boolean {
  return (input as GenerationalInput | undefined)?.promised === true;
}

/** The stack that must give up first what was promised; undefined = nothing was promised. Pure. */
export function givenUpBy(input: GenerationalInput | undefined): string | undefined {
  return isPromised(input) ? input?.movedFrom?.stack : undefined;
}

/** What a move that deletes first does in both stacks, in its order: nobody approves the one half without the other. Pure. @param stack the one that gives it up */
export function planOfMove(made: Plan, { stack, plan: lost }: { stack: string; plan: Plan }): Plan {
  const sum = (of: keyof Plan['counts']): number => made.counts[of] + lost.counts[of];
  return {
    hash: hashJson({ made: made.hash, lost: lost.hash }),
    counts: { create: sum('create'), update: sum('update'), replace: sum('replace'), delete: sum('delete'), same: sum('same') },
    operations: [...lost.operations.map((operation) => ({ ...operation, stack })), ...made.operations],
  };
}

/** The plan with each move that deletes first at its first step. Pure. @param now milliseconds since 1970 */
export function promising<O>(plan: UpdatePlan<O>, now: number): UpdatePlan<O> {
  if (!plan.parts.some(beginsMove)) return plan;
  return { ...plan, parts: plan.parts.map((part) => (beginsMove(part) ? promised(part, now) : part)) };
}

/** The input as it was promised. Pure. */
export function kept({ promised: _, ...input }: GenerationalInput): GenerationalInput {
  return input;
}

/** True when the candidate is what was promised: the end of a move that was begun with consent. Pure. */
export function keepsPromise(accepted: MemberInput, candidate: MemberInput, equal: (a: unknown, b: unknown) => boolean): boolean {
  return isPromised(accepted) && equal(kept(accepted), candidate);
}

/** What is said while the old stack gives it up. Pure. */
export function givingUp(input: GenerationalInput): Verdict {
  const { stack = 'it was in' } = input.movedFrom ?? {};
  const message = `${keyOfInput(input)} moves, and what it has exists only once: stack ${stack} deletes it first, then it is made here; traffic has a gap until then`;
  return { state: 'Reconciling', reason: 'Replacing', message };
}

/** True when the part is the first step of a move that deletes first. Pure. */
export function beginsMove<O>({ candidate, accepted, replacement }: Part<O>): boolean {
  const { movedFrom, promised: already } = (candidate ?? {}) as Partial<GenerationalInput>;
  // What was made here already is replaced here.
  const isNew = generationOf(candidate) > generationOf(accepted) && replacement?.renamed !== true;
  return replacement?.gap === true && movedFrom !== undefined && movedFrom.until === undefined && already !== true && isNew;
}

/** The old stack may go at once. */
function promised<O>(part: Part<O>, now: number): Part<O> {
  const { movedFrom, ...input } = part.candidate as GenerationalInput;
  const until = new Date(now).toISOString();
  const candidate: GenerationalInput = {
    ...input,
    promised: true,
    ...(movedFrom === undefined ? {} : { movedFrom: { ...movedFrom, until } }),
  };
  return { ...part, candidate, verdict: givingUp(candidate) };
}
