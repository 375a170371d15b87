/** More than a slip of two letters is another word. */
const MAX_SLIPS = 2;
/** In a short word, one letter makes another one. */
const SHORT = 5;

/** The known word that was probably meant; undefined when none is near. Pure. */
export function similarTo(word: string, known: readonly string[]): string | undefined {
  const allowed = word.length < SHORT ? 1 : MAX_SLIPS;
  const near = known
    .map((one) => ({ one, slips: slipsBetween(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ slips }) => slips <= allowed);
  return near.sort((a, b) => a.slips - b.slips)[0]?.one;
}

/** How many letters were left out, added, changed or swapped with their neighbour: the optimal string alignment distance. */
function slipsBetween(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(least, at(beforeLast, j - 2) + 1) : least);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
