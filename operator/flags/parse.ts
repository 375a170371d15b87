import { OperatorError, toOperatorError } from '../base/errors';
import type { Flag, FlagGroup } from './flag';

/** What a command line says. */
export interface ParsedFlags {
  /** By flag name: the values given, and the defaults of the others. */
  values: Record<string, unknown>;
  /** Names of the flags that were given. */
  given: Set<string>;
  /** What was no flag. */
  positional: string[];
}

/** A token of the command line that starts with a dash. */
interface Use {
  name: string;
  flag: Flag<unknown>;
  text: string;
}

/**
 * Reads a command line as pflag does: `--name=value`, `--name value`, `--name` for what needs no value, `-v=4`, `-v4`, `-v 4`, `--` before
 * what is no flag; `_` in a name counts as `-`. Of several uses the last one counts, lists grow.
 * @param defaults in place of the table's
 * @throws OperatorError Invalid at the first problem, in pflag's words
 */
export function parseFlags(flags: FlagGroup, args: readonly string[], defaults: Record<string, unknown> = {}): ParsedFlags {
  const values = Object.fromEntries(Object.entries(flags).map(([name, { default: initial }]) => [name, defaults[name] ?? initial]));
  const parsed: ParsedFlags = { values, given: new Set(), positional: [] };
  const rest = [...args];
  for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
    if (token === '--') {
      parsed.positional.push(...rest);
      break;
    }
    if (!token.startsWith('-') || token === '-') parsed.positional.push(token);
    else for (const use of token.startsWith('--') ? [longForm(flags, token, rest)] : shortForms(flags, token, rest)) set(parsed, use);
  }
  return parsed;
}

function longForm(table: FlagGroup, token: string, rest: string[]): Use {
  const [, written = '', , value] = /^--([^=]*)(=(.*))?$/s.exec(token) ?? [];
  if (written === '' || written.startsWith('-')) throw new OperatorError('Invalid', `bad flag syntax: ${token}`);
  const name = written.replaceAll('_', '-');
  const flag = table[name];
  if (flag === undefined) throw new OperatorError('Invalid', `unknown flag: --${written}`);
  const text = value ?? flag.type.bare ?? rest.shift();
  if (text === undefined) throw new OperatorError('Invalid', `flag needs an argument: --${written}`);
  return { name, flag, text };
}

/** `-abc=x`: several letters, of which the last one may have a value. */
function shortForms(table: FlagGroup, token: string, rest: string[]): Use[] {
  const letters = token.slice(1);
  const uses: Use[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? '';
    const found = Object.entries(table).find(([, { shorthand }]) => shorthand === letter);
    if (found === undefined) throw new OperatorError('Invalid', `unknown shorthand flag: '${letter}' in -${letters}`);
    const [name, flag] = found;
    const after = letters.slice(at + 1);
    if (after.startsWith('=') && after.length > 1) return [...uses, { name, flag, text: after.slice(1) }];
    if (flag.type.bare !== undefined) {
      uses.push({ name, flag, text: flag.type.bare });
      continue;
    }
    const text = after === '' ? rest.shift() : after;
    if (text === undefined) throw new OperatorError('Invalid', `flag needs an argument: '${letter}' in -${letters}`);
    return [...uses, { name, flag, text }];
  }
  return uses;
}

function set(parsed: ParsedFlags, { name, flag, text }: Use): void {
  const before = parsed.given.has(name) ? parsed.values[name] : undefined;
  try {
    parsed.values[name] = flag.type.parse(text, before);
  } catch (thrown) {
    const written = flag.shorthand === undefined ? `--${name}` : `-${flag.shorthand}, --${name}`;
    const { message } = toOperatorError(thrown);
    throw new OperatorError('Invalid', `invalid argument ${JSON.stringify(text)} for "${written}" flag: ${message}`, { cause: thrown });
  }
  parsed.given.add(name);
}
