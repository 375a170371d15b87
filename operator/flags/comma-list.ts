import { OperatorError } from '../base/errors';

/**
 * The values of a comma-separated list. A value with a comma in it stands in double quotes, a double quote in it is written twice.
 * @throws OperatorError Invalid with the place, in the words of Go's CSV reader
 */
export function parseCommaList(text: string): string[] {
  if (text === '') return [];
  const values: string[] = [];
  for (let at = 0; at <= text.length;) {
    const { value, end } = text[at] === '"' ? quoted(text, at) : bare(text, at);
    values.push(value);
    at = end + 1;
  }
  return values;
}

/** @returns the value, and where its comma (or the end) is */
function bare(text: string, from: number): { value: string; end: number } {
  const comma = text.indexOf(',', from);
  const end = comma === -1 ? text.length : comma;
  const quote = text.slice(from, end).indexOf('"');
  if (quote !== -1) throw problem(from + quote, 'bare " in non-quoted-field');
  return { value: text.slice(from, end), end };
}

function quoted(text: string, from: number): { value: string; end: number } {
  let value = '';
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') value += text[at] ?? '';
    else if (text[at + 1] === '"') value += text[at++] ?? '';
    else if (at + 1 === text.length || text[at + 1] === ',') return { value, end: at + 1 };
    else throw problem(at, 'extraneous or missing " in quoted-field');
  }
  throw problem(text.length, 'extraneous or missing " in quoted-field');
}

function problem(at: number, what: string): OperatorError {
  return new OperatorError('Invalid', `parse error on line 1, column ${at + 1}: ${what}`);
}
