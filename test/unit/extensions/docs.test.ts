import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { snippetsOf } from '../../harness/snippets';

const folder = join(PROJECT_ROOT, 'lib', 'test', 'extend-snippets');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every TypeScript snippet of docs/extend.md compiles, and the first one has ten lines', () => {
  const snippets = snippetsOf(readFileSync(join(PROJECT_ROOT, 'docs/extend.md'), 'utf8'), 'ts');
  expect(snippets).toHaveLength(2);
  expect(snippets[0]?.trim().split('\n')).toHaveLength(10);
  mkdirSync(folder, { recursive: true });
  const files = snippets.map((snippet, index) => {
    const file = join(folder, `snippet-${index}.ts`);
    writeFileSync(file, snippet);
    return file;
  });
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const compile = (...more: string[]): string => {
    const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
    try {
      return execFileSync(process.execPath, [tsc, ...options, join(PROJECT_ROOT, 'extensions/cloud-operator.d.ts'), ...files, ...more], {
        encoding: 'utf8',
        cwd: PROJECT_ROOT,
      });
    } catch (thrown) {
      return (thrown as { stdout: string }).stdout;
    }
  };
  expect(compile()).toBe('');
});
