import { spawnSync } from 'node:child_process';
import { PROJECT_ROOT } from '../../operator/entry';

/** What the lint rule, as a file of ours has it, says of modules that the file imports. */
function refused(file: string, modules: readonly string[]): boolean[] {
  const script = `
    import { ESLint, Linter } from 'eslint';
    const [file, modules] = JSON.parse(process.argv[1]);
    const { rules } = await new ESLint().calculateConfigForFile(file);
    const config = { rules: { 'no-restricted-imports': rules['no-restricted-imports'] } };
    const found = modules.map((name) => new Linter().verify("import { x } from '" + name + "'; x();", [config]));
    process.stdout.write(JSON.stringify(found.map((messages) => messages.map(({ message }) => message))));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify([file, modules])], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (stdout === '') throw new Error(stderr);
  const messages = JSON.parse(stdout) as string[][];
  for (const message of messages.flat()) expect(message).toContain('Import the module of the one class');
  return messages.map((found) => found.length > 0);
}

test('of the packages of AWS and Azure only modules of single classes are imported: a worker would load all the others with them', () => {
  const modules: Record<string, boolean> = {
    '@pulumi/aws': true,
    '@pulumi/aws/lb': true,
    '@pulumi/aws/lb/index.js': true,
    '@pulumi/aws/lb/listener': false,
    '@pulumi/aws/s3/bucket.js': false,
    '@pulumi/azure-native': true,
    '@pulumi/azure-native/network': true,
    '@pulumi/azure-native/network/loadBalancer': false,
    '@pulumi/azure-native/network/v20240501/loadBalancer': false,
    '@pulumi/pulumi': false,
  };
  for (const file of ['providers/aws/load-balancers/program.ts', 'providers/azure/index.ts', 'test/harness/program-runner.ts'])
    expect(refused(file, Object.keys(modules))).toEqual(Object.values(modules));
});
