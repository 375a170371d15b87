import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../../operator/entry';
import { waitFor } from '../../harness/wait-for';

/** The image's file system, as its Dockerfile makes it: only what manifests call. */
const root = mkdtempSync(join(tmpdir(), 'cloud-operator-image-'));
const log = join(root, 'program.log');
const launcher = (name: string): string => join(PROJECT_ROOT, 'bin', name);
const env = { ...minimalEnvironment(), HOME: root, PATH: `${root}/usr/local/bin:${dirname(process.execPath)}:/usr/bin:/bin` };

beforeAll(() => {
  for (const folder of ['', '/bin', '/usr/local/bin']) {
    mkdirSync(join(root, folder), { recursive: true });
    for (const name of ['cloud', 'aws-cloud', 'azure-cloud', 'gcp-cloud', 'vsphere-cloud'])
      symlinkSync(launcher('cloud-controller-manager.js'), join(root, folder, `${name}-controller-manager`));
  }
  symlinkSync(launcher('log-runner.js'), join(root, 'go-runner'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a container's `command` and `args` start: without a command the image's entry point gets the args. */
interface Container {
  command?: string[];
  args?: string[];
}

function programOf({ command, args = [] }: Container): [string, string[]] {
  const [program, ...rest] = command ?? [process.execPath, launcher('entrypoint.js')];
  const path = program!.startsWith('/') && existsSync(join(root, program!)) ? join(root, program!) : program!;
  return [path, [...rest, ...args]];
}

/** Runs a container with one argument more, which no cloud-controller-manager takes: it says so once it has understood all the others. */
function start(container: Container): { status: number | null; stderr: string } {
  const [program, args] = programOf(container);
  const { status, stderr } = spawnSync(program, [...args, 'x'], { encoding: 'utf8', env, cwd: root, timeout: 30_000 });
  return { status, stderr };
}

const OF_A_CCM = /^Error: "cloud-controller-manager" does not take any arguments, got \["x"\]\n$/;
const CREDENTIALS = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
  (name) => `--${name}=/etc/kubernetes/ccm.conf`,
);
const LEASE = [
  '--leader-elect=true',
  '--leader-elect-lease-duration=137s',
  '--leader-elect-renew-deadline=107s',
  '--leader-elect-retry-period=26s',
];

describe('the commands and args of those manifests that people have', () => {
  test.each<[string, Container]>([
    [
      'Kubernetes’ example of a DaemonSet, which kubeadm’s users take',
      {
        command: [
          ...[
            '/usr/local/bin/cloud-controller-manager',
            '--cloud-provider=aws',
            '--leader-elect=true',
            '--use-service-account-credentials',
          ],
          ...['--allocate-node-cidrs=true', '--configure-cloud-routes=true', '--cluster-cidr=172.17.0.0/16'],
        ],
      },
    ],
    ['the Helm chart for AWS', { args: ['--v=2', '--cloud-provider=aws'] }],
    [
      'kops on AWS',
      {
        args: [
          ...[
            '--allocate-node-cidrs=true',
            '--cloud-config=/etc/kubernetes/cloud.config',
            '--cloud-provider=aws',
            '--cluster-cidr=100.96.0.0/11',
          ],
          ...[
            '--cluster-name=c.example.com',
            '--configure-cloud-routes=false',
            '--leader-elect=true',
            '--use-service-account-credentials=true',
            '--v=2',
          ],
        ],
      },
    ],
    [
      'a hosted control plane on AWS',
      {
        command: ['/bin/aws-cloud-controller-manager'],
        args: [
          '--cloud-provider=aws',
          '--use-service-account-credentials=false',
          ...CREDENTIALS,
          ...LEASE,
          '--configure-cloud-routes=false',
        ],
      },
    ],
    [
      'a name and a value as two words',
      { command: ['/bin/aws-cloud-controller-manager', '--cluster-name', 'one'], args: ['--cloud-provider', 'aws'] },
    ],
    [
      'Azure',
      {
        command: ['cloud-controller-manager'],
        args: [
          ...[
            '--allocate-node-cidrs=true',
            '--cloud-config=/etc/kubernetes/azure.json',
            '--cloud-provider=azure',
            '--cluster-cidr=10.244.0.0/16',
          ],
          ...['--cluster-name=one', '--controllers=*,-cloud-node', '--configure-cloud-routes=true', '--leader-elect=true'],
          ...['--route-reconciliation-period=10s', '--secure-port=10268', '--v=4'],
        ],
      },
    ],
    ['vSphere', { args: ['--cloud-provider=vsphere', '--v=2', '--cloud-config=/etc/cloud/vsphere.conf'] }],
    [
      'OpenStack, with its program among the args',
      {
        args: [
          ...['/bin/openstack-cloud-controller-manager', '--v=1', '--cluster-name=one', '--cloud-config=/etc/config/cloud.conf'],
          ...['--cloud-provider=openstack', '--use-service-account-credentials=false', '--bind-address=127.0.0.1'],
        ],
      },
    ],
    [
      'RKE2',
      {
        command: ['cloud-controller-manager'],
        args: [
          ...[
            '--allocate-node-cidrs=true',
            ...CREDENTIALS,
            '--bind-address=127.0.0.1',
            '--cloud-provider=external',
            '--cluster-cidr=10.42.0.0/16',
          ],
          ...[
            '--configure-cloud-routes=false',
            '--controllers=*,-route,-service',
            '--leader-elect-resource-name=rke2-cloud-controller-manager',
          ],
          ...['--node-status-update-frequency=1m0s', '--profiling=false'],
        ],
      },
    ],
    ['a shell', { command: ['/bin/sh', '-c', `exec ${root}/bin/aws-cloud-controller-manager --cloud-provider=aws -v=2 "$0"`] }],
    ['cloud-operator’s own', { args: ['controller-manager', '--v=2'] }],
  ])('%s', (_whose, container) => {
    expect(start(container)).toMatchObject({ status: 1, stderr: expect.stringMatching(OF_A_CCM) as string });
  });

  const GCE = [
    '--v=4',
    '--secure-port=10258',
    '--use-service-account-credentials',
    '--cloud-provider=gce',
    '--concurrent-node-syncs=10',
    ...CREDENTIALS,
  ];
  const runner = (...flags: string[]): string[] => [`--log-file=${log}`, ...flags];

  test.each<[string, Container, stderr: RegExp]>([
    [
      'GCE’s static Pod, whose image has go-runner as its entry point',
      { args: [...runner('--also-stdout=false', '--redirect-stderr=true'), '/cloud-controller-manager', ...GCE] },
      /^$/,
    ],
    [
      'go-runner as the command, as kops has it',
      { command: ['/go-runner'], args: [...runner('--also-stdout'), '/usr/local/bin/cloud-controller-manager', ...GCE] },
      /^$/,
    ],
    ['only the standard output in the file', { args: [...runner('-redirect-stderr=false'), '/cloud-controller-manager'] }, OF_A_CCM],
  ])('%s', (_whose, container, said) => {
    rmSync(log, { force: true });
    const { status, stderr } = start(container);
    expect([status, stderr]).toEqual([1, expect.stringMatching(said)]);
    expect(readFileSync(log, 'utf8')).toMatch(said === OF_A_CCM ? /^$/ : OF_A_CCM);
  });
});

describe('/go-runner', () => {
  const run = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(join(root, 'go-runner'), args, { encoding: 'utf8', env, cwd: root });

  test('appends to the file, also what goes to standard output too, and ends as its program does', () => {
    writeFileSync(log, 'before\n');
    const both = ['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'];
    expect(run(`-log-file=${log}`, '-also-stdout', ...both)).toMatchObject({ status: 3, stdout: 'out\nerr\n', stderr: '' });
    expect(run('-log-file', log, '--', ...both)).toMatchObject({ status: 3, stdout: '', stderr: '' });
    expect(readFileSync(log, 'utf8')).toBe('before\nout\nerr\nout\nerr\n');
    expect(run(...both)).toMatchObject({ status: 3, stdout: 'out\nerr\n', stderr: '' });
  });

  test.each<[string[], number, RegExp]>([
    [[], 1, /^not enough arguments to run\n$/],
    [['--nope', 'true'], 2, /^flag provided but not defined: -nope\n$/],
    [['--log-file'], 2, /^flag needs an argument: -log-file\n$/],
    [['--also-stdout=maybe', 'true'], 2, /^invalid boolean value "maybe" for -also-stdout\n$/],
    [['--log-file=/does/not/exist', 'true'], 1, /^failed to create log file \/does\/not\/exist: /],
    [['/does/not/exist'], 1, /^starting command: .*ENOENT\n$/],
  ])('%j ends with %i', (args, status, message) => {
    expect(run(...args)).toMatchObject({ status, stderr: expect.stringMatching(message) as string });
  });

  test('hands the signal of a Pod’s end on, and waits for its program', async () => {
    rmSync(log, { force: true });
    const child = spawn(
      join(root, 'go-runner'),
      [`-log-file=${log}`, '/bin/sh', '-c', 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.1; done'],
      {
        env,
        stdio: 'ignore',
      },
    );
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await waitFor(() => existsSync(log) && readFileSync(log, 'utf8').includes('up'), { what: 'the program', timeoutMs: 10_000 });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(readFileSync(log, 'utf8')).toBe('up\nbye\n');
  });
});

test('every other command runs as cloud-operator does', () => {
  const [program, args] = programOf({ args: ['manifests', '--crds-only'] });
  expect(spawnSync(program, args, { encoding: 'utf8', env, cwd: root }).stdout).toContain('kind: CustomResourceDefinition');
});
