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

/** A figure with its goal, and whether it was met. */
export function sayFigure(figure: string, goal: string, met: boolean): void {
  say(`${met ? 'met   ' : 'MISSED'}  ${figure} (goal: ${goal})`);
}
