import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Node } from '../../../operator/kube/object';
import { PROJECT_ROOT } from '../../../operator/entry';
import { identifyProcess, isRunning, type LiveProcess } from '../../../tools/live-process';
import { ensureTools } from '../../../tools/ensure';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

/** A row of the local cloud's call counts. */
const createdInstances = (count: number) => ({ caller: 'fleet', verb: 'create', collection: 'instances', code: 201, count });

interface Status {
  up: boolean;
  phase: string;
  failure?: string;
  kubeconfig: string;
  apiServer: string;
  directory: string;
  cloud: { endpoint: string; tier: string; tokenFile: string };
  processes: { name: string; pid: number; up: boolean }[];
}

describe('cloud-operator dev', () => {
  let data: string;
  beforeEach(async () => {
    await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'pulumi']);
    data = mkdtempSync(join(tmpdir(), 'cloud-operator-dev-'));
  }, CLUSTER_START_MS);
  afterEach(async () => {
    await run('down');
    rmSync(data, { recursive: true, force: true });
  }, CLUSTER_START_MS);

  function program(...args: string[]) {
    const environment = { ...process.env, XDG_DATA_HOME: data };
    return spawn(process.execPath, [join(PROJECT_ROOT, 'bin/cloud-operator.js'), ...args], { env: environment });
  }
  const start = (...args: string[]) => program('dev', ...args);
  const run = (...args: string[]) => outcome(start(...args));
  async function outcome(child: ReturnType<typeof program>) {
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, stdout, stderr };
  }
  const up = (nodes = 0) => run('up', '--no-operator', '--nodes', String(nodes), '--tier', 'loopback');
  const status = async () => JSON.parse((await run('status', '--json')).stdout) as Status;
  const processesOf = ({ processes }: Status): LiveProcess[] => processes.map(({ pid }) => identifyProcess(pid));
  const kubectl = async ({ kubeconfig }: Status, ...args: string[]) => {
    const { kubectl: path } = await ensureTools(['kubectl']);
    const child = spawn(path, ['--kubeconfig', kubeconfig, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    return Buffer.concat(chunks).toString();
  };

  const readyNodes = async (of: Status) => {
    const { items } = JSON.parse(await kubectl(of, 'get', 'nodes', '-o', 'json')) as { items: Node[] };
    const ready = items.filter(({ spec, status: seen }) => {
      const taints = (spec.taints ?? []).map(({ key }) => key);
      const isReady = seen?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
      return isReady === true && !taints.includes('node.kubernetes.io/not-ready');
    });
    return ready.map(({ metadata }) => metadata.name);
  };

  it(
    'up, status, logs, down, and up again with its data and addresses',
    async () => {
      const first = await up(2);
      expect(first).toMatchObject({ code: 0 });
      const before = await status();
      expect(first.stdout).toContain(`export KUBECONFIG=${before.kubeconfig}`);
      expect(before).toMatchObject({ up: true, phase: 'Ready', cloud: { tier: 'loopback' } });
      expect(before.processes.map(({ name, up: isUp }) => `${name} ${isUp}`)).toEqual([
        'supervisor true',
        'etcd true',
        'kube-apiserver true',
        'kube-controller-manager true',
        'local-cloud true',
        'nodes true',
      ]);
      const pids = processesOf(before);
      await kubectl(before, 'create', 'namespace', 'kept');

      // As kubelets keep them: ready by the judgement of kube-controller-manager, with a Lease.
      const twoNodes = async () => (await readyNodes(before)).join() === 'node-1,node-2';
      await waitFor(twoNodes, { timeoutMs: 30_000, what: 'two Nodes without the taint not-ready' });
      expect(await kubectl(before, 'get', 'leases', '-n', 'kube-node-lease', '-o', 'name')).toMatch(/node-1\n.*node-2\n/);

      expect(await up(3)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('is up already. It was started with --nodes 2;') as string,
      });
      expect(processesOf(await status())).toEqual(pids);
      const table = (await run('status')).stdout;
      expect(table).toMatch(new RegExp(`kube-apiserver +up +${before.processes[2]?.pid} +${before.apiServer}`));
      expect(table).toContain(`cloud token:  ${before.cloud.tokenFile}`);
      const topology = (await outcome(program('local-cloud', 'topology', '--name', 'default'))).stdout;
      expect(JSON.parse(topology)).toMatchObject({ tier: 'loopback' });
      const instances = await outcome(program('local-cloud', 'calls', '--json'));
      expect(JSON.parse(instances.stdout)).toMatchObject({ calls: expect.arrayContaining([createdInstances(2)]) as unknown });
      const logs = (await run('logs', 'etcd', 'local-cloud', '--tail', '3')).stdout;
      expect(logs).toMatch(/^etcd {8}\| /m);
      expect(logs).toMatch(/^local-cloud \| \{"level"/m);
      expect(await run('logs', 'nix')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('there is no log of "nix"; use etcd,') as string,
      });
      expect((await run('logs')).stdout).not.toMatch(/^(etcd|kube)/m);
      expect((await run('logs', 'all')).stdout).toMatch(/^supervisor /m);

      expect(await run('down')).toMatchObject({ code: 0, stdout: expect.stringContaining('its data stay') as string });
      expect(pids.filter(isRunning)).toEqual([]);
      expect((await run('status')).code).toBe(1);

      expect(await up(1)).toMatchObject({ code: 0 });
      const after = await status();
      expect(await kubectl(after, 'get', 'nodes', '-o', 'name')).toBe('node/node-1\n'); // and no node-2: one was asked for
      const pidsAfter = processesOf(after);
      expect(after.apiServer).toBe(before.apiServer);
      expect(after.cloud).toEqual(before.cloud);
      expect(await kubectl(after, 'get', 'namespace', 'kept', '-o', 'name')).toBe('namespace/kept\n');
      expect(await run('down', '--delete-data')).toMatchObject({ code: 0 });
      expect(existsSync(after.directory)).toBe(false);
      expect(pidsAfter.filter(isRunning)).toEqual([]);
    },
    CLUSTER_START_MS,
  );

  it(
    'leaves nothing when its supervisor is killed, and comes up again after that',
    async () => {
      await up();
      const before = await status();
      const pids = processesOf(before);
      process.kill(before.processes[0]?.pid ?? 0, 'SIGKILL');
      await waitFor(() => !pids.some(isRunning), { timeoutMs: 20_000, what: 'the end of everything' });
      expect(await status()).toMatchObject({ up: false, phase: 'Down' });
      expect(await up()).toMatchObject({ code: 0 });
      expect(await status()).toMatchObject({ up: true, apiServer: before.apiServer });
    },
    CLUSTER_START_MS,
  );

  it(
    'starts local cloud and nodes again when they crash, and ends with a reason when the control plane does',
    async () => {
      await up(1);
      const before = await status();
      const pids = processesOf(before);
      const pidOf = (name: string, { processes }: Status) => processes.find((process) => process.name === name)?.pid ?? 0;
      const crashing = ['local-cloud', 'nodes'];
      for (const name of crashing) process.kill(pidOf(name, before), 'SIGKILL');
      const after = await waitFor(
        async () => {
          const now = await status();
          return now.up && crashing.every((name) => pidOf(name, now) !== pidOf(name, before)) ? now : undefined;
        },
        { timeoutMs: 60_000, what: 'a new local cloud and new nodes' },
      );
      expect(after.cloud).toEqual(before.cloud);
      pids.push(...processesOf(after));
      process.kill(pidOf('etcd', after), 'SIGKILL');
      await waitFor(() => !pids.some(isRunning), { timeoutMs: 30_000, what: 'the end of everything' });
      expect(await status()).toMatchObject({
        phase: 'Failed',
        failure: expect.stringMatching(/^(etcd|kube-apiserver) ended with/) as string,
      });
      expect((await run('status')).stdout).toMatch(/is not up; it ended because (etcd|kube-apiserver) ended with/);
    },
    CLUSTER_START_MS,
  );

  it(
    'that is given up before it is ready leaves nothing',
    async () => {
      const child = start('up', '--no-operator', '--nodes', '0', '--tier', 'loopback');
      const state = join(data, 'cloud-operator/dev/default/state.json');
      await waitFor(() => existsSync(join(data, 'cloud-operator/dev/default/control-plane/pki/apiserver.crt')), {
        timeoutMs: 30_000,
        what: 'a start',
      });
      const { supervisor } = JSON.parse(readFileSync(state, 'utf8')) as { supervisor: LiveProcess };
      child.kill('SIGINT');
      const [code] = (await once(child, 'close')) as [number];
      expect(code).toBe(1);
      expect(isRunning(supervisor)).toBe(false);
    },
    CLUSTER_START_MS,
  );

  it(
    'stays in the foreground where asked, and ends with SIGTERM',
    async () => {
      const child = start('up', '--no-operator', '--nodes', '0', '--tier', 'loopback', '--foreground');
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await waitFor(() => printed.includes('It ends with Ctrl-C'), { timeoutMs: 60_000, what: 'readiness' });
      const pids = processesOf(await status());
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number];
      expect(code).toBe(0);
      expect(pids.filter(isRunning)).toEqual([]);
    },
    CLUSTER_START_MS,
  );

  it.each([
    [['up', '--name', 'No/Path'], '--name "No/Path" can\'t be used; use up to 40 small letters, digits and hyphens'],
    [
      ['up', '--tier', 'moon'],
      "option '--tier <tier>' argument 'moon' is invalid. Allowed choices are auto, vpc-root, vpc-userns, loopback.",
    ],
    [['up', '--nodes', '51'], "option '--nodes <n>' argument '51' is invalid. At most 50: each is a process."],
    [['logs', '--tail', 'x'], "option '--tail <lines>' argument 'x' is invalid. It must be a whole number."],
    [['sideways'], "unknown command 'sideways'"],
  ])('refuses %j in one line with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout, stderr: stderr.trimEnd() }).toEqual({ code: 2, stdout: '', stderr: `cloud-operator: ${message}` });
  });

  it('says what to do about a state file that it can not read', async () => {
    const folder = join(data, 'cloud-operator/dev/default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'state.json'), '{"supervisor":');
    const { code, stderr } = await run('status');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^cloud-operator: .*state\.json can't be read: .*; delete that file, once none of its processes runs any more\n$/,
    );
    rmSync(join(folder, 'state.json'));
  });

  it('logs of a cluster that never was: one line and exit code 1', async () => {
    const { code, stderr } = await run('logs');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^cloud-operator: there are no logs in .*; start it: (npx )?cloud-operator dev up\n$/) as string,
    });
  });
});
