import { isIP } from 'node:net';
import { OperatorError } from '../base/errors';
import type { NamedCertificate } from '../server/options';
import { parseCommaList } from './comma-list';
import { formatGoDuration, parseGoDuration } from '../base/go-duration';
import { parseFloat32, parseInteger } from './go-number';

/** How a flag's text becomes a value: the types of pflag, with its words for what does not fit. */
export interface FlagType<T> {
  /** Shown by --help after the flag's name; empty for a boolean. */
  name: string;
  /**
   * @param before what earlier uses of the flag on the same command line gave: lists grow
   * @throws OperatorError Invalid in Go's words
   */
  parse(text: string, before: T | undefined): T;
  /** The default in --help; undefined = not worth showing. */
  show(value: T): string | undefined;
  /** What the flag means without a value; absent = it needs one. */
  bare?: string;
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** @throws OperatorError Invalid */
export function parseBoolean(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new OperatorError('Invalid', `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

export const BOOLEAN: FlagType<boolean> = {
  name: '',
  parse: parseBoolean,
  show: (value) => (value ? 'true' : undefined),
  bare: 'true',
};

export const STRING: FlagType<string> = {
  name: 'string',
  parse: (text) => text,
  show: (value) => (value === '' ? undefined : JSON.stringify(value)),
};

/** A text that is given once only. */
export const ONCE: FlagType<string> = {
  ...STRING,
  parse: (text, before) => {
    if (before !== undefined) throw new OperatorError('Invalid', `it was ${before} already; make one module that imports both`);
    return text;
  },
};

const showNumber = (value: number): string | undefined => (value === 0 ? undefined : String(value));

export const INT: FlagType<number> = { name: 'int', parse: (text) => parseInteger(text, { bits: 64 }), show: showNumber };
export const INT32: FlagType<number> = { name: 'int32', parse: (text) => parseInteger(text, { bits: 32 }), show: showNumber };
export const LEVEL: FlagType<number> = {
  name: 'Level',
  parse: (text) => parseInteger(text, { bits: 32, unsigned: true }),
  show: showNumber,
};
export const FLOAT32: FlagType<number> = { name: 'float32', parse: parseFloat32, show: showNumber };

/** Milliseconds. */
export const DURATION: FlagType<number> = {
  name: 'duration',
  parse: parseGoDuration,
  show: (value) => (value === 0 ? undefined : formatGoDuration(value)),
};

export const STRINGS: FlagType<string[]> = {
  name: 'strings',
  parse: (text, before) => [...(before ?? []), ...parseCommaList(text)],
  show: (value) => (value.length === 0 ? undefined : `[${value.join(',')}]`),
};

export const IP: FlagType<string> = {
  name: 'ip',
  parse: (text) => {
    const address = text.trim();
    if (address !== '' && isIP(address) === 0) throw new OperatorError('Invalid', `failed to parse IP: ${JSON.stringify(text)}`);
    return address;
  },
  show: (value) => (value === '' ? undefined : value),
};

export const NAMED_CERTIFICATES: FlagType<NamedCertificate[]> = {
  name: 'namedCertKey',
  parse: (text, before) => [...(before ?? []), parseNamedCertificate(text)],
  show: () => '[]',
};

function parseNamedCertificate(text: string): NamedCertificate {
  const [files = '', names, ...more] = text.split(':');
  if (more.length > 0) throw new OperatorError('Invalid', 'expected at most one colon');
  const pair = files.split(',').map((file) => file.trim());
  const [certFile = '', keyFile = ''] = pair;
  if (pair.length !== 2 || certFile === '' || keyFile === '') {
    throw new OperatorError('Invalid', 'expected comma separated certificate and key file paths');
  }
  return {
    certFile,
    keyFile,
    names: (names ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  };
}

/** The gates that the command line sets; each use of the flag adds to them. */
export const FEATURE_GATES: FlagType<string[]> = {
  name: 'mapStringBool',
  parse: (text, before) => [
    ...(before ?? []),
    ...text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ],
  show: () => undefined,
};

export const VMODULE: FlagType<string> = {
  name: 'pattern=N,...',
  parse: (text) => {
    for (const pair of text.split(',').filter((one) => one !== '')) {
      const [pattern = '', level, ...more] = pair.split('=');
      if (level === undefined || more.length > 0 || pattern === '' || level === '')
        throw new OperatorError('Invalid', `${JSON.stringify(pair)} does not have the pattern=N format`);
      parseInteger(level, { bits: 32, unsigned: true });
    }
    return text;
  },
  show: () => undefined,
};

export type VersionRequest = 'none' | 'print' | 'raw' | { reported: string };

export const VERSION: FlagType<VersionRequest> = {
  name: 'version[=true]',
  parse: (text) => {
    if (text === 'raw') return 'raw';
    if (!text.startsWith('v')) return parseBoolean(text) ? 'print' : 'none';
    if (!/^v\d+(\.\d+){1,2}([-+][0-9A-Za-z.+-]+)?$/.test(text))
      throw new OperatorError('Invalid', `could not parse ${JSON.stringify(text)} as version`);
    return { reported: text };
  },
  show: () => undefined,
  bare: 'true',
};

/** One of a few words. */
export function oneOf(words: readonly string[]): FlagType<string> {
  return {
    name: 'string',
    parse: (text) => {
      if (!words.includes(text)) throw new OperatorError('Invalid', `must be one of ${words.join(', ')}`);
      return text;
    },
    show: (value) => (value === '' ? undefined : JSON.stringify(value)),
  };
}
