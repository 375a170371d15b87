import { OperatorError } from './errors';

/** In nanoseconds. */
const UNITS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 };
const MAX_NANOSECONDS = 2 ** 63;

/**
 * Reads a duration as Go's time package writes it: `1h30m`, `1.5s`, `-2m`, `0`.
 * @returns milliseconds
 * @throws OperatorError Invalid in Go's words
 */
export function parseGoDuration(text: string): number {
  const [, sign = '', rest = ''] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (rest === '') throw invalidDuration(text);
  const nanoseconds = amountOf(rest, text);
  if (nanoseconds >= MAX_NANOSECONDS) throw invalidDuration(text);
  return ((sign === '-' ? -1 : 1) * nanoseconds) / 1e6;
}

/** Nanoseconds of amounts with units, one after the other. */
function amountOf(rest: string, text: string): number {
  let nanoseconds = 0;
  for (let left = rest; left !== '';) {
    const [whole, amount = '', unit = ''] = /^([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)/.exec(left) ?? [];
    if (whole === undefined) throw invalidDuration(text);
    if (unit === '') throw new OperatorError('Invalid', `time: missing unit in duration ${JSON.stringify(text)}`);
    const size = UNITS[unit];
    if (size === undefined)
      throw new OperatorError('Invalid', `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    nanoseconds += Number(amount) * size;
    left = left.slice(whole.length);
  }
  return nanoseconds;
}

/** Milliseconds in Go's form: `12h0m0s`, `1m30s`, `2s`, `250ms`, `0s`. */
export function formatGoDuration(ms: number): string {
  if (ms < 0) return `-${formatGoDuration(-ms)}`;
  if (ms === 0) return '0s';
  if (ms < 1000) return ms >= 1 ? `${ms}ms` : `${ms * 1000}µs`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

function invalidDuration(text: string): OperatorError {
  return new OperatorError('Invalid', `time: invalid duration ${JSON.stringify(text)}`);
}
