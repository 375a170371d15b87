import { OperatorError } from './errors';

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Reads a Go-style duration such as `10s`, `5m` or `1h30m`.
 * @returns milliseconds
 * @throws OperatorError Invalid when the text is not one
 */
export function parseDuration(text: string): number {
  if (!/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) {
    throw new OperatorError('Invalid', `"${text}" is not a duration; write for example 30s, 10m or 1h30m`);
  }
  const parts = text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ''] ?? 0), 0);
}
