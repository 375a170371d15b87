import type { PlannedOperation } from '../../../crds';
import { OWN_PACKAGE } from '../../../providers/resource-provider/own-package';
import type { Replacement } from '../../../providers/provider';
import { shortType } from '../../updates/checkpoint';
import { keyOfInput, type MemberInput } from '../stack/member-input';

/** What an update takes away from members of a stack none of whose specs asks for it: other settings, a newer program, or a change in the cloud does. */
export interface Cut {
  /** UIDs. */
  members: ReadonlySet<string>;
  /** With who is cut in words. */
  replacement: Replacement;
  /** Those of the members who can't be asked, in words; absent = all can. */
  silent?: string;
}

export interface CutFacts {
  /** Why the stack is made otherwise: the beginning of a sentence. */
  why: string;
  /** What brings all that was accepted to the settings and the program of today. */
  operations: readonly PlannedOperation[];
  /** Those that stay in the stack. */
  staying: readonly MemberInput[];
  /** UIDs of those of them who can be asked. */
  askable: ReadonlySet<string>;
  /** What an operation takes away, in words; undefined = nothing. */
  lossBy: (operation: PlannedOperation) => string | undefined;
  /** UIDs of those whose resource it is; empty = it is everybody's. */
  ownersOf: (operation: PlannedOperation) => readonly string[];
}

/** So many are named by each of those that are cut; all of them say so themselves. */
const NAMED = 20;

/** Undefined = nobody loses anything. Pure. */
export function cutIn({ why, operations, staying, askable, lossBy, ownersOf }: CutFacts): Cut | undefined {
  const losses = operations.flatMap((operation) => {
    const what = lossBy(operation);
    if (what === undefined) return [];
    const owners = ownersOf(operation);
    const of = owners.length === 0 ? staying : staying.filter(({ uid }) => owners.includes(uid));
    return of.length === 0 ? [] : [{ what, of }];
  });
  const first = losses.find(({ what }) => what.includes(' LoadBalancer ')) ?? losses[0];
  if (first === undefined) return undefined;
  const members = new Set(losses.flatMap(({ of }) => of.map(({ uid }) => uid)));
  const cut = staying.filter(({ uid }) => members.has(uid));
  const silent = cut.filter(({ uid }) => !askable.has(uid));
  const more = losses.length === 1 ? '' : ` (and ${losses.length - 1} more)`;
  return {
    members,
    replacement: { why: `${why}: the update ${first.what}${more}, which cuts ${listed(cut.map(keyOfInput))}`, gap: true },
    ...(silent.length > 0 && { silent: listed(silent.map(keyOfInput)) }),
  };
}

/**
 * What every cloud's operation takes away: what is replaced, but for our part of what is not ours alone, and load balancers that go. Undefined = nothing. Pure.
 */
export function lossBy({ op, type, name }: PlannedOperation): string | undefined {
  if (op === 'replace' && !type.startsWith(`${OWN_PACKAGE}:`)) return `replaces ${shortType(type)} ${name}`;
  return op === 'delete' && shortType(type) === 'LoadBalancer' ? `deletes LoadBalancer ${name}` : undefined;
}

function listed(names: readonly string[]): string {
  const shown = [...names].sort().slice(0, NAMED);
  const left = names.length - shown.length;
  return `${shown.join(', ')}${left === 0 ? '' : ` and ${left} more`}`;
}
