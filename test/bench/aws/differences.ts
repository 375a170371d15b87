import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import type { Snapshot } from './snapshot';

export const DIFFERENCES_PAGE = 'docs/differences-aws.md';

/** One field whose values are others. */
export interface Difference {
  /** Such as `targetGroup.tags.Name`. */
  path: string;
  upstream: string;
  ours: string;
}

/** What differs between the objects of both. Pure. */
export function differencesOf(upstream: Snapshot, ours: Snapshot): Difference[] {
  const [theirs, own] = [valuesByPath(upstream), valuesByPath(ours)];
  const paths = [...new Set([...theirs.keys(), ...own.keys()])].sort();
  return paths
    .map((path) => ({ path, upstream: shown(theirs.get(path)), ours: shown(own.get(path)) }))
    .filter((difference) => difference.upstream !== difference.ours);
}

/** A row of the page: the field, and the values that it is about. A star stands for any text. */
export interface Explanation extends Pick<Difference, 'path'> {
  /** Absent = whatever it is. */
  upstream?: string;
  ours?: string;
}

/** The rows of the page's tables: a cell that begins with a value in code speaks of no other one. */
export function explanationsIn(page = readFileSync(join(PROJECT_ROOT, DIFFERENCES_PAGE), 'utf8')): Explanation[] {
  return [...page.matchAll(/^\|\s*`([^`]+)`\s*\|([^|]*)\|([^|]*)\|/gm)].map(([, path = '', ...cells]) => {
    const [upstream, ours] = cells.map((cell) => /^\s*`([^`]+)`/.exec(cell)?.[1]);
    return { path, ...(upstream !== undefined && { upstream }), ...(ours !== undefined && { ours }) };
  });
}

/** True when a row is about the difference: its field, and its values. Pure. */
export function isExplained(difference: Difference, explanations: readonly Explanation[]): boolean {
  return explanations.some(
    ({ path, upstream = '*', ours = '*' }) =>
      isOfForm(path, difference.path) && isOfForm(upstream, difference.upstream) && isOfForm(ours, difference.ours),
  );
}

function isOfForm(form: string, text: string): boolean {
  return new RegExp(`^${form.split('*').map(escaped).join('.*')}$`).test(text);
}

function escaped(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}

function valuesByPath(snapshot: Snapshot): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const line of snapshot) {
    const [path = '', value = ''] = line.split('\t');
    values.set(path, [...(values.get(path) ?? []), value]);
  }
  return values;
}

const SHOWN_VALUES = 3;

function shown(values: string[] | undefined): string {
  if (values === undefined) return 'nothing';
  const sorted = [...values].sort();
  const more = sorted.length > SHOWN_VALUES ? ` and ${sorted.length - SHOWN_VALUES} more` : '';
  return sorted.slice(0, SHOWN_VALUES).join(' | ') + more;
}
