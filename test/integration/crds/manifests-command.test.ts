import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled, PROJECT_ROOT } from '../../../operator/entry';
import { parse } from 'yaml';
import { oneManifest, outputFiles } from '../../../synth/output';
import { CertificateAuthority } from '../../harness/certificate-authority';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-operator-manifests-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function command(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [compiled('operator/cli/main'), 'manifests', ...args], { encoding: 'utf8', cwd: folder });
}

describe('cloud-operator manifests', () => {
  it('writes an installation as the options say, the same every time', () => {
    const config = 'local:\n  endpoint: http://127.0.0.1:10260\n  tokenSecretRef: {name: local-cloud}\n';
    writeFileSync(join(folder, 'cloud.yaml'), config);
    const args = [
      '--out',
      'dist',
      '--namespace',
      'cloud',
      '--replicas',
      '3',
      '--image',
      'example:1',
      '--provider',
      'local',
      '--cloud-config',
      'cloud.yaml',
    ];
    expect(command(...args)).toMatchObject({ status: 0, stdout: '25 files in dist\n', stderr: '' });
    const options = { namespace: 'cloud', replicas: 3, image: 'example:1', provider: { kind: 'local', config } };
    const read = (): [string, string][] =>
      [...outputFiles(options).keys()].map((path) => [path, readFileSync(join(folder, 'dist', path), 'utf8')]);
    expect(read()).toEqual([...outputFiles(options)]);
    expect(command(...args).status).toBe(0);
    expect(read()).toEqual([...outputFiles(options)]);
  });

  it('brings an extension along', () => {
    cpSync(join(PROJECT_ROOT, 'examples/extension/index.ts'), join(folder, 'index.ts'));
    expect(command('--out', 'dist', '--image', 'example:1', '--extension', 'index.ts')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(folder, 'dist/install.yaml'), 'utf8')).toContain('--extension=/etc/cloud-operator-extension/index.ts');
  });

  it('writes a DaemonSet in place of a cloud-controller-manager, with the flags that it had', () => {
    writeFileSync(
      join(folder, 'migration.yaml'),
      'kind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/v1\nleaderName: second\nresourceLock: leases\ncontrollerLeaders: []\n',
    );
    const flags = ['--cluster-cidr', '10.0.0.0/16', '--leader-elect-resource-name=mine', '--secure-port=10443'];
    const options = ['--controller-manager', 'DaemonSet', '--leader-migration-config', 'migration.yaml'];
    expect(command('--out', 'dist', '--image', 'example:1', ...options, '--', ...flags)).toMatchObject({ status: 0, stderr: '' });
    const written = (path: string): unknown => parse(readFileSync(join(folder, 'dist/operator', path), 'utf8'));
    expect(written('cloud-operator-system/apps.daemonset.cloud-operator.yaml')).toMatchObject({
      spec: { template: { spec: { containers: [{ livenessProbe: { httpGet: { port: 10443, host: '127.0.0.1' } } }] } } },
    });
    expect(readFileSync(join(folder, 'dist/install.yaml'), 'utf8')).toContain('- --cluster-cidr\n            - 10.0.0.0/16\n');
    expect(written('kube-system/rbac.authorization.k8s.io.role.cloud-operator.yaml')).toMatchObject({
      rules: [{ verbs: ['create'] }, { resourceNames: ['mine', 'second'] }],
    });
  });

  it('writes what runs the operator, and what watches over it, as asked', () => {
    const args = ['--workload', 'StaticPod', '--monitoring'];
    expect(command('--out', 'dist', '--image', 'example:1', ...args)).toMatchObject({ status: 0, stderr: '' });
    for (const [path, text] of outputFiles({ image: 'example:1', workload: 'StaticPod', monitoring: true }))
      expect(readFileSync(join(folder, 'dist', path), 'utf8')).toBe(text);
  });

  it('writes the CRDs alone', () => {
    expect(command('--out', 'dist', '--crds-only')).toMatchObject({ status: 0, stdout: '7 files in dist\n' });
  });

  it('prints what somebody’s own manifest lacks as one manifest, by the flags that it has', () => {
    const account = ['--service-account', 'kube-system/cloud-controller-manager'];
    const flags = ['--v=2', '--cloud-provider=aws', '--kubeconfig=/k', '--leader-elect-resource-name=mine', '--state-namespace=state'];
    const { status, stdout, stderr } = command(...account, '--', ...flags);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const dropIn = { serviceAccount: { namespace: 'kube-system', name: 'cloud-controller-manager' }, serviceAccountCredentials: false };
    const leaderElection = { namespace: 'kube-system', name: 'mine' };
    expect(stdout).toBe(oneManifest({ dropIn, leaderElection, stateNamespace: 'state' }));
    expect(command('--out', 'dist', ...account)).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(folder, 'dist/install.yaml'), 'utf8')).not.toMatch(/^kind: (Deployment|DaemonSet|ServiceAccount)$/m);
  });

  it('sets up webhooks, on the port that the flags of the operator say', () => {
    writeFileSync(join(folder, 'ca.pem'), new CertificateAuthority('ours').cert);
    const args = [
      '--webhooks',
      '*',
      '--webhook-ca-bundle',
      'ca.pem',
      '--controller-manager',
      'DaemonSet',
      '--',
      '--webhook-secure-port=10443',
    ];
    expect(command('--out', 'dist', '--image', 'example:1', ...args)).toMatchObject({ status: 0, stderr: '' });
    const written = (path: string): unknown => parse(readFileSync(join(folder, 'dist/operator', path), 'utf8'));
    expect(written('cloud-operator-system/core.service.cloud-operator-webhooks.yaml')).toMatchObject({
      spec: { ports: [{ port: 443, targetPort: 10443 }] },
    });
    expect(written('cluster/admissionregistration.k8s.io.mutatingwebhookconfiguration.cloud-operator.yaml')).toMatchObject({
      webhooks: [{ clientConfig: { caBundle: readFileSync(join(folder, 'ca.pem')).toString('base64') } }],
    });
  });

  it.each([
    [['--webhooks', '*'], '--webhooks needs --webhook-ca-bundle or --cert-manager: the API server believes no other certificate'],
    [['--webhooks', 'x', '--cert-manager'], '--webhooks: "x" is not in the list of known webhooks; there are persistent-volume-label'],
    [['--webhooks', '-persistent-volume-label', '--cert-manager'], '--webhooks -persistent-volume-label selects none of'],
    [['--webhooks', '*', '--webhook-ca-bundle', 'several.ts'], '--webhook-ca-bundle several.ts is no certificate in PEM'],
    [['--cert-manager'], '--cert-manager is for --webhooks: say which ones'],
    [['--service-account', 'x'], '--service-account "x" is no <namespace>/<name>, such as kube-system/cloud-controller-manager'],
    [
      ['--service-account', 'a/b', '--image', 'x'],
      "option '--service-account <namespace/name>' cannot be used with option '--image <reference>'",
    ],
    [
      ['--service-account', 'a/b', '--', '--leader-migration-config=/x'],
      'flags of controller-manager: --leader-migration-config is a file of the Pods: give it here too, before the --',
    ],
    [['--network', 'Pod', '--workload', 'DaemonSet'], '--network Pod is for a Deployment without --controller-manager'],
    [
      ['--workload', 'DaemonSet', '--controller-manager', 'Deployment'],
      "option '--workload <kind>' cannot be used with option '--controller-manager <workload>'",
    ],
    [['--replicas', 'two'], '--replicas must be a whole number from 0 to 10, not "two"'],
    [['--replicas', '-1'], '--replicas must be a whole number'],
    [['--namespace', 'Cloud'], '--namespace "Cloud" is no name for a Namespace'],
    [['--image', 'a b'], '--image "a b" is no image reference'],
    [['--provider', 'local'], '--provider and --cloud-config need each other'],
    [['--provider', 'local', '--cloud-config', 'absent.yaml'], '--cloud-config absent.yaml does not exist'],
    [
      ['--provider', 'nowhere', '--cloud-config', 'local.yaml'],
      '--provider: there is no provider of kind "nowhere"; known are aws, azure, local',
    ],
    [
      ['--provider', 'aws', '--cloud-config', 'local.yaml'],
      '--cloud-config local.yaml: is the configuration of a cloud of kind local, but the provider is to be aws',
    ],
    [['--provider', 'local', '--cloud-config', 'wrong.yaml'], '--cloud-config wrong.yaml: there is no field spec.local.endpont'],
    [['--provider', 'local', '--cloud-config', 'several.ts'], '--cloud-config several.ts: must be a map of CloudProvider.spec fields'],
    [['--out', '/proc/x/y'], '/proc/x: no such file or directory (ENOENT, mkdir); name one that is there'],
    [['--extension', 'absent.ts'], '--extension absent.ts does not exist; or build it into the image'],
    [['--extension', '.'], '--extension . is no module by its name'],
    [['--extension', 'several.ts'], '--extension several.ts imports other files of its own'],
    [
      ['--extension', 'a.ts', '--extension-in-image', 'b'],
      "option '--extension <file>' cannot be used with option '--extension-in-image <module>'",
    ],
    [['--replicas', '2', '--controller-manager', 'DaemonSet'], '--replicas is for a Deployment'],
    [['--', '--v=2'], '--v=2 is for controller-manager: give --controller-manager Deployment or DaemonSet, or --service-account, too'],
    [['--controller-manager', 'DaemonSet', '--', '--colour'], 'flags of controller-manager: unknown flag: --colour'],
    [['--controller-manager', 'DaemonSet', '--', '--node-monitor-period=x'], 'flags of controller-manager: invalid argument "x"'],
    [
      ['--controller-manager', 'DaemonSet', '--', '--namespace=x'],
      'flags of controller-manager: --namespace is what --namespace says: before the --',
    ],
    [
      ['--controller-manager', 'DaemonSet', '--', '--kubeconfig=x'],
      "flags of controller-manager: --kubeconfig can't be used in a Pod of these manifests",
    ],
    [
      ['--controller-manager', 'DaemonSet', '--', '--secure-port=0'],
      'flags of controller-manager: --secure-port=0 leaves the probes nothing to ask',
    ],
    [
      ['--controller-manager', 'DaemonSet', '--leader-migration-config', 'absent.yaml'],
      '--leader-migration-config: unable to read leader migration',
    ],
    [['--colour'], "unknown option '--colour'; see --help"],
  ])('refuses %j in one line, with exit code 2', (args, message) => {
    writeFileSync(join(folder, 'several.ts'), "import { zone } from './zones.ts';\n");
    writeFileSync(join(folder, 'local.yaml'), 'local: {endpoint: "http://127.0.0.1:1"}\n');
    writeFileSync(join(folder, 'wrong.yaml'), 'local: {endpoint: "http://127.0.0.1:1", endpont: x}\n');
    const { status, stderr, stdout } = command('--out', 'dist', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`cloud-operator: ${message}`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses an extension that can’t be loaded, and says where it fails', () => {
    writeFileSync(join(folder, 'throws.ts'), 'export function extra() {}\nthrow new Error("not today");\n');
    const { status, stderr, stdout } = command('--out', 'dist', '--extension', 'throws.ts');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^cloud-operator: the extension [^ ]*\/throws\.ts can't be loaded: Error: not today\n {4}at throws\.ts:2:7\n$/);
  });

  it('overwrites nothing that it did not write', () => {
    writeFileSync(join(folder, 'crds.yaml'), 'mine: true\n');
    const { status, stderr } = command('--out', '.');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^cloud-operator: .*crds.yaml was not written by this command; move it away or choose another --out\n$/);
    expect(readFileSync(join(folder, 'crds.yaml'), 'utf8')).toBe('mine: true\n');
  });
});
