/** Parts of a list, each of at most `size` items: the batches of AWS's bulk calls. Pure. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}
