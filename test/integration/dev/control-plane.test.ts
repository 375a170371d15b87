import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane, type ControlPlaneOptions } from '../../../dev/cluster/control-plane';
import { identifyProcess, isRunning } from '../../../tools/live-process';
import { ensureTools } from '../../../tools/ensure';
import { startTestCluster, CLUSTER_START_MS, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

const LIMITED = { user: 'reader', groups: ['system:authenticated'] };

describe('two control planes side by side', () => {
  let one: TestCluster;
  let two: TestCluster;
  beforeAll(async () => {
    [one, two] = await Promise.all([startTestCluster({ identities: [LIMITED] }), startTestCluster({ controllerManager: false })]);
  }, CLUSTER_START_MS);
  afterAll(() => Promise.all([one.stop(), two.stop()]));

  it('have their own objects and addresses', async () => {
    await one.kubectl(['create', 'namespace', 'only-here']);
    expect(await one.kubectl(['get', 'namespaces', '-o', 'name'])).toContain('namespace/only-here');
    expect(await two.kubectl(['get', 'namespaces', '-o', 'name'])).not.toContain('namespace/only-here');
    expect(one.url).not.toBe(two.url);
  });

  it('know who asks, and refuse what RBAC does not allow', async () => {
    const limited = one.controlPlane.kubeconfigFor(LIMITED.user);
    const as = (kubeconfig: string, ...args: string[]) => one.kubectl(['--kubeconfig', kubeconfig, ...args]);
    expect(await as(limited, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe('reader');
    await expect(as(limited, 'get', 'secrets', '-A')).rejects.toThrow('User "reader" cannot list resource "secrets"');
    await one.kubectl(['create', 'clusterrolebinding', 'reader', '--clusterrole=view', '--user=reader']);
    await waitFor(() => as(limited, 'get', 'configmaps', '-A'), { timeoutMs: 10_000, what: 'the right to read' });
    await expect(as(limited, 'create', 'namespace', 'x')).rejects.toThrow('cannot create resource "namespaces"');
  });

  it('let nobody in with the token of the other one', async () => {
    const foreign = join(one.directory, 'foreign');
    writeFileSync(foreign, readFileSync(one.kubeconfigPath, 'utf8').replace(one.token, two.token));
    await expect(one.kubectl(['--kubeconfig', foreign, 'get', 'namespaces'])).rejects.toThrow(/Unauthorized|must be logged in/);
  });

  it('keep their keys to their owner', () => {
    for (const path of [one.kubeconfigPath, join(one.directory, 'pki/tokens.csv'), join(one.directory, 'pki/service-account.key')]) {
      expect(statSync(path).mode & 0o077).toBe(0);
    }
    expect(statSync(one.directory).mode & 0o077).toBe(0);
  });

  it('delete what is in a namespace with it, and what belongs to a deleted owner', async () => {
    await one.kubectl(['create', 'namespace', 'full']);
    await one.kubectl(['create', 'configmap', 'owner', '-n', 'full']);
    const uid = await one.kubectl(['get', 'configmap', 'owner', '-n', 'full', '-o', 'jsonpath={.metadata.uid}']);
    const owned = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owned', namespace: 'full', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] },
    };
    await one.kubectl(['apply', '-f', '-'], JSON.stringify(owned));
    await one.kubectl(['delete', 'configmap', 'owner', '-n', 'full']);
    const isGone = async (...args: string[]) => (await one.kubectl(['get', ...args, '--ignore-not-found', '-o', 'name'])) === '';
    await waitFor(() => isGone('configmap', 'owned', '-n', 'full'), { timeoutMs: 30_000, what: 'garbage collection' });
    await one.kubectl(['delete', 'namespace', 'full']); // waits until it is gone
    expect(await isGone('namespace', 'full')).toBe(true);
  });
});

describe('one control plane', () => {
  let directory: string;
  let options: ControlPlaneOptions;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cloud-operator-plane-'));
    const tools = await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager']);
    options = { directory, tools, logDirectory: join(directory, 'logs'), controllerManager: false, fsync: true };
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it(
    'keeps its data, tokens and port over a restart, and leaves no process',
    async () => {
      const { kubectl } = await ensureTools(['kubectl']);
      const run = async (...args: string[]) => {
        const { execFileSync } = await import('node:child_process');
        return execFileSync(kubectl, ['--kubeconfig', join(directory, 'kubeconfig'), ...args], { encoding: 'utf8' });
      };
      const first = await ControlPlane.start(options);
      const pids = Object.values(first.pids).map((pid) => identifyProcess(pid));
      const { port } = first;
      const kubeconfig = first.adminKubeconfig;
      await run('create', 'namespace', 'kept');
      await first.stop();
      expect(pids.filter(isRunning)).toEqual([]);

      const second = await ControlPlane.start({ ...options, port });
      try {
        expect(second.port).toBe(port);
        expect(second.adminKubeconfig).toBe(kubeconfig);
        expect(await run('get', 'namespace', 'kept', '-o', 'name')).toBe('namespace/kept\n');
      } finally {
        await second.stop();
      }
    },
    CLUSTER_START_MS,
  );

  it(
    'takes another port when its own is taken',
    async () => {
      const squatter = createServer().listen(0, '127.0.0.1');
      await once(squatter, 'listening');
      const { port } = squatter.address() as { port: number };
      const plane = await ControlPlane.start({ ...options, port });
      try {
        expect(plane.port).not.toBe(port);
      } finally {
        await plane.stop();
        squatter.close();
      }
    },
    CLUSTER_START_MS,
  );

  it('that can not start names the process and shows the end of its log, and leaves nothing', async () => {
    writeFileSync(join(directory, 'etcd'), 'a file where the data folder should be');
    const failure = ControlPlane.start(options);
    await expect(failure).rejects.toThrow(/^etcd ended with exit code 1; its log .*etcd\.log ends with\n {2}.*etcd/s);
    expect(existsSync(join(directory, 'kubeconfig'))).toBe(false);
  });

  it('says it when a program can not be started', async () => {
    const tools = { ...options.tools, etcd: join(directory, 'no-such-etcd') };
    await expect(ControlPlane.start({ ...options, tools })).rejects.toThrow(/etcd can't be started: spawn .*no-such-etcd ENOENT/);
  });
});
