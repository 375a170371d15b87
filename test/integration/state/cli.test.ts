import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../../operator/entry';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NAMESPACES, SECRETS, type KubeObject } from '../../../operator/kube/object';
import type { Deployment } from '../../../operator/updates/checkpoint';
import { importCheckpoint } from '../../../operator/updates/state/import';
import { SecretStateStore } from '../../../operator/updates/state/secret-state-store';
import { type Secret, secretName } from '../../../operator/updates/state/state-secret';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { pulumiPath, UpdatesHarness } from '../updates/harness';

const NAMESPACE = 'cloud-operator-system';
const password = 'open sesame';
const web = { name: 'web', size: 1, password };

const harness = new UpdatesHarness();
let cluster: TestCluster;
let api: KubeClient;
let store: SecretStateStore;
let folder: string;
let clusterID: string;

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-operator-state-cli-'));
  cluster = await startTestCluster({ controllerManager: false });
  api = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
  clusterID = (await api.get<KubeObject>(NAMESPACES, 'kube-system'))?.metadata.uid ?? '';
  await api.create(NAMESPACES, undefined, { metadata: { name: NAMESPACE } });
  store = new SecretStateStore({ api, namespace: NAMESPACE });
  await harness.start({ store });
  await update('web');
}, CLUSTER_START_MS);

afterAll(async () => {
  await harness.stop();
  await api?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const options = { cwd: folder, env: { ...process.env, DEBUG: '', KUBECONFIG: cluster.kubeconfigPath, ...env } };
  return promisify(execFile)(command, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (thrown: { code: number; stdout: string; stderr: string }) => thrown,
  );
}

function state(...args: string[]): Promise<Outcome> {
  return run(process.execPath, [join(PROJECT_ROOT, 'bin/cloud-operator.js'), 'state', ...args]);
}

function update(stack: string, more: object = {}) {
  return harness.run(stack, { things: [{ ...web, ...more }] }, { clusterID });
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('state list and export', () => {
  test('show what is there', async () => {
    const { code, stdout } = await state('list');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^STACK .*\nweb +fake +fake +1 +closed +1 +20/)]);
    const exported = await state('export', 'web');
    expect(JSON.parse(exported.stdout)).toEqual((await store.read('web'))?.record.checkpoint);
    expect(exported.stdout).not.toContain(password);
  });

  test('name what is not', async () => {
    expect(await state('export', 'nobody')).toMatchObject({
      code: 1,
      stderr:
        'cloud-operator: stack nobody is not in the Secrets in namespace cloud-operator-system; "cloud-operator state list" shows what is\n',
    });
  });
});

describe('state import', () => {
  async function exported(stack = 'web'): Promise<Deployment> {
    const checkpoint = (await store.read(stack))?.record.checkpoint;
    if (checkpoint === undefined || checkpoint === null) throw new Error(`stack ${stack} has no checkpoint`);
    return checkpoint;
  }

  /** What the command does once it has read the file. */
  async function expectRefused(stack: string, content: unknown, message: RegExp): Promise<void> {
    const before = await store.read(stack);
    const importing = importCheckpoint(store, stack, content, { clusterID, force: false, now: Date.now() });
    await expect(importing).rejects.toMatchObject({ message: expect.stringMatching(message) as string });
    expect((await store.read(stack))?.version).toBe(before?.version);
  }

  test('takes back what was exported, and the next update asks the cloud first', async () => {
    const path = file('web.json', await exported());
    await update('web', { size: 2 });
    expect(await state('import', 'web', path)).toMatchObject({ code: 0 });
    expect(await harness.engine.state('web')).toMatchObject({ open: true, inputsHash: '' });
    expect((await update('web', { size: 2 })).changes).toMatchObject({ create: 0, replace: 0 });
    expect(harness.cloud.named('web', 'web')).toHaveLength(1);
  });

  test('refuses what is damaged, newer, of another stack or under another key', async () => {
    const good = await exported();
    const [root, ...others] = good.deployment?.resources ?? [];
    const { code, stderr } = await state('import', 'web', file('cut.json', JSON.stringify(good).slice(0, 300)));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^cloud-operator: .*cut.json is not JSON .*\n$/)]);
    await expectRefused('web', { some: 'thing' }, /not what `pulumi stack export` prints/);
    await expectRefused('web', { ...good, version: 99 }, /format 99; this program knows up to 4/);
    const elsewhere = [{ ...root, urn: 'urn:pulumi:api::fake::pulumi:pulumi:Stack::fake-api' }, ...others];
    await expectRefused('web', { ...good, deployment: { ...good.deployment, resources: elsewhere } }, /not the state of stack web/);
    const secret = /"ciphertext":"([^"]{20})/.exec(JSON.stringify(good))?.[1] ?? 'none';
    const otherKey = JSON.stringify(good).replaceAll(secret, secret.split('').reverse().join(''));
    await expectRefused('web', JSON.parse(otherKey), /encrypted/);
  });

  test('refuses while an update runs, unless forced: then the update stops', async () => {
    const path = file('running.json', await exported());
    harness.cloud.fault({ method: 'PATCH', name: 'web', kind: 'hold' });
    const running = update('web', { size: 7 }).catch((thrown: unknown) => thrown);
    await harness.until(() => harness.cloud.heldCount === 1);
    await expectRefused('web', await exported(), /has an update that runs or did not end/);
    expect(await state('import', 'web', path, '--force')).toMatchObject({ code: 0 });
    harness.cloud.release();
    expect(await running).toMatchObject({ code: 'Conflict' });
    await update('web', { size: 7 });
    expect(harness.cloud.named('web', 'web').map(({ properties }) => properties.size)).toEqual([7]);
  });

  test('of another cluster’s stack is refused', async () => {
    await harness.run('alien', { things: [web] }, { clusterID: 'another' });
    await expectRefused('alien', await exported('alien'), /belongs to cluster another, not to this one/);
  });
});

describe('state move', () => {
  test('takes a stack to a folder and back, with its secrets', async () => {
    await update('mover');
    const directory = `directory:${join(folder, 'moved')}`;
    expect(await state('move', 'mover', '--from', 'cluster', '--to', directory)).toMatchObject({ code: 0 });
    expect(await api.get(SECRETS, `${NAMESPACE}/${secretName('mover')}`)).toBeUndefined();
    const there = await state('list', '--state-store=directory', '--state-directory', join(folder, 'moved'));
    expect(there.stdout).toMatch(/\nmover +fake/);
    expect(await state('move', '--from', directory, '--to', 'directory:./moved')).toMatchObject({
      code: 2,
      stderr: 'cloud-operator: --from and --to are the same store\n',
    });
    expect(await state('move', '--from', directory, '--to', 'cluster')).toMatchObject({ code: 0 });
    expect((await update('mover', { size: 3 })).changes).toMatchObject({ update: 1, create: 0 });
    expect(harness.cloud.named('web', 'mover')[0]?.properties).toMatchObject({ size: 3, password });
  });

  test('leaves what belongs to another cluster, and says so', async () => {
    const { code, stderr } = await state('move', 'alien', '--from', 'cluster', '--to', `directory:${join(folder, 'alien')}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to cluster another')]);
    expect((await store.read('alien'))?.record.stack).toBe('alien');
  });
});

describe('state rotate-key', () => {
  test('encrypts everything anew; the operator goes on with the new key', async () => {
    const before = await state('export', 'web');
    const { code, stdout } = await state('rotate-key');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^key [0-9a-f]{8} is the current one; 3 stacks are encrypted with it\n$/)]);
    const after = await state('export', 'web');
    const ciphertexts = (text: string): string[] => [...text.matchAll(/"ciphertext": "([^"]+)"/g)].map(([, found]) => found ?? '');
    expect(ciphertexts(after.stdout)).toHaveLength(ciphertexts(before.stdout).length);
    expect(ciphertexts(after.stdout).filter((one) => ciphertexts(before.stdout).includes(one))).toEqual([]);
    expect((await update('web', { size: 8 })).changes).toMatchObject({ update: 1, create: 0 });
  });

  test('drops keys that have been retired for an hour', async () => {
    const key = `${NAMESPACE}/cloud-operator-state-key`;
    const text = Buffer.from((await api.get<Secret>(SECRETS, key))?.data?.['keyring.json'] ?? '', 'base64').toString();
    const long = text.replaceAll(/"retiredAt":"[^"]+"/g, '"retiredAt":"2020-01-01T00:00:00.000Z"');
    await api.patch(SECRETS, key, 'merge', { data: { 'keyring.json': Buffer.from(long).toString('base64') } });
    expect((await state('rotate-key')).stdout).toMatch(/\ndropped: [0-9a-f]{8}\n/);
    expect(Object.keys((await new SecretStateStore({ api, namespace: NAMESPACE }).keyring()).keys)).toHaveLength(2);
    expect((await state('export', 'mover')).code).toBe(0);
  });
});

describe('state serve, with the real pulumi CLI', () => {
  let serving: ChildProcess;
  let env: Record<string, string>;
  let home: string;

  beforeAll(async () => {
    const args = [join(PROJECT_ROOT, 'bin/cloud-operator.js'), 'state', 'serve', '--read-only'];
    serving = spawn(process.execPath, args, {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfigPath },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve) => serving.stdout?.setEncoding('utf8').once('data', resolve));
    const values = Object.fromEntries([...line.matchAll(/(PULUMI_\w+)=(\S+)/g)].map(([, name, value]) => [name ?? '', value ?? '']));
    home = join(folder, 'home');
    mkdirSync(home);
    env = { ...values, HOME: home, PULUMI_SKIP_UPDATE_CHECK: 'true', CI: 'true' };
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => serving.once('exit', resolve));
    serving.kill('SIGTERM');
    await ended;
    expect(existsSync(env.PULUMI_HOME ?? '')).toBe(false);
  });

  const pulumi = (...args: string[]): Promise<Outcome> => run(pulumiPath(), [...args, '--non-interactive', '--color', 'never'], env);

  test('lists and exports', async () => {
    const { stdout } = await pulumi('stack', 'ls', '--all', '--json');
    const listed = JSON.parse(stdout) as { name: string; resourceCount: number }[];
    expect(listed.map(({ name, resourceCount }) => [name, resourceCount])).toContainEqual(['organization/fake/web', 1]);
    const exported = await pulumi('stack', 'export', '--stack', 'organization/fake/web');
    const ours = await state('export', 'web');
    expect(exported.stdout.replace(/"url": "[^"]*"/, '"url": ""')).toBe(ours.stdout);
    const shown = await pulumi('stack', 'export', '--stack', 'organization/fake/web', '--show-secrets');
    expect(shown.stdout).toContain(password);
    expect(readdirSync(home)).toEqual([]); // the person's own log-in is left alone
    expect(readdirSync(env.PULUMI_HOME ?? '')).toContain('credentials.json');
  });

  test('changes nothing', async () => {
    const version = (await store.read('web'))?.version;
    const path = file('theirs.json', (await pulumi('stack', 'export', '--stack', 'organization/fake/web')).stdout);
    for (const args of [
      ['stack', 'import', '--file', path],
      ['stack', 'rm', '--force', '--yes'],
      ['cancel', '--yes'],
    ]) {
      const { code, stderr, stdout } = await pulumi(...args, '--stack', 'organization/fake/web');
      expect(code).not.toBe(0);
      expect(stderr + stdout).toContain(args[0] === 'cancel' ? '' : 'read-only');
    }
    expect((await store.read('web'))?.version).toBe(version);
  });

  test('lets nobody in without the token', async () => {
    const url = env.PULUMI_BACKEND_URL ?? '';
    for (const headers of [{}, { authorization: 'token guess' }, { authorization: 'update-token ' }] as Record<string, string>[]) {
      expect((await fetch(`${url}/api/user/stacks`, { headers })).status).toBe(401);
    }
  });
});
