import { spawnSync } from 'node:child_process';
import { PROJECT_ROOT } from '../../operator/entry';

/** What the lint rule says of imports, each in a file. */
function problemsOf(cases: { file: string; imports: string }[]): boolean[] {
  const script = `
    import { Linter } from 'eslint';
    import { direction } from './eslint.direction.mjs';
    const config = { files: ['**/*.ts'], plugins: { p: { rules: { direction } } }, rules: { 'p/direction': 'error' } };
    const cases = JSON.parse(process.argv[1]);
    const found = cases.map(({ file, imports }) => new Linter({ cwd: process.cwd() }).verify(imports, [config], process.cwd() + '/' + file));
    process.stdout.write(JSON.stringify(found.map((messages) => messages.map(({ message }) => message))));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(cases)], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (stdout === '') throw new Error(stderr);
  const messages = JSON.parse(stdout) as string[][];
  return messages.map((found) => {
    if (found.some((message) => !message.includes('must not import'))) throw new Error(found.join('; '));
    return found.length > 0;
  });
}

test('imports go down the list of docs/architecture.md, never up', () => {
  const from = (name: string): string => `import { x } from '${name}'; x();`;
  const cases: [string, string, boolean][] = [
    ['operator/base/x.ts', from('../kube/api'), true],
    ['operator/kube/x.ts', from('../base/errors'), false],
    ['operator/kube/x.ts', from('../cloud/registry'), true],
    ['operator/loops/service/x.ts', from('../../kube/api'), false],
    ['operator/loops/service/x.ts', from('../readiness'), false],
    ['operator/loops/service/x.ts', from('../../cloud/registry'), true],
    ['operator/loops/x.ts', from('../../providers/provider'), true],
    ['operator/updates/worker/extension/x.ts', from('../program'), false],
    ['operator/updates/worker/x.ts', from('../../loops/cidr'), true],
    ['operator/cloud/x.ts', from('@pulumi/pulumi'), true],
    ['operator/cloud/plan/x.ts', `export * from '../../cli/main';`, true],
    ['operator/cli/x.ts', from('../cloud/registry'), false],
    ['providers/local/x.ts', from('../../operator/base/errors'), false],
    ['providers/local/x.ts', `await import('../../operator/updates/update.js');`, true],
    ['extensions/x.ts', from('../crds'), false],
    ['extensions/x.ts', from('../operator/base/json'), false],
    ['extensions/x.ts', from('../operator/cloud/providers/registry'), true],
    ['extensions/x.ts', from('../providers/provider'), true],
    ['crds/x.ts', from('../extensions'), true],
    ['synth/charts/x.ts', from('../../tools/ensure'), true],
  ];
  const found = problemsOf(cases.map(([file, imports]) => ({ file, imports })));
  expect(cases.map(([file, imports], at) => [file, imports, found[at]])).toEqual(cases);
});
