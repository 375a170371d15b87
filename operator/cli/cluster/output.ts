import { stringify } from 'yaml';
import type { Tone } from '../../explain/object-state';
import type { OutputFormat } from '../cluster-flags';

const CODES: Record<Tone, string> = { good: '32', waiting: '33', bad: '31', plain: '' };

/** Colours a text; leaves it as it is where there are none. */
export type Paint = (text: string, tone: Tone) => string;

/** Colours only on a terminal that has them, and not where NO_COLOR says no (no-color.org). Pure. */
export function paintFor(isTerminal: boolean, env: Record<string, string | undefined>): Paint {
  const coloured = isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return (text, tone) => (coloured && CODES[tone] !== '' ? `\u001b[${CODES[tone]}m${text}\u001b[0m` : text);
}

/** For standard output. */
export function terminalPaint(): Paint {
  return paintFor(process.stdout.isTTY, process.env);
}

/** Prints data as JSON or YAML, or the text that people read. */
export function print(format: OutputFormat, data: unknown, text: () => string): void {
  process.stdout.write(rendered(format, data, text));
}

function rendered(format: OutputFormat, data: unknown, text: () => string): string {
  if (format === 'json') return `${JSON.stringify(data, undefined, 2)}\n`;
  return format === 'yaml' ? stringify(data, { lineWidth: 0 }) : text();
}
