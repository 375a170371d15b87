/** One line of the report. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The value that this share of all values does not pass, such as 0.5 for the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

/** Seconds since a moment of performance.now(). */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

let missed = 0;

/** How many goals were missed so far. */
export function missedGoals(): number {
  return missed;
}

/** A figure with its goal, and whether it was met. */
export function sayFigure(figure: string, goal: string, met: boolean): void {
  if (!met) missed += 1;
  say(`${met ? 'met   ' : 'MISSED'}  ${figure} (goal: ${goal})`);
}

/** The same, of a number that is to be no larger than another one; with one or two digits where they say something. */
export function sayAtMost(what: string, value: number, most: number, unit = ''): void {
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  sayFigure(`${what}: ${value.toFixed(digits)}${unit}`, most === 0 ? '0' : `≤ ${most}${unit}`, value <= most);
}
