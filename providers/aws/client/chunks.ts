/** The most values that EC2 takes in one filter. */
export const FILTER_VALUES = 200;

/** Parts of a list, each of at most `size` items: the batches of AWS's bulk calls. Pure. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}
