import { OperatorError } from '../base/errors';

const MAX_FLOAT32 = 3.4028235677973366e38;

/**
 * A whole number as Go's strconv reads it with base 0: decimal, 0x, 0o, 0b, and underscores between digits.
 * @throws OperatorError Invalid in Go's words
 */
export function parseInteger(text: string, { bits, unsigned = false }: { bits: 32 | 64; unsigned?: boolean }): number {
  const name = unsigned ? 'ParseUint' : 'ParseInt';
  const value = wholeNumber(text, unsigned);
  if (value === undefined) throw syntax(name, text, 'invalid syntax');
  const limit = 1n << BigInt(unsigned ? bits : bits - 1);
  const lowest = unsigned ? 0n : -limit;
  if (value >= limit || value < lowest) throw syntax(name, text, 'value out of range');
  return Number(value);
}

function wholeNumber(text: string, unsigned: boolean): bigint | undefined {
  const [, sign = '', digits = ''] = (unsigned ? /^()(.+)$/ : /^([-+]?)(.+)$/).exec(text) ?? [];
  if (!/^(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO]?(_?[0-7])+|0|[1-9](_?[0-9])*)$/.test(digits)) return undefined;
  const plain = digits.replaceAll('_', '').toLowerCase();
  const magnitude = BigInt(/^0[0-7]/.test(plain) ? `0o${plain.slice(1)}` : plain);
  return sign === '-' ? -magnitude : magnitude;
}

/** @throws OperatorError Invalid in Go's words */
export function parseFloat32(text: string): number {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text)) throw syntax('ParseFloat', text, 'invalid syntax');
  const value = Number(text);
  if (Math.abs(value) > MAX_FLOAT32) throw syntax('ParseFloat', text, 'value out of range');
  return value;
}

function syntax(name: string, text: string, problem: string): OperatorError {
  return new OperatorError('Invalid', `strconv.${name}: parsing ${JSON.stringify(text)}: ${problem}`);
}
