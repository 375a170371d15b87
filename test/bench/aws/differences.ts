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

/** The paths that the page explains: the first cells of its tables, where a star stands for any text. */
export function explainedPaths(page = readFileSync(join(PROJECT_ROOT, DIFFERENCES_PAGE), 'utf8')): string[] {
  return [...page.matchAll(/^\|\s*`([^`]+)`/gm)].map(([, path = '']) => path);
}

/** True when one of the explained paths is that of the difference. Pure. */
export function isExplained({ path }: Difference, explained: readonly string[]): boolean {
  return explained.some((form) => new RegExp(`^${form.split('*').map(escaped).join('.*')}$`).test(path));
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
