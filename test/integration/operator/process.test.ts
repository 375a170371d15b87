import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import { ensureTools } from '../../../tools/ensure';

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-process-'));
let pulumi: string;

beforeAll(async () => {
  pulumi = (await ensureTools(['pulumi'])).pulumi;
}, 120_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `cloud-operator run` until it ends by itself. */
function run(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { ...minimalEnvironment(), HOME: directory, CLOUD_OPERATOR_PULUMI: pulumi, ...environment };
  const all = [compiled('operator/cli/main'), 'run', '--port=0', `--state-directory=${join(directory, 'state')}`, ...args];
  const child = spawn(process.execPath, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...output });
    });
  });
}

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** One line that says it, without a stack trace. */
function expectOneLine({ stderr, code }: Ended, message: RegExp, exitCode: number): void {
  expect(stderr.trimEnd()).toMatch(/^cloud-operator: [^\n]*$/);
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
  expect(code).toBe(exitCode);
}

const KUBECONFIG = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'u', user: {} }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
};

describe('a kubeconfig that can’t be used', () => {
  test.each<[string, () => string, RegExp]>([
    ['is missing', () => join(directory, 'missing'), /missing.*(does not exist|not there|cannot be read|can't be read)/],
    ['is a folder', () => directory, /(is a folder|directory|can't be read|cannot be read)/i],
    ['is empty', () => file('empty', ''), /empty/],
    ['is no YAML', () => file('no-yaml', 'clusters: [unclosed'), /no-yaml/],
    ['is of another kind', () => file('pod', JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } })), /pod/],
    ['is of another version', () => file('v2', JSON.stringify({ ...KUBECONFIG, apiVersion: 'v2' })), /holds v2 Config, expected v1 Config/],
    ['has no such context', () => file('context', JSON.stringify({ ...KUBECONFIG, 'current-context': 'other' })), /context.*"?other"?/],
    ['has no cluster for its context', () => file('cluster', JSON.stringify({ ...KUBECONFIG, clusters: [] })), /cluster/],
  ])('%s', async (_what, path, message) => {
    expectOneLine(await run([`--kubeconfig=${path()}`]), message, 2);
  });
});

describe('a configuration of the cloud that can’t be used', () => {
  const kubeconfig = (): string => `--kubeconfig=${file('good', JSON.stringify(KUBECONFIG))}`;

  test.each<[string, () => string[], RegExp]>([
    [
      'is missing',
      () => ['--cloud-provider=local', `--cloud-config=${join(directory, 'missing.yaml')}`],
      /--cloud-config.*missing\.yaml does not exist/,
    ],
    [
      'is no YAML',
      () => ['--cloud-provider=local', `--cloud-config=${file('bad.yaml', 'local: {endpoint')}`],
      /--cloud-config.*bad\.yaml.*not YAML/,
    ],
    ['is a list', () => ['--cloud-provider=local', `--cloud-config=${file('list.yaml', '- a')}`], /list\.yaml.*map/],
    [
      'has a wrong value',
      () => ['--cloud-provider=local', `--cloud-config=${file('ftp.yaml', 'local: {endpoint: "ftp://x"}')}`],
      /ftp\.yaml.*local\.endpoint.*http:\/\//,
    ],
    [
      'has an unknown field',
      () => ['--cloud-provider=local', `--cloud-config=${file('typo.yaml', 'local: {endpoint: "http://127.0.0.1:1", tokenFiel: x}')}`],
      /typo\.yaml.*spec\.local\.tokenFiel/,
    ],
    ['is not given', () => ['--cloud-provider=local'], /--cloud-provider=local needs --cloud-config/],
    ['belongs to no cloud', () => [`--cloud-config=${file('alone.yaml', 'local: {}')}`], /--cloud-config needs --cloud-provider/],
    [
      'is of a cloud that does not exist',
      () => ['--cloud-provider=nowhere', `--cloud-config=${file('ok.yaml', 'local: {endpoint: "http://127.0.0.1:1"}')}`],
      /--cloud-provider: there is no provider of kind "nowhere"; known are aws, azure, local/,
    ],
  ])('%s', async (_what, args, message) => {
    expectOneLine(await run([kubeconfig(), ...args()]), message, 2);
  });
});

describe('a flag that can’t be used', () => {
  test.each<[string, RegExp]>([
    ['--cluster-cidr=10.0.0.0/33', /--cluster-cidr.*10\.0\.0\.0\/33/],
    ['--leader-elect=maybe', /--leader-elect.*maybe/],
    ['--leader-elect-lease-duration=13s', /--leader-elect-lease-duration must be more than 3 s longer than --leader-elect-renew-deadline/],
    ['--workers=0', /--workers/],
    ['--node-monitor-period=soon', /--node-monitor-period.*soon/],
    ['--no-such-flag', /no-such-flag/],
    ['--log-level=loud', /loud.*log-level/],
  ])('%s', async (flag, message) => {
    expectOneLine(await run([flag]), message, 2);
  });
});

describe('a file that can’t be used', () => {
  test.each<[string, () => string[], RegExp]>([
    [
      'a state directory that is a file',
      () => ['--state-store=directory', `--state-directory=${file('no-folder', '')}`],
      /no-folder.*folder/,
    ],
  ])('%s', async (_what, args, message) => {
    const { stderr, code } = await run(args());
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('a tool that can’t be used', () => {
  test('is missing', async () => {
    expectOneLine(await run([], { CLOUD_OPERATOR_PULUMI: '/does/not/exist' }), /CLOUD_OPERATOR_PULUMI=\/does\/not\/exist/, 2);
  });

  test('is another program', async () => {
    const path = file('pulumi', '#!/bin/sh\necho "I am something else"\n');
    chmodSync(path, 0o755);
    expectOneLine(await run([], { CLOUD_OPERATOR_PULUMI: path }), /CLOUD_OPERATOR_PULUMI=.*can't be used as pulumi/, 2);
  });

  test('is of a version that is too old', async () => {
    const path = file('old-pulumi', '#!/bin/sh\necho "v2.0.0"\n');
    chmodSync(path, 0o755);
    expectOneLine(await run([], { CLOUD_OPERATOR_PULUMI: path }), /CLOUD_OPERATOR_PULUMI=.*2\.0\.0/, 2);
  });
});
