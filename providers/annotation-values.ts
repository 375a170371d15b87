import { isIP } from 'node:net';
import type { Json } from '../operator/base/json';

/** Reads an annotation's text, which is trimmed and not empty. Throws an Error that says what is wrong with it. */
export type Parse<T extends Json = Json> = (text: string) => T;

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** What Go's strconv.ParseBool takes, as upstream reads it. */
export function bool(text: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw new Error(`"${text}" is neither true nor false`);
}

/** A whole number between two limits, both included. */
export function whole(least: number, most: number): Parse<number> {
  return (text) => {
    if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`"${text}" is not a whole number`);
    const number = Number(text);
    if (number < least || number > most) throw new Error(`${text} is not between ${least} and ${most}`);
    return number;
  };
}

/** One of some words, each with the value that it stands for. */
export function word<T extends Json>(values: Readonly<Record<string, T>>): Parse<T> {
  return (text) => {
    const value = Object.hasOwn(values, text) ? values[text] : undefined;
    if (value === undefined) throw new Error(`"${text}" is not known`);
    return value;
  };
}

/** The same, in capitals or not. */
export function wordOfAnyCase<T extends Json>(values: Readonly<Record<string, T>>): Parse<T> {
  return (text) => word(values)(text.toLowerCase());
}

/** A text of a form; `what` says which, for people. */
export function matching(form: RegExp, what: string): Parse<string> {
  return (text) => {
    if (!form.test(text)) throw new Error(`"${text}" is not ${what}`);
    return text;
  };
}

/** Values separated by commas; empty ones don't count, as upstream has it. One that stands there twice is an error. */
export function list<T extends Json>(item: Parse<T>, most: number): Parse<T[]> {
  return (text) => {
    const texts = split(text);
    if (texts.length === 0) throw new Error(`"${text}" has nothing in it`);
    if (texts.length > most) throw new Error(`it has ${texts.length} values, and at most ${most} are possible`);
    const twice = texts.find((value, index) => texts.indexOf(value) !== index);
    if (twice !== undefined) throw new Error(`"${twice}" stands there twice`);
    return texts.map(item);
  };
}

/** `key=value` pairs separated by commas; a key alone has an empty value, as upstream has it. */
export function pairs(text: string): Record<string, string> {
  const entries = split(text).map((pair): [string, string] => {
    const [key = '', ...value] = pair.split('=');
    return [key.trim(), value.join('=').trim()];
  });
  const nameless = entries.find(([key]) => key === '');
  if (nameless !== undefined) throw new Error(`"=${nameless[1]}" has no key`);
  const twice = entries.find(([key], index) => entries.findIndex(([other]) => other === key) !== index);
  if (twice !== undefined) throw new Error(`the key "${twice[0]}" stands there twice`);
  return Object.fromEntries(entries);
}

export function ipv4(text: string): string {
  if (isIP(text) !== 4) throw new Error(`"${text}" is not an IPv4 address`);
  return text;
}

export function ipv6(text: string): string {
  if (isIP(text) !== 6 || text.includes('%')) throw new Error(`"${text}" is not an IPv6 address`);
  return text;
}

/** An address of either family. */
export function anyIP(text: string): string {
  return isIP(text) === 4 ? ipv4(text) : ipv6(text);
}

/** A CIDR of either family. */
export function networkPrefix(text: string): string {
  const [address = '', bits = '', ...more] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || address.includes('%') || !/^[0-9]{1,3}$/.test(bits) || Number(bits) > most || more.length > 0) {
    throw new Error(`"${text}" is not a CIDR`);
  }
  return text;
}

/** Values between commas; empty ones don't count. */
export function split(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
