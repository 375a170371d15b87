import { candidates, type Completable } from '../../../operator/cli/completion-candidates';

const command = (name: string, part: Partial<Completable> = {}): Completable => ({ name, options: [], choices: [], commands: [], ...part });
const output = { names: ['--output', '-o'], takesValue: true, choices: ['json', 'table', 'yaml'] };
const all = { names: ['--all-namespaces', '-A'], takesValue: false, choices: [] };
const program = command('cloud-operator', {
  options: [{ names: ['--debug'], takesValue: false, choices: [] }],
  commands: [
    command('tree', { options: [output, all] }),
    command('tools'),
    command('state', { commands: [command('list')] }),
    command('completion', { choices: ['bash', 'fish'] }),
  ],
});

test.each([
  ['', 'completion state tools tree'],
  ['t', 'tools tree'],
  ['tree', 'tree'],
  ['--', '--debug --help'],
  ['tree -', '--all-namespaces --help --output'],
  ['tree --o', '--output'],
  ['tree -o ', 'json table yaml'],
  ['tree --output j', 'json'],
  ['tree -o json ', ''],
  ['tree -A -', '--all-namespaces --help --output'],
  ['state ', 'list'],
  ['completion b', 'bash'],
  ['nothing ', 'completion state tools tree'],
])('after "%s": %s', (line, found) => {
  expect(candidates(program, line.split(' ')).join(' ')).toBe(found);
});
