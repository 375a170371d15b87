import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { flagsReference } from '../../../operator/flags/reference';
import { FLAG_GROUPS, FLAGS } from '../../../operator/flags/table';

test('docs/reference/flags.md is what the table says', () => {
  expect(readFileSync(join(PROJECT_ROOT, 'docs', 'reference', 'flags.md'), 'utf8')).toBe(flagsReference());
});

test('every group is in the table of all flags, and no name is in two', () => {
  const names = Object.values(FLAG_GROUPS).flatMap((group) => Object.keys(group));
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(FLAGS).sort()).toEqual([...names].sort());
});
