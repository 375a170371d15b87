import type { Filter } from '@aws-sdk/client-ec2';

/** What several listings give together, each by its id once: filters of one listing must all hold, so that "or" takes one for each. */
export async function listedOnce<T>(
  listings: readonly Filter[][],
  list: (filters: Filter[]) => Promise<T[]>,
  idOf: (item: T) => string | undefined,
): Promise<T[]> {
  const found = await Promise.all(listings.map((filters) => list(filters)));
  return [...new Map(found.flat().map((item) => [idOf(item), item])).values()];
}
