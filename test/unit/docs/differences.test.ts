import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';

const page = readFileSync(join(PROJECT_ROOT, 'docs', 'differences.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (what|-+) +\|/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

test('there are differences', () => expect(rows.length).toBeGreaterThan(30));

test.each(rows.map((row): [string, string[]] => [row[0] ?? '', row]))('%s: has its reason, and tests that exist', (_what, row) => {
  const [, upstream, here, why, tests = ''] = row;
  expect(row).toHaveLength(5);
  for (const cell of [upstream, here, why]) expect(cell).not.toBe('');
  const missing = tests.split(', ').filter((name) => !existsSync(join(PROJECT_ROOT, 'test', `${name}.test.ts`)));
  expect(missing).toEqual([]);
});
