import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { SECRETS } from '../../../operator/kube/object';
import { snippetsOf } from '../../harness/snippets';
import { NONE, type Scene, serviceOf, withScene } from './scene';

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

jest.setTimeout(180_000); // every command is a process

let scene: Scene;
withScene((made) => (scene = made), { flags: ['--leader-elect=true'] }); // as in a cluster

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-operator-command-line-'));
  for (const name of ['kubectl-cloud', 'kubectl_complete-cloud', 'cloud-operator'])
    symlinkSync(join(PROJECT_ROOT, `bin/${name}.js`), join(folder, name));
  await scene.cluster.apply(serviceOf('web'));
  await scene.published('web');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(file: string, args: string[]): Promise<Outcome> {
  const env = { ...process.env, DEBUG: '', KUBECONFIG: scene.cluster.kubeconfigPath, PATH: `${folder}:${process.env.PATH ?? ''}` };
  const done = promisify(execFile)(file, args, { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return done.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (thrown: Outcome) => thrown,
  );
}

/** Typed: an asymmetric matcher is `any`. */
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** As kubectl runs it. */
const cloud = (...args: string[]): Promise<Outcome> => run('kubectl-cloud', args);

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cloud(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

async function patch(spec: object): Promise<void> {
  await scene.cluster.kubectl(['patch', 'clb', 'web', '--type', 'merge', '-p', JSON.stringify({ spec })]);
}

test('kubectl finds the plugin, and what completes it', async () => {
  const help = await scene.cluster.kubectl(['plugin', 'list'], '', { PATH: `${folder}:${process.env.PATH ?? ''}` });
  expect(help).toContain(join(folder, 'kubectl-cloud'));
  expect((await run('kubectl_complete-cloud', ['tree', '-o', ''])).stdout).toBe('json\ntable\nwide\nyaml\n:4\n');
});

test('bash completes commands and options', async () => {
  const script = `source <(cloud-operator completion bash); COMP_WORDS=(cloud-operator hist); COMP_CWORD=1; _cloud_operator; echo "\${COMPREPLY[@]}"
    COMP_WORDS=(cloud-operator plan --all); COMP_CWORD=2; _cloud_operator; echo "\${COMPREPLY[@]}"`;
  expect((await run('bash', ['-c', script])).stdout).toBe('history\n--all-namespaces\n');
});

test('every command of docs/operate/command-line.md works', async () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/operate/command-line.md'), 'utf8');
  const [first = ''] = snippetsOf(page, '').filter((text) => text.includes('kubectl cloud tree'));
  const lines = first.trim().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  const works = async (line: string): Promise<void> => {
    const [kubectl, plugin, ...args] = line.split(' ');
    expect([kubectl, plugin]).toEqual(['kubectl', 'cloud']);
    const { code, stderr } = await cloud(...args);
    expect([line, code, stderr]).toEqual([line, 0, '']);
  };
  const writes = lines.filter((line) => /^kubectl cloud (pause|resume|reconcile) /.test(line));
  await Promise.all(lines.filter((line) => !writes.includes(line)).map(works));
  for (const line of writes) await works(line);
});

test('tree shows a Service down to the cloud, and what somebody changed there', async () => {
  const tree = await printed('tree', 'web');
  expect(tree).toMatch(/^Service default\/web +Ready +[\d.]+$/m);
  expect(tree).toMatch(/^└─ CloudLoadBalancer default\/web +Ready +80\/TCP$/m);
  expect(tree).toMatch(/^ {3}├─ CloudStack lb-default-web-\w+ +Ready +Update Succeeded/m);
  expect(tree).toMatch(/^ {3}│ {2}.─ LoadBalancer .* +Present /m);
  expect(tree).toMatch(/^ {3}└─ Node n1 +(Target|Quiet)/m);
  expect(JSON.parse(await printed('tree', 'svc/web', '-o', 'json'))).toMatchObject({
    kind: 'Service',
    state: 'Ready',
    children: [{ kind: 'CloudLoadBalancer' }],
  });
  expect(tree).not.toContain('\u001b');
});

test('explain says what is well, and what is not', async () => {
  expect(await printed('explain', 'clb/web')).toMatch(/^ok +.* leads \(Lease kube-system\/cloud-controller-manager\)$/m);
  const node = await printed('explain', 'node/n1');
  expect(node).toMatch(/^ok +it is initialized: providerID local:\/\//m);
  expect(node).toMatch(/default\/web \(Cluster\)/);
  await scene.cluster.kubectl(['label', 'node', 'n1', 'node.kubernetes.io/exclude-from-external-load-balancers=']);
  expect(await printed('explain', 'node/n1')).toMatch(/^BAD +it is a target of no load balancer, since it has the label/m);
  await scene.cluster.kubectl(['label', 'node', 'n1', 'node.kubernetes.io/exclude-from-external-load-balancers-']);
  expect(await printed('explain', 'node/gone')).toMatch(/^BAD +there is no Node gone: its kubelet has not registered it$/m);
  await scene.cluster.apply(serviceOf('other', { spec: { loadBalancerClass: 'cloud-operator.dev/gone' } }));
  await scene.until('the Service to say so', async () =>
    (await scene.service('other'))?.status?.conditions?.some(({ reason }) => reason === 'ClassNotClaimed'),
  );
  expect(await printed('explain', 'other')).toMatch(/^BAD +no CloudProvider claims the class/m);
  await scene.cluster.kubectl(['delete', 'service', 'other']);
});

test('a plan is shown with old and new values, approved by its hash, and stands in the history', async () => {
  await patch({ updatePolicy: { approval: 'Manual' }, sourceRanges: ['10.0.0.0/8'] });
  const { hash } = await scene.planOf('web');
  expect(await printed('plan')).toMatch(new RegExp(`^default/web +${hash} +.*1 to update`, 'm'));
  expect(await printed('plan', 'web')).toMatch(/sourceRanges.*: .* -> .*10\.0\.0\.0\/8/);
  expect(await printed('explain', 'clb/web')).toContain(`kubectl cloud approve ${hash}`);
  expect(await cloud('approve', 'aa8b')).toMatchObject({
    code: 1,
    stderr: matching(new RegExp(`^kubectl cloud: no plan that waits has the hash aa8b; those that wait are ${hash} .*\\n$`)),
  });
  expect(await printed('approve', hash)).toMatch(new RegExp(`^approved: CloudLoadBalancer default/web, plan ${hash}: `));
  await scene.ready('web');
  expect((await scene.inCloud('web')).sourceRanges).toEqual(['10.0.0.0/8']);
  expect(await printed('plan')).toBe('No change waits for approval.\n');
  expect(await printed('history', 'web')).toMatch(/^\S+ +Update +Change +Succeeded +[\d.]+ s +\S* ?~1 /m);
  await patch({ updatePolicy: { approval: 'Auto' } });
});

test('pause, resume and freeze', async () => {
  expect(await printed('pause', 'web')).toBe('CloudLoadBalancer default/web is paused: nothing of it is written to the cloud\n');
  await scene.condition('web', 'Reconciling', 'Paused');
  expect(await printed('reconcile', 'web')).toMatch(/^CloudLoadBalancer default\/web: Reconciling \(Paused\)/);
  expect(await printed('resume', 'svc/web')).toBe('CloudLoadBalancer default/web goes on\n');
  await scene.ready('web');
  expect(await printed('pause', 'cloudprovider/local')).toContain('is frozen');
  await scene.condition('web', 'Reconciling', 'Frozen');
  expect(await printed('explain', 'web')).toContain('CloudProvider local is frozen');
  await printed('resume', 'cp/local');
  await scene.ready('web');
});

test('failures are one line, and tell what to do', async () => {
  const line = (text: string): unknown => matching(new RegExp(`^kubectl cloud: [^\\n]*${text}[^\\n]*\\n$`));
  expect(await cloud('tree', 'nothing')).toMatchObject({
    code: 1,
    stderr: line('there is no Service default/nothing; kubectl get services -A lists them'),
  });
  expect(await cloud('tree', '-n', 'empty')).toMatchObject({ code: 1, stderr: line('no Service of type LoadBalancer in namespace empty') });
  expect(await cloud('explain', 'pod/x')).toMatchObject({ code: 2, stderr: line('"pod" is no kind') });
  expect(await cloud('tree', '--context', 'none')).toMatchObject({ code: 2, stderr: line('no context "none"') });
  expect(await cloud('plan', '-o', 'xml')).toMatchObject({ code: 2 });
});

const PLANTED = 'hunter2-hunter2-hunter2';

test('a support bundle has what is needed, and no secret', async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'planted', namespace: 'cloud-operator-system' },
    stringData: { password: PLANTED },
  };
  await scene.cluster.apply(secret); // kubectl writes all of it into an annotation
  const state = (await scene.cluster.kube.list(SECRETS, { fieldSelector: 'type=cloud-operator.dev/stack-state' }))[0];
  await scene.cluster.kubectl([
    'annotate',
    'secret',
    '-n',
    state?.metadata.namespace ?? '',
    state?.metadata.name ?? '',
    `kubectl.kubernetes.io/last-applied-configuration={"data":"${PLANTED}"}`,
  ]);
  await scene.cluster.kubectl(['annotate', 'service', 'web', `example.com/note=https://me:${PLANTED}@example.com`]);
  const file = join(folder, 'bundle.tar.gz');
  expect(await printed('support-bundle', '--file', file)).toMatch(/bundle\.tar\.gz: \d+ files\. Secrets are not in it/);
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  const files = readdirSync(join(folder, 'support-bundle'));
  const texts = Object.fromEntries(
    files.filter((name) => name !== 'logs').map((name) => [name, readFileSync(join(folder, 'support-bundle', name), 'utf8')]),
  );
  expect(files).toEqual(
    expect.arrayContaining(['cloudloadbalancers.yaml', 'cloudstacks.yaml', 'nodes.yaml', 'events.yaml', 'state.yaml', 'version.yaml']),
  );
  expect(texts['state.yaml']).toContain('cloud-operator.dev/');
  expect(texts['services.yaml']).toContain('example.com/note');
  expect(Object.entries(texts).filter(([, text]) => text.includes(PLANTED) || /checkpoint\.json\.gz/.test(text))).toEqual([]);
  expect(await cloud('support-bundle', '--file', file)).toMatchObject({ code: 2, stderr: matching(/can't be written/) });
});

test('release lets go of everything once the operator has ended, and the cloud stays', async () => {
  const { cluster } = scene;
  expect(await cloud('release', '--all')).toMatchObject({
    code: 1,
    stderr: matching(/leads \(Lease .*\), and would put everything back; stop it first/),
  });
  await cluster.stopOperator();
  expect(await printed('release', '--all', '--dry-run')).toContain('released (dry run): CloudLoadBalancer default/web\n');
  expect((await scene.loadBalancer('web'))?.metadata.finalizers).toEqual(['cloud-operator.dev/cleanup']);
  expect(await printed('release', '--all')).toMatch(/released: Service default\/web\n[\s\S]*what they stand for stays in the cloud/);
  expect((await scene.loadBalancer('web'))?.spec.deletionPolicy).toBe('Orphan');
  // Nothing holds them any more, in the worst order: first the kinds.
  await cluster.kubectl([
    'delete',
    'crd',
    ...[CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS].map(({ plural, group }) => `${plural}.${group}`),
    '--timeout=30s',
  ]);
  await cluster.kubectl(['delete', 'service', 'web', '--timeout=30s']);
  expect(await scene.counts('web')).not.toEqual(NONE);
});
