/**
 * Replacement.refused of a placement's member that keeps addresses which exist only once. Members that ask for something else have another load balancer: it would be made with these
 * while they are on the one before, which only goes when its last member has left it. Pure.
 * @param why the change replaces the load balancer: the beginning of a sentence
 */
export function keptInPlacement(why: string, kept: readonly string[]): string {
  const remedy =
    'Ask for other addresses with it; or, where no other member has these, leave the placement (spec.placement) with it, which deletes first, and come back afterwards';
  return `${why}, and that of a placement can't be deleted first for ${kept.join(', ')}, which it keeps. ${remedy}.`;
}
