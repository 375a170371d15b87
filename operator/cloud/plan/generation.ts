import type { Replacement } from '../../../providers/provider';
import type { JsonObject } from '../../base/json';
import type { Verdict } from '../conditions';
import type { MemberInput } from '../stack/member-input';
import type { TimeLeft } from './retirements';

/** A member's input that may be in the cloud twice while it is replaced. */
export interface GenerationalInput extends MemberInput {
  /** Raised by every replacement; absent = the first. */
  generation?: number;
  /** The generation before, which stays beside this one until then (RFC 3339; absent = nothing was switched to this one yet). */
  retiring?: { input: GenerationalInput; until?: string };
  /** The stack that has the generation before, until then (absent = nothing was switched to this one yet); kept as a mark when that is over. */
  movedFrom?: { stack: string; until?: string };
  /** This generation was taken over: what the program must know of it. */
  adopted?: JsonObject;
  /** It takes the place of what was taken over, under the same names in the program: nothing of that is kept. */
  inPlaceOfAdopted?: true;
  /** Nothing of it is made before the stack that it comes from has given it up (plan/promise.ts). */
  promised?: true;
}

/** What a stack has of a member. */
export interface Holding {
  stack: string;
  input: GenerationalInput;
}

export interface Generations {
  /** Why the change needs a replacement; undefined = it is made in place. Pure. */
  replacement(accepted: GenerationalInput, wanted: GenerationalInput): Replacement | undefined;
  left: TimeLeft;
}

/** What a member's update is to render next. */
export interface NextInput {
  input: GenerationalInput;
  replacement?: Replacement;
  /** The change can't begin before the generation that is being replaced has gone: then (RFC 3339; empty = that is not known yet). */
  waitsUntil?: string;
}

/**
 * Replacing what carries traffic takes two updates (design section 4): the first holds both generations, the second drops the old one when its
 * time is over. What exists only once can't be there twice: its replacement deletes first, within one generation, or takes the old one's place in one update,
 * as the next one. Pure.
 * @param accepted what the cloud was last brought to; absent = nothing
 * @param wanted what the spec asks for, without a generation
 */
export function nextInput(accepted: GenerationalInput | undefined, wanted: GenerationalInput, generations: Generations): NextInput {
  if (accepted === undefined) return { input: wanted };
  const { retiring, movedFrom, ...own } = accepted;
  const moved = movedFrom === undefined ? {} : { movedFrom };
  const kept = retiring !== undefined && !isOver(retiring.until, generations.left) ? retiring : undefined;
  const made = { ...wanted, ...marksOf(own), ...moved, ...(kept === undefined ? {} : { retiring: kept }) };
  const same = own.adopted === undefined ? made : { ...made, adopted: own.adopted };
  const replacement = generations.replacement(accepted, same);
  if (replacement === undefined) return { input: same };
  if (kept !== undefined) return { input: same, waitsUntil: kept.until ?? '' };
  // What takes its place was not taken over, and says so: by its name alone it would be taken for that.
  if (isWithin(replacement)) return { input: own.adopted === undefined ? made : { ...made, inPlaceOfAdopted: true }, replacement };
  return { input: { ...wanted, ...moved, generation: generationOf(accepted) + 1, ...retiredBy(replacement, own) }, replacement };
}

/** What a generation goes on with, whatever is changed of it in place. */
function marksOf({ generation, inPlaceOfAdopted }: GenerationalInput): Pick<GenerationalInput, 'generation' | 'inPlaceOfAdopted'> {
  return { ...(generation !== undefined && { generation }), ...(inPlaceOfAdopted !== undefined && { inPlaceOfAdopted }) };
}

/** What stays beside the next generation for a while: nothing where they can't be there together. */
function retiredBy({ gap }: Replacement, input: GenerationalInput): Pick<GenerationalInput, 'retiring'> {
  return gap ? {} : { retiring: { input } };
}

/** It deletes first, under the names of what it replaces. */
function isWithin({ gap, renamed }: Replacement): boolean {
  return gap && renamed !== true;
}

/**
 * The same for a member that another stack has: the new generation is made here, the old one stays there. Pure.
 * @param move why the change moves it, and whether it needs what the old one has
 */
export function movedInput(origin: Holding, wanted: GenerationalInput, { why, gap, left }: Replacement & { left: TimeLeft }): NextInput {
  const input = { ...wanted, generation: generationOf(origin.input) + 1, movedFrom: { stack: origin.stack } };
  const until = origin.input.movedFrom?.until;
  if (until !== undefined && !isOver(until, left)) return { input, waitsUntil: until };
  return { input, replacement: { why, gap } };
}

/** The stack that is to be looked at as soon as the input was accepted: it keeps the old generation for a while, or gives it up at once. Pure. */
export function leftBehind(input: MemberInput | undefined): string | undefined {
  const { movedFrom, promised } = (input ?? {}) as Partial<GenerationalInput>;
  return movedFrom?.until === undefined || promised === true ? movedFrom?.stack : undefined;
}

/** The number of a generation: the first is 0, none at all −1. Pure. */
export function generationOf(input: GenerationalInput | undefined): number {
  return input === undefined ? -1 : (input.generation ?? 0);
}

/** True for a generation that serves beside an old one of which nobody has said yet when it goes. Pure. */
export function isUndated(input: MemberInput): boolean {
  const { retiring, movedFrom } = input as GenerationalInput;
  return [retiring, movedFrom].some((old) => old !== undefined && old.until === undefined);
}

/** The input with the time at which the old generation goes, once clients are sent to the new one. Pure. @param until RFC 3339 */
export function stamped<I extends MemberInput>(input: I, until: string): I {
  const { retiring, movedFrom } = input as GenerationalInput;
  return {
    ...input,
    ...(retiring !== undefined && { retiring: { until, ...retiring } }),
    ...(movedFrom !== undefined && { movedFrom: { until, ...movedFrom } }),
  };
}

/** In how many milliseconds the old generation of an input goes; undefined = there is none. Pure. @param delayMs of a replacement that was just made */
export function retirementIn(input: MemberInput, left: TimeLeft, delayMs: number): number | undefined {
  const { retiring } = input as GenerationalInput;
  if (retiring === undefined) return undefined;
  return retiring.until === undefined ? delayMs : left(retiring.until);
}

/** What is said of a change that must wait for the end of the replacement before. Pure. @param until RFC 3339; empty = not known yet */
export function replacing(until: string): Verdict {
  const message = `It was replaced not long ago, and the change needs another replacement; that begins when the old one has gone${until === '' ? '' : `, at ${until}`}`;
  return { state: 'Reconciling', reason: 'Replacing', message };
}

/** True when the candidate only drops the old generation: the second half of a replacement that was begun with approval. Pure. */
export function onlyRetires(accepted: MemberInput, candidate: MemberInput, equal: (a: unknown, b: unknown) => boolean): boolean {
  const { retiring, ...left } = accepted as GenerationalInput;
  return retiring !== undefined && equal(left, candidate);
}

/** True when a time (RFC 3339) has come; false where none is set. Pure. */
export function isOver(until: string | undefined, left: TimeLeft): boolean {
  return until !== undefined && left(until) === 0;
}
