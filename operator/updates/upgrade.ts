import { canonicalJson } from '../base/json';
import type { StackState, StackUpdate } from './update';
import { transformOf, updateHash } from './update-hash';

/** What is stored of a stack, as far as it tells why an update is wanted. */
export type StoredProgram = Pick<StackState, 'programVersion' | 'inputsHash' | 'open' | 'accepted' | 'transform'>;

/**
 * True when nobody has asked for anything: only this operator's program, or the extension that transforms it, is another one than that which the stack
 * was made with
 * (design: Nothing runs to learn that nothing changed). Pure.
 */
export function isUpgrade(update: StackUpdate, stored: StoredProgram | undefined): boolean {
  if (stored === undefined || update.inputs === undefined || update.force === true || update.approved !== undefined) return false;
  const settled = !stored.open && stored.inputsHash !== '';
  const another = stored.programVersion !== update.programVersion || isTransformedAnew(update, stored);
  return settled && another && asksTheSame(update, stored);
}

/** The stack may have been made with the same extension by a version that did not write that down: then the hash is the same. */
function isTransformedAnew(update: StackUpdate, { transform, inputsHash }: StoredProgram): boolean {
  return transformOf(update.extension) !== transform && updateHash(update) !== inputsHash;
}

/** By the members' own inputs, since a newer operator may render others from them; without any, by the rendered ones. */
function asksTheSame(update: StackUpdate, { accepted, programVersion, inputsHash }: StoredProgram): boolean {
  if (update.accepted !== undefined && accepted !== undefined) return canonicalJson(update.accepted) === canonicalJson(accepted);
  return updateHash({ ...update, programVersion }) === inputsHash;
}
