import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_VERSION, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { NODES, SECRETS, type ResourcePath } from '../../../operator/kube/object';
import { freePort } from '../../../dev/cluster/free-port';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { manifests } from '../../../synth/manifests';
import { labels } from '../../../synth/options';
import { ChromiumPage, findChromium } from '../../harness/chromium';
import { ForwardingKubelet } from '../../harness/forwarding-kubelet';
import { OtlpReceiver } from '../../harness/otlp-receiver';
import { snippetsOf } from '../../harness/snippets';
import { NONE, type Scene, serviceOf, withScene } from './scene';

const PODS: ResourcePath = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

jest.setTimeout(180_000); // every command is a process

let scene: Scene;
withScene((made) => (scene = made), {
  flags: ['--leader-elect=true'], // as in a cluster
  environment: { ...minimalEnvironment(), OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
});

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
  expect(await printed('history', 'web', '--plan')).toMatch(
    /^ {2}~ update local:index:LoadBalancer .*\n {6}sourceRanges\S*: .* -> .*10\.0\.0\.0\/8/m,
  );
  await patch({ updatePolicy: { approval: 'Auto' } });
});

test('who has rights in one namespace alone is told what he may read, and who gives him the rest', async () => {
  const kubectl = (...args: string[]): Promise<string> => scene.cluster.kubectl(args);
  const readable = 'services,endpointslices.discovery.k8s.io,cloudloadbalancers.cloud-operator.dev';
  await kubectl('create', 'serviceaccount', 'reader');
  await kubectl('create', 'role', 'reader', '--verb=get,list', `--resource=${readable}`);
  await kubectl('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=default:reader');
  const token = (await kubectl('create', 'token', 'reader')).trim();
  const config = join(folder, 'reader.kubeconfig');
  writeFileSync(config, readFileSync(scene.cluster.kubeconfigPath, 'utf8').replace(/token: \S+/, `token: ${token}`));
  const as = ['--kubeconfig', config];

  const explained = await printed('explain', 'web', ...as);
  expect(explained).toMatch(/^ok +CloudProvider local carries it$/m);
  expect(explained).toMatch(/^note +you may not read CloudInstances, CloudProviders, CloudStacks, Nodes: what they say is left out$/m);
  expect(explained).not.toMatch(/there is no (CloudProvider|Node)/);
  const tree = await printed('tree', 'web', ...as);
  expect(tree).toMatch(/^└─ CloudLoadBalancer default\/web +Ready/m);
  expect(tree).toContain('you may not read CloudInstances, CloudStacks, Nodes');
  const refused = { code: 1, stderr: matching(/you may not read CloudStacks, .*ask for a ClusterRoleBinding to cloud-operator-view/) };
  const commands = [['approve', 'aa8b'], ['plan'], ['history', 'web']];
  expect(await Promise.all(commands.map((command) => cloud(...command, ...as)))).toMatchObject(commands.map(() => refused));

  const view = manifests().filter(({ object }) => object.kind === 'ClusterRole' && object.metadata.name === 'cloud-operator-view');
  await scene.cluster.apply(...view.map(({ object }) => object));
  await kubectl('create', 'clusterrolebinding', 'reader', '--clusterrole=cloud-operator-view', '--serviceaccount=default:reader');
  await scene.until('the right to count', async () => (await cloud('history', 'web', ...as)).code === 0);
});

test('pause, resume and freeze', async () => {
  expect(await printed('pause', 'web')).toBe('CloudLoadBalancer default/web is paused: nothing of it is written to the cloud\n');
  await scene.condition('web', 'Reconciling', 'Paused');
  expect(await printed('reconcile', 'web')).toMatch(/^CloudLoadBalancer default\/web: Reconciling \(Paused\)/);
  expect(await printed('resume', 'svc/web')).toBe('CloudLoadBalancer default/web goes on\n');
  await scene.ready('web');
  expect(await printed('pause', '--updates', 'cloudprovider/local')).toContain('only its targets follow the Nodes');
  expect(await printed('pause', 'cloudprovider/local')).toContain('is frozen');
  await scene.condition('web', 'Reconciling', 'Frozen');
  expect(await printed('explain', 'web')).toContain('CloudProvider local is frozen');
  const isFrozen = /^\S+ \S+ .*, but another lever is in force: CloudProvider local is frozen/;
  expect(await printed('pause', '--updates', 'cloudprovider/local')).toMatch(isFrozen);
  expect(await printed('resume', 'web')).toMatch(isFrozen);
  expect(await printed('resume', 'cp/local')).toBe('CloudProvider local is no longer frozen\n');
  await scene.ready('web');
});

test('what a Service says of its load balancer by annotation is changed there', async () => {
  const annotate = (...annotations: string[]): Promise<string> =>
    scene.cluster.kubectl(['annotate', 'service', 'web', ...annotations.map((one) => `cloud-operator.dev/${one}`)]);
  await annotate('pause=All', 'reconcile=one');
  await scene.condition('web', 'Reconciling', 'Paused');
  expect(await cloud('resume', 'web')).toMatchObject({
    code: 1,
    stderr: matching(/Service default\/web has the annotation .*kubectl annotate service/),
  });
  expect(await printed('reconcile', 'web')).toMatch(/^CloudLoadBalancer default\/web: Reconciling \(Paused\)/);
  await annotate('pause-', 'reconcile-');
  await scene.ready('web');
});

test('while a Service is held, what it says does not arrive: its load balancer is paused and looked at itself', async () => {
  const annotate = (...annotations: string[]): Promise<string> =>
    scene.cluster.kubectl(['annotate', '--overwrite', 'service', 'web', ...annotations.map((one) => `cloud-operator.dev/${one}`)]);
  await annotate('drift-interval=nonsense', 'pause=All', 'reconcile=two');
  await scene.until('the Service to be held', async () =>
    (await scene.service('web'))?.status?.conditions?.some(({ reason }) => reason === 'InvalidLever'),
  );
  expect(await printed('pause', 'web')).toBe('CloudLoadBalancer default/web is paused: nothing of it is written to the cloud\n');
  await scene.condition('web', 'Reconciling', 'Paused');
  expect(await printed('reconcile', 'web')).toMatch(/^CloudLoadBalancer default\/web: Reconciling \(Paused\)/);
  await annotate('pause-', 'drift-interval-', 'reconcile-');
  await printed('resume', 'web');
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

  const bundled = async (...args: string[]): Promise<[string, string]> => {
    const other = join(folder, `bundle-${args.length}.tar.gz`);
    const said = await printed('support-bundle', '--file', other, ...args);
    return [said, execFileSync('tar', ['-xzOf', other, 'support-bundle/not-read.txt'], { encoding: 'utf8' })];
  };
  const elsewhere = ['--operator-namespace', 'default'];
  expect(await bundled(...elsewhere)).toEqual([
    matching(/without 1 that could not be read/),
    matching(/^state\.yaml: namespace default has no state of a stack.*--state-namespace\n$/),
  ]);
  expect(await bundled(...elsewhere, '--state-namespace', 'cloud-operator-system')).toEqual([matching(/\d+ files\. Secrets/), '']);
});

test('adopt shows what would change, and takes over what another object has given up', async () => {
  const { cluster } = scene;
  const made = (name: string, more: object): object => ({
    apiVersion: API_VERSION,
    kind: 'CloudLoadBalancer',
    metadata: { name, namespace: 'default' },
    spec: { provider: 'local', listeners: [{ name: 'http', protocol: 'TCP', port: 8080, nodePort: 30808 }], ...more },
  });
  const kept = async (): Promise<unknown> => (await cluster.resources.list('loadbalancers', { name: 'kept' }))[0]?.listeners;
  await cluster.apply(made('old', { local: { name: 'kept' }, deletionPolicy: 'Orphan' }));
  const { status } = await scene.ready('old');
  await cluster.kubectl(['delete', 'clb', 'old', '--timeout=30s']);
  await cluster.apply(
    made('new', { managementPolicy: 'Observe', listeners: [{ name: 'http', protocol: 'TCP', port: 8081, nodePort: 30808 }] }),
  );

  expect(await cloud('adopt', 'clb/new', '--name', 'kept', '--dry-run')).toMatchObject({
    code: 1,
    stderr: matching(/AdoptionDenied.*spec\.policy\.adoption/),
  });
  await cluster.kubectl(['patch', 'cloudprovider', 'local', '--type=merge', '-p', '{"spec":{"policy":{"adoption":["Released"]}}}']);
  const before = (await scene.loadBalancer('new'))?.spec;
  expect(before).not.toHaveProperty('adopt');
  expect(await printed('adopt', 'clb/new', '--name', 'kept', '--dry-run')).toMatch(/taken over from[\s\S]*8080[\s\S]*8081/);
  expect((await scene.loadBalancer('new'))?.spec).toEqual(before);
  expect(await kept()).toMatchObject([{ port: 8080 }]);

  const told = JSON.parse(await printed('adopt', 'clb/new', '--name', 'kept', '-o', 'json')) as object[];
  expect(told).toMatchObject([{ plan: { operations: expect.any(Array) as unknown } }, { state: 'Ready', address: status?.address }]);
  expect(await kept()).toMatchObject([{ port: 8081 }]);
  expect(await cloud('adopt', 'clb/new', '--name', 'kept')).toMatchObject({ code: 1, stderr: matching(/has a load balancer already/) });
  await cluster.kubectl(['delete', 'clb', 'new', '--timeout=30s']);
}, 300_000);

test('adopt that is interrupted while it looks puts back what it has written', async () => {
  const { cluster } = scene;
  await cluster.stopOperator(); // so that it has to wait
  const listeners = [{ name: 'http', protocol: 'TCP', port: 8082, nodePort: 30808 }];
  const metadata = { name: 'idle', namespace: 'default' };
  await cluster.apply({ apiVersion: API_VERSION, kind: 'CloudLoadBalancer', metadata, spec: { provider: 'local', listeners } });
  const before = (await scene.loadBalancer('idle'))?.spec;
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath };
  const child = spawn(join(folder, 'kubectl-cloud'), ['adopt', 'clb/idle', '--name', 'kept'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await scene.until('it to be asked for', async () => (await scene.loadBalancer('idle'))?.spec.adopt === 'Released');
  child.kill('SIGINT');
  expect([await ended, said]).toEqual([1, matching(/interrupted by SIGINT; what was written is put back/)]);
  expect((await scene.loadBalancer('idle'))?.spec).toEqual(before);
  await cluster.kubectl(['delete', 'clb', 'idle', '--timeout=30s']);
});

describe('with a page, and traces', () => {
  const receiver = new OtlpReceiver();
  const HOSTILE = '<img src=x onerror="document.title=1">';
  const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/$/;
  let server: string;

  beforeAll(async () => {
    const port = await freePort();
    server = `https://127.0.0.1:${port}`;
    const admin = scene.cluster.kubeconfigPath;
    await scene.cluster.stopOperator();
    await scene.cluster.startOperator([
      ...['--ui', '--bind-address=127.0.0.1', `--secure-port=${port}`, `--otlp-endpoint=${await receiver.start()}`],
      ...[`--authentication-kubeconfig=${admin}`, `--authorization-kubeconfig=${admin}`],
    ]);
    const objects = manifests({ ui: true }).map(({ object }) => object);
    await scene.cluster.apply(...objects.filter(({ metadata }) => metadata.name === 'cloud-operator-ui'));
    await scene.cluster.kubectl(['annotate', 'clb', 'web', `cloud-operator.dev/pause=${HOSTILE}`]);
    await scene.condition('web', 'Stalled', 'Paused');
  }, 60_000);
  afterAll(async () => {
    await receiver.stop();
    await scene.cluster.kubectl(['annotate', 'clb', 'web', 'cloud-operator.dev/pause-']);
  });

  /** Runs `kubectl cloud ui` as a person does, who ends it with Ctrl-C. */
  async function withPage(look: (address: string) => Promise<void>, way = ['--server', server]): Promise<void> {
    const env = { ...process.env, KUBECONFIG: scene.cluster.kubeconfigPath };
    const child = spawn(join(folder, 'kubectl-cloud'), ['ui', ...way], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const address = new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));
      const first = await Promise.race([address, ended.then((code) => `ended with ${code}: ${said}`)]);
      expect(first).toMatch(ADDRESS);
      await look(first);
    } finally {
      child.kill('SIGINT');
    }
    expect(await ended).toBe(0);
  }

  test('kubectl cloud ui makes it reachable with a token of its own, for whoever has its address', async () => {
    await withPage(async (address) => {
      const overview = (await (await fetch(`${address}overview.json`)).json()) as { services: object[]; waiting: object[] };
      expect(overview.services).toMatchObject([{ name: 'default/web', made: true }]);
      expect(overview.waiting).toEqual([expect.objectContaining({ kind: 'CloudLoadBalancer', name: 'default/web' })]);
      const { origin } = new URL(address);
      expect((await fetch(`${origin}/ui/overview.json`)).status).toBe(404);
      expect((await fetch(`${origin}/${'x'.repeat(24)}/overview.json`)).status).toBe(404);
      // The token opens nothing else.
      expect((await fetch(`${address}../metrics`)).status).toBe(404);
      expect((await fetch(`${address}%2e%2e/metrics`, { redirect: 'manual' })).status).not.toBe(200);
      expect((await fetch(`${address}overview.json`, { method: 'POST' })).status).toBe(405);
    });
  });

  test('kubectl cloud ui says what stands in the way', async () => {
    expect(await cloud('ui', '--server', server, '--service-account', 'nobody')).toMatchObject({
      code: 1,
      stderr: matching(/there is no ServiceAccount nobody in namespace cloud-operator-system; cloud-operator manifests --ui has it/),
    });
    expect(await cloud('ui')).toMatchObject({
      code: 1,
      stderr: matching(/no Pod of the operator is ready in namespace cloud-operator-system/),
    });
    await scene.cluster.kubectl(['create', 'serviceaccount', '-n', 'cloud-operator-system', 'nosy']);
    expect(await cloud('ui', '--server', server, '--service-account', 'nosy')).toMatchObject({
      code: 1,
      stderr: matching(/does not show its page to the ServiceAccount \(403\); the ClusterRole cloud-operator-ui/),
    });
  });

  test('through a Pod, as kubectl port-forward goes: by the API server, and the kubelet of its Node', async () => {
    const kubelet = new ForwardingKubelet();
    const Port = await kubelet.start();
    const { kube } = scene.cluster;
    const ready = [{ type: 'Ready', status: 'True' }];
    const metadata = { name: 'operator', namespace: 'cloud-operator-system', labels: labels('operator') };
    try {
      await kube.create(NODES, undefined, { metadata: { name: 'host' } });
      const daemonEndpoints = { kubeletEndpoint: { Port } };
      const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
      await kube.patch(NODES, 'host', 'merge', { status: { addresses, daemonEndpoints, conditions: ready } }, { subresource: 'status' });
      const spec = { nodeName: 'host', serviceAccountName: 'cloud-operator-ui', containers: [{ name: 'operator', image: 'none' }] };
      await scene.cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
      await kube.patch(
        PODS,
        'cloud-operator-system/operator',
        'merge',
        { status: { phase: 'Running', conditions: ready } },
        { subresource: 'status' },
      );
      const port = new URL(server).port;
      await withPage(
        async (address) => {
          const overview = (await (await fetch(`${address}overview.json`)).json()) as { services: object[] };
          expect(overview.services).toMatchObject([{ name: 'default/web', made: true }]);
          expect((await fetch(address)).headers.get('content-type')).toMatch(/^text\/html/);
        },
        ['--operator-port', port],
      );
      expect(new Set(kubelet.asked)).toEqual(new Set([`cloud-operator-system/operator:${port}`]));
    } finally {
      await scene.cluster.kubectl([
        'delete',
        'pod',
        '-n',
        'cloud-operator-system',
        'operator',
        '--force',
        '--grace-period=0',
        '--ignore-not-found',
      ]);
      await scene.cluster.kubectl(['delete', 'node', 'host', '--ignore-not-found']);
      await kubelet.stop();
    }
  });

  const chromium = findChromium();
  (chromium === undefined ? test.skip : test)(
    'in a browser: live, by keyboard, in the dark, and what is hostile is text (needs Chromium)',
    async () => {
      await withPage(async (address) => {
        const page = await ChromiumPage.start(chromium ?? '');
        try {
          await page.prefers('light');
          await page.open(address);
          await page.until('what waits', `document.querySelector('#waiting .item') !== null`);
          expect(await page.evaluate<string>(`document.querySelector('#waiting').textContent`)).toContain(HOSTILE);
          expect(await page.evaluate<number>(`document.querySelectorAll('img[onerror], #waiting img, #graph img').length`)).toBe(0);
          const light = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
          await page.until('lines from a Service to a Node', `document.querySelectorAll('#edges path').length >= 1`);

          // Tab to the first thing that waits, Enter, and back.
          await page.evaluate(`document.querySelector('#filter').focus()`);
          await page.press('Tab');
          expect(await page.evaluate<string>(`document.activeElement.dataset.name`)).toBe('default/web');
          await page.press('Enter');
          await page.until('the details', `document.querySelector('#details-body .finding') !== null`);
          expect(await page.evaluate<string>(`document.querySelector('#details-title').textContent`)).toBe('CloudLoadBalancer default/web');
          expect(await page.evaluate<string>(`document.querySelector('#details-body').textContent`)).toContain(HOSTILE);
          expect(await page.evaluate<number>(`document.querySelectorAll('#details img').length`)).toBe(0);
          const shot = process.env['PAGE_SCREENSHOTS'];
          if (shot !== undefined) await page.screenshot(join(shot, 'details-light.png'));
          await page.press('Escape');
          expect(await page.evaluate<boolean>(`document.querySelector('#details').hidden`)).toBe(true);
          expect(await page.evaluate<string>(`document.activeElement.dataset.name`)).toBe('default/web');
          if (shot !== undefined) await page.screenshot(join(shot, 'light.png'));

          await page.prefers('dark');
          const dark = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
          expect([brightness(light) > 200, brightness(dark) < 60]).toEqual([true, true]);
          if (shot !== undefined) await page.screenshot(join(shot, 'dark.png'));

          // Without a reload, and with the focus where it was.
          await scene.cluster.kubectl(['annotate', 'clb', 'web', 'cloud-operator.dev/pause-']);
          await page.until('nothing to wait', `document.querySelector('#waiting').textContent === 'Nothing waits.'`);
          expect(page.complaints).toEqual([]);
        } finally {
          await page.close();
        }
      });
    },
  );

  test('one id leads from a Service to the calls to the cloud: in the log, in the attempt and as a trace', async () => {
    await scene.cluster.apply(serviceOf('traced'));
    await scene.published('traced');
    const lines = scene.cluster
      .operatorLog()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const calls = lines.filter(({ msg, object }) => msg === 'cloud call' && String(object).startsWith('CloudStack lb-default-traced-'));
    const id = String(calls[0]?.update);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(calls.map(({ verb, update }) => [verb, update])).toEqual(expect.arrayContaining([['create', id]]));
    for (const { requestID } of calls) expect(requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines.filter(({ update }) => update === id).map(({ msg }) => msg)).toContain('stack updated');
    expect((await scene.stackOf('traced')).status?.attempts?.at(-1)).toMatchObject({ id, kind: 'Update', result: 'Succeeded' });

    const spans = await scene.until('the trace', () => {
      const found = receiver.spans.filter(({ traceId }) => traceId === id);
      return Promise.resolve(
        ['service', 'stack', 'update stack', 'cloud create'].every((name) => found.some((span) => span.name === name)) && found,
      );
    });
    const above = (name: string): string[] => {
      const way: string[] = [];
      for (
        let at = spans.find((span) => span.name === name);
        at !== undefined;
        at = spans.find(({ spanId }) => spanId === at?.parentSpanId)
      )
        way.push(at.name);
      return way;
    };
    expect(above('cloud create')).toEqual(['cloud create', 'update stack', 'stack', 'service']);
    expect(spans.find(({ name }) => name === 'service')?.attributes).toMatchObject({ 'cloud_operator.object': 'Service default/traced' });
    const requests = spans.filter(({ name }) => name === 'cloud create').map(({ attributes }) => attributes['cloud.request_id']);
    expect(requests).toEqual(expect.arrayContaining(calls.filter(({ verb }) => verb === 'create').map(({ requestID }) => requestID)));
    await scene.cluster.kubectl(['delete', 'service', 'traced', '--timeout=30s']);
  });

  /** Of `rgb(r, g, b)`, 0 to 255. */
  function brightness(colour: string): number {
    const parts = [...colour.matchAll(/\d+/g)].map(([digits]) => Number(digits));
    return parts.slice(0, 3).reduce((sum, part) => sum + part, 0) / 3;
  }
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
