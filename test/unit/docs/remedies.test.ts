import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REMEDIES, SERVICE_REMEDIES } from '../../../operator/explain/remedies';
import { PROJECT_ROOT } from '../../../operator/entry';

const page = readFileSync(join(PROJECT_ROOT, 'docs/conditions.md'), 'utf8');

/** Reason and last cell of a section's table. */
function remediesUnder(heading: string): Record<string, string> {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return Object.fromEntries(rows.map((row) => [/`(\w+)`/.exec(row)?.[1] ?? '', row.split('|').at(-2)?.trim() ?? '']));
}

test.each([
  ['Reasons', REMEDIES],
  ['Reasons on Services', SERVICE_REMEDIES],
])('`kubectl cloud explain` says what docs/conditions.md says: %s', (heading, remedies) => {
  const documented = remediesUnder(heading);
  expect(Object.keys(documented).length).toBeGreaterThan(10);
  expect(remedies).toEqual(documented);
});
