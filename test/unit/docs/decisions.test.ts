import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';

const FOLDER = join(PROJECT_ROOT, 'docs/decisions');

test('docs/decisions/README.md lists every decision under its title, in their order', () => {
  const files = readdirSync(FOLDER).filter((name) => /^[0-9]{4}-.*\.md$/.test(name));
  const lines = files.sort().map((name) => {
    const [, number = '', title = ''] = /^# ([0-9]+)\. (.+)\n/.exec(readFileSync(join(FOLDER, name), 'utf8')) ?? [];
    expect(Number(number)).toBe(Number(name.slice(0, 4)));
    return `- ${number}. [${title}](${name})`;
  });
  const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  expect(index.split('\n').filter((line) => line.startsWith('- '))).toEqual(lines);
});
