import type { Replacement } from './provider';

/**
 * A replacement of what has addresses. With one that exists only once, and is kept, the old one is deleted first. In a placement it can't be: members that ask for
 * something else have another load balancer, which would be made with these while they are on the one before, and that only goes when its last member has left it. Pure.
 * @param why the change replaces the load balancer: the beginning of a sentence
 * @param kept addresses that both ask for
 */
export function replacementKeeping(why: string, kept: readonly string[], isShared: boolean): Replacement {
  if (kept.length === 0) return { why, gap: false };
  const all = kept.join(', ');
  const deleting = { why: `${why}, delete first, with a gap in traffic, because ${all} can't be used twice`, gap: true };
  if (!isShared) return deleting;
  const remedy =
    'Ask for other addresses with it; or, where no other member has these, leave the placement (spec.placement) with it, which deletes first, and come back afterwards';
  return { ...deleting, refused: `${why}, and that of a placement can't be deleted first for ${all}, which it keeps. ${remedy}.` };
}
