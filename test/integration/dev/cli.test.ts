import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { ensureTools } from '../../../tools/ensure';

function run(args: string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(PROJECT_ROOT, 'bin/cloud-operator.js'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, DEBUG: '', ...environment },
  });
  return { code: status, stdout, stderr };
}

describe('cloud-operator', () => {
  it('--help lists every subcommand under a heading, and where to begin', () => {
    const { code, stdout } = run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nRun in a cluster:\n {2}run .*\nOn this machine:\n.*\n {2}dev .*\n {2}tools .*\n {2}help /s);
    expect(stdout).toContain('Try it: npx cloud-operator dev up');
    expect(stdout).toContain('Exit codes:');
  });

  it('--help loads none of the heavy parts', () => {
    const script = `process.argv = ['node', 'x', '--help']; process.on('exit', () => process.stderr.write(Object.keys(require.cache).join('\\n'))); require(${JSON.stringify(join(PROJECT_ROOT, 'lib/operator/cli/main.js'))});`;
    const { stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(stderr).toContain('commander');
    expect(stderr).not.toMatch(/node_modules\/(@pulumi|@kubernetes|cdk8s|undici|zod|pino)\//);
  });

  it('--version is that of the package, with the commit that was compiled', () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(run(['--version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(`^${version.replaceAll('.', '\\.')}( \\(commit [0-9a-f]{40}\\))?\n$`) as string,
      stderr: '',
    });
  });

  it.each([
    [['tols'], "unknown command 'tols'\n(Did you mean tools?)"],
    [['tools', '--frob'], "unknown option '--frob'; see --help"],
    [
      ['dev', 'up', '--extension', './none.ts'],
      `--extension ./none.ts: there is no such file or package, looked for from ${process.cwd()}; Give the path of a module, or the name of a package that is installed there.`,
    ],
    [
      ['dev', 'up', '--extension', __filename, '--no-operator'],
      '--extension is for the operator: leave out --no-operator, or give it to `run`',
    ],
    [
      ['tools', 'docker'],
      'there is no tool named "docker"; use etcd, kube-apiserver, kube-controller-manager, kubectl, pulumi, moto, aws-cloud-controller-manager, kubelet, kube-proxy, kube-scheduler, agnhost, kubernetes-e2e',
    ],
  ])('refuses %j with exit code 2', (args, message) => {
    expect(run(args)).toEqual({ code: 2, stdout: '', stderr: `cloud-operator: ${message}\n` });
  });

  it.each([
    [['manifests', '--out', __filename], `${__filename}: not a directory (ENOTDIR, scandir); name another path`],
    [['tools', 'etcd'], 'not a directory (ENOTDIR, mkdir); name another path'],
    [['dev', 'status'], 'not a directory (ENOTDIR, open); name another path'],
  ])('%j says in one line what is wrong with a path, with exit code 2', (args, message) => {
    const { code, stderr } = run(args, { XDG_CACHE_HOME: __filename, XDG_DATA_HOME: __filename });
    expect(stderr).toMatch(/^cloud-operator: [^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    [['local-cloud', 'serve', '--directory', '/proc/x/y'], '/proc/x: no such file or directory (ENOENT, mkdir)'],
    [['run', '--state-store=directory', '--state-directory=/proc/x/y'], "--state-directory /proc/x/y can't be used as a folder (ENOENT)"],
  ])('%j ends with what is wrong with the folder, and does not hang', (args, message) => {
    const { code, stderr } = run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('dev up refuses an extension that can’t be loaded, and says where it fails', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-cli-'));
    writeFileSync(join(folder, 'throws.ts'), 'export function extra() {}\nthrow new Error("not today");\n');
    const { code, stdout, stderr } = run(['dev', 'up', '--name', 'never', '--extension', join(folder, 'throws.ts')]);
    rmSync(folder, { recursive: true });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^cloud-operator: the extension \S+\/throws\.ts can't be loaded: Error: not today\n {4}at throws\.ts:2:7\n$/);
  });

  it.each([
    ['default', 'dev up\n'],
    ['other', 'dev up --name other\n'],
  ])('dev logs of %s, which is not there, says how it is started', (name, end) => {
    const { code, stderr } = run(['dev', 'logs', '--name', name], { XDG_DATA_HOME: join(__dirname, 'none') });
    expect(stderr.endsWith(end)).toBe(true);
    expect(code).toBe(1);
  });

  it('shows a stack trace only with --debug or DEBUG', () => {
    expect(run(['tools', 'docker']).stderr).not.toContain('    at ');
    expect(run(['tools', 'docker', '--debug']).stderr).toContain('    at ');
    expect(run(['tools', 'docker'], { DEBUG: '1' }).stderr).toContain('    at ');
  });
});

describe('cloud-operator tools', () => {
  it('prints where each tool is, as a table and as JSON', async () => {
    const { etcd } = await ensureTools(['etcd']);
    expect(run(['tools', 'etcd']).stdout).toMatch(new RegExp(`^TOOL +VERSION +FROM +PATH\netcd +v3\\.\\d+\\.\\d+ +\\w+ +${etcd}\n$`));
    expect(JSON.parse(run(['tools', 'etcd', '--json']).stdout)).toMatchObject([{ name: 'etcd', path: etcd }]);
  });

  it('ends with one line and exit code 2 when the environment names something that is no etcd', () => {
    const { code, stdout, stderr } = run(['tools', 'etcd'], { CLOUD_OPERATOR_ETCD: '/dev/null' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      "cloud-operator: CLOUD_OPERATOR_ETCD=/dev/null can't be used as etcd: it is not a file; point it at a working etcd, or unset it\n",
    );
  });

  it('ends with one line that says what to install when there is no way left', () => {
    const empty = mkdtempSync(join(tmpdir(), 'cloud-operator-cli-'));
    // No go and no etcd on PATH, an empty cache, and a proxy that refuses every connection.
    const { code, stderr } = run(['tools', 'etcd'], {
      PATH: empty,
      XDG_CACHE_HOME: empty,
      https_proxy: 'http://127.0.0.1:9',
      no_proxy: '',
    });
    rmSync(empty, { recursive: true });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^cloud-operator: there is no etcd: .*can't be reached.*; there is no go on PATH to build it with; install etcd v3\.6\.0 or newer on PATH \(or name it in CLOUD_OPERATOR_ETCD\), or install Go 1\.25 or newer from https:\/\/go\.dev\/dl, or allow access to https:\/\/github\.com$/,
    );
  });
});
