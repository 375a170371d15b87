import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../../../operator/cloud/conditions';
import type { ErrorCode } from '../../../operator/base/errors';
import { PROJECT_ROOT } from '../../../operator/entry';

const page = readFileSync(join(PROJECT_ROOT, 'docs/conditions.md'), 'utf8');

/** Every class of failure: TypeScript refuses a list that misses one. */
const CODES = Object.keys({
  ...{ Transient: 0, Throttled: 0, Credentials: 0, Quota: 0, Invalid: 0, Taken: 0, Conflict: 0, NotFound: 0, Canceled: 0, Unknown: 0 },
} satisfies Record<ErrorCode, number>) as ErrorCode[];

/** Text of every source that says something of objects. */
const sources = ['crds', 'operator/cloud', 'operator/loops', 'operator/updates', 'providers']
  .flatMap((folder) => readdirSync(join(PROJECT_ROOT, folder), { recursive: true }).map((file) => join(folder, String(file))))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('providers/local/cloud/'))
  .map((file) => readFileSync(join(PROJECT_ROOT, file), 'utf8'));

const WORD = "'([A-Z][A-Za-z]+)'";
/** Where a reason is written down: as a field, as a branch of one, or as an argument of what makes Events and verdicts. */
const PATTERNS = [
  new RegExp(`\\breason: (?:[^,;{}\\n]*\\? )?${WORD}`, 'g'),
  new RegExp(`\\breason: [^,;{}\\n]*: ${WORD}`, 'g'),
  new RegExp(`\\.event\\(\\s*[^'"()]*'(?:Normal|Warning)',\\s*${WORD}`, 'g'),
  new RegExp(`\\b(?:waiting|keepTaint|normal|warning)\\(\\s*${WORD}`, 'g'),
];
const written = sources.flatMap((text) => PATTERNS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, reason = '']) => reason)));
/** Goes into an Event of another reason only. */
const NEVER_SHOWN = ['SyncFailed'];
const inCode = new Set([...written, ...CODES.map(reasonOf)].filter((reason) => !NEVER_SHOWN.includes(reason)));

const documented = new Set([...page.matchAll(/`([A-Z][A-Za-z]+)`/g)].map(([, word = '']) => word));
const inTables = [...page.matchAll(/^\| `([A-Z][A-Za-z]+)`/gm)].map(([, word = '']) => word);

describe('docs/conditions.md', () => {
  it('has every reason that the code gives', () => {
    expect(inCode.size).toBeGreaterThan(50); // the patterns find them
    expect([...inCode].filter((reason) => !documented.has(reason))).toEqual([]);
  });

  it('has no row for a reason that the code doesn’t give', () => {
    const gives = (reason: string): boolean => inCode.has(reason) || sources.some((text) => text.includes(`'${reason}'`));
    expect(inTables.filter((reason) => !gives(reason))).toEqual([]);
  });

  it('names no Event, condition or reason that is nowhere in the code', () => {
    const known = (word: string): boolean => inCode.has(word) || sources.some((text) => text.includes(`'${word}'`));
    expect([...documented].filter((word) => !known(word))).toEqual([]);
  });
});
