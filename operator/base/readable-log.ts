/** pino's levels. */
const LEVELS: Record<number, string> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

/**
 * A line of the log for a person at a terminal: `03:47:42 INFO  members registered  group=pool-1 targets=3`; an error's message, and its stack below where
 * the level is ERROR or more. A line that is no JSON object is given back as it is. Pure.
 * @param line one JSON object, as pino writes it
 */
export function readableLine(line: string): string {
  const parsed = parse(line);
  if (parsed === undefined) return line;
  const { level, time, msg, err, ...fields } = parsed;
  delete fields['name']; // of the program, which the person has started
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const word = LEVELS[Number(level)] ?? String(level);
  const details = Object.entries(fields).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const { message, stack } = (err ?? {}) as { message?: string; stack?: string };
  if (message !== undefined) details.push(`error: ${message}`);
  const below = Number(level) >= 50 && stack !== undefined ? `\n${stack}` : '';
  return `${clock} ${word.padEnd(5)} ${typeof msg === 'string' ? msg : ''}${details.length === 0 ? '' : `  ${details.join(' ')}`}${below}`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // not ours
  }
}
