import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperatorError } from '../../../operator/base/errors';
import { loadKubeConfig, type KubeConfigOptions } from '../../../operator/kube/kube-config';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-config-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const GOOD = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://one.example:6443", certificate-authority: ca.pem}}
- {name: c2, cluster: {server: "http://127.0.0.1:8080/"}}
users:
- {name: u1, user: {token: secret}}
- {name: u2, user: {tokenFile: token}}
contexts:
- {name: one, context: {cluster: c1, user: u1}}
- {name: two, context: {cluster: c2, user: u2}}
- {name: astray, context: {cluster: nowhere, user: u1}}
- {name: nobody, context: {cluster: c1, user: ghost}}
`;

/** No KUBECONFIG, no home and no Pod, unless the test says so. */
function load(options: KubeConfigOptions) {
  return loadKubeConfig({ env: { HOME: directory }, serviceAccountPath: join(directory, 'no-service-account'), ...options });
}

function problem(options: KubeConfigOptions): OperatorError {
  try {
    load(options);
  } catch (thrown) {
    return thrown as OperatorError;
  }
  throw new Error('the kubeconfig was taken');
}

describe('loadKubeConfig', () => {
  it('reads the current context, with paths relative to the file', () => {
    const config = load({ kubeconfig: write('good', GOOD) });
    expect(config.getCurrentCluster()).toMatchObject({
      server: 'https://one.example:6443',
      caFile: join(directory, 'ca.pem'),
      skipTLSVerify: false,
    });
    expect(config.getCurrentUser()).toMatchObject({ token: 'secret' });
  });

  it('takes another context and another server', () => {
    const config = load({ kubeconfig: write('good', GOOD), context: 'two', master: 'https://elsewhere:1/' });
    expect(config.getCurrentCluster()?.server).toBe('https://elsewhere:1');
    expect(config.getCurrentUser()?.authProvider).toEqual({ name: 'tokenFile', config: { tokenFile: join(directory, 'token') } });
  });

  it('merges the files of KUBECONFIG, the first to name a thing wins', () => {
    const first = write('first', 'apiVersion: v1\nkind: Config\nclusters: [{name: c1, cluster: {server: "https://first:1"}}]\n');
    const config = load({ env: { KUBECONFIG: `${first}:${write('good', GOOD)}` } });
    expect(config.currentContext).toBe('one');
    expect(config.getCurrentCluster()?.server).toBe('https://first:1');
  });

  it('uses the ServiceAccount of a Pod', () => {
    write('token', 't');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: join(directory, 'nowhere') };
    const config = load({ env, serviceAccountPath: directory });
    expect(config.getCurrentCluster()).toMatchObject({ server: 'https://[fd00::1]:443', caFile: join(directory, 'ca.crt') });
    expect(config.getCurrentUser()?.authProvider).toMatchObject({ config: { tokenFile: join(directory, 'token') } });
  });

  it('needs no more than --master for a server that asks for no credentials', () => {
    expect(load({ master: 'http://127.0.0.1:8080' }).getCurrentCluster()?.server).toBe('http://127.0.0.1:8080');
  });

  const bad: [string, () => KubeConfigOptions, RegExp][] = [
    ['nothing at all', () => ({}), /^no kubeconfig: .*give --kubeconfig=<file>$/],
    ['a missing file', () => ({ kubeconfig: join(directory, 'absent') }), /^kubeconfig .*absent does not exist; give the path/],
    ['a directory', () => ({ kubeconfig: directory }), /can't be read \(EISDIR\)/],
    ['a file without end', () => ({ kubeconfig: '/dev/zero' }), /^kubeconfig \/dev\/zero is larger than 1024 KiB; give the path/],
    ['no YAML', () => ({ kubeconfig: write('broken', 'a: [1,\nb: }') }), /broken is not YAML: .*repair/],
    ['a list', () => ({ kubeconfig: write('list', '- 1') }), /list is no kubeconfig: it must hold an object/],
    ['an empty file', () => ({ kubeconfig: write('empty', '') }), /empty is no kubeconfig/],
    ['another kind', () => ({ kubeconfig: write('service', 'apiVersion: v1\nkind: Service') }), /it holds v1 Service, expected v1 Config/],
    ['another version', () => ({ kubeconfig: write('v2', 'apiVersion: v2\nkind: Config') }), /it holds v2 Config, expected v1 Config/],
    [
      'a cluster without a server',
      () => ({ kubeconfig: write('bare', 'clusters: [{name: c, cluster: {}}]') }),
      /bare: clusters\[0\]\.cluster\.server is missing/,
    ],
    [
      'an unknown context',
      () => ({ kubeconfig: write('good', GOOD), context: 'three' }),
      /good has no context "three"; it has: one, two, astray, nobody/,
    ],
    [
      'a context without its cluster',
      () => ({ kubeconfig: write('good', GOOD), context: 'astray' }),
      /names the cluster "nowhere", which is not there/,
    ],
    [
      'a context without its user',
      () => ({ kubeconfig: write('good', GOOD), context: 'nobody' }),
      /names the user "ghost", which is not there/,
    ],
    [
      'no current context',
      () => ({ kubeconfig: write('current', GOOD.replace('current-context: one', '')) }),
      /has no current-context; set one/,
    ],
    [
      'a server that is no URL',
      () => ({ kubeconfig: write('good', GOOD), master: 'one.example' }),
      /server "one.example" of cluster "c1" is no http\(s\) URL/,
    ],
    ['in-cluster outside a Pod', () => ({ inCluster: true }), /^this is no Pod with a ServiceAccount/],
  ];

  it.each(bad)('refuses %s in one line', (_name, options, message) => {
    const error = problem(options());
    expect(error).toMatchObject({ name: 'OperatorError', code: 'Invalid' });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
  });
});
