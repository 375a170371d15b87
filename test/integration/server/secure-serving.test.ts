import { request } from 'node:https';
import { spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { GROUP, KINDS } from '../../../crds';
import { toCRD, type CustomResourceDefinition } from '../../../crds/crd';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NODES } from '../../../operator/kube/object';
import { HealthChecks } from '../../../operator/server/health';
import { OperatorServer } from '../../../operator/server/http-server';
import { Metrics } from '../../../operator/server/metrics';
import type { ServingOptions } from '../../../operator/server/options';
import { SecureServing } from '../../../operator/server/secure-serving';
import { serviceAccount } from '../../../dev/cluster/credentials';
import { freePort } from '../../../dev/cluster/free-port';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../../operator/entry';
import { ensureTools } from '../../../tools/ensure';
import { waitFor } from '../../harness/wait-for';
import { CertificateAuthority } from '../../harness/certificate-authority';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';

const READER = serviceAccount('monitoring', 'reader');
const STRANGER = serviceAccount('monitoring', 'stranger');
const VIEWER = serviceAccount('people', 'viewer');

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

const REQUEST_HEADER = {
  allowedNames: [],
  usernameHeaders: ['x-remote-user'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
  uidHeaders: [],
};

function serving(more: Partial<ServingOptions['authentication']> = {}): ServingOptions {
  return {
    bindAddress: '127.0.0.1',
    port: 0,
    tls: { named: [] },
    authentication: { skipLookup: false, tolerateLookupFailure: false, tokenTtlMs: 10_000, requestHeader: REQUEST_HEADER, ...more },
    authorization: { alwaysAllowPaths: ['/healthz', '/readyz', '/livez'], allowTtlMs: 10_000, denyTtlMs: 0 },
  };
}

interface Answer {
  status: number;
  body: string;
}

let cluster: TestCluster;
let api: KubeClient;
let server: OperatorServer;
let secure: SecureServing;
let port: number;
let ccmPort: number;

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false, identities: [READER, STRANGER, VIEWER] });
  api = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { logger: silentLogger });
  await cluster.kubectl(['create', 'clusterrole', 'metrics-reader', '--verb=get', '--non-resource-url=/metrics']);
  await cluster.kubectl(['create', 'clusterrolebinding', 'metrics-reader', '--clusterrole=metrics-reader', `--user=${READER.user}`]);
  await cluster.kubectl(['create', 'clusterrole', 'page-viewer', '--verb=get', '--non-resource-url=/ui,/ui/*']);
  await cluster.kubectl(['create', 'clusterrolebinding', 'page-viewer', '--clusterrole=page-viewer', `--user=${VIEWER.user}`]);
  ({ server, secure } = await start(serving(), api));
}, CLUSTER_START_MS);

afterAll(async () => {
  await server?.stop();
  await api?.close();
  await cluster?.stop();
});

/** What it shows is not of interest here, but to whom. */
const PAGE = { path: '/ui', answer: ({ pathname }: URL) => ({ status: 200, headers: { 'x-shown': 'yes' }, body: `page ${pathname}` }) };

async function start(options: ServingOptions, client: KubeClient | undefined): Promise<{ server: OperatorServer; secure: SecureServing }> {
  const made = new SecureServing({
    serving: options,
    clients: { authentication: client, authorization: client },
    clock: systemClock,
    logger: silentLogger,
  });
  await made.prepare();
  const health = new HealthChecks(silentLogger);
  const configuration = { 'cloudcontrollermanager.config.k8s.io': { Generic: { Port: 10258 } } };
  const listening = new OperatorServer({
    ...{ bindAddress: '127.0.0.1', port: 0, health, metrics: new Metrics(), configuration, page: PAGE, secure: made, logger: silentLogger },
  });
  ({ port } = await listening.start());
  return { server: listening, secure: made };
}

function get(
  path: string,
  headers: Record<string, string> = {},
  how: { cert?: string; key?: string; port?: number } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false, ...how }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

function bearer(user: string): Record<string, string> {
  return { authorization: `Bearer ${cluster.controlPlane.token(user)}` };
}

test('its own certificate is one of a server, for localhost', async () => {
  const shown = await new Promise<X509Certificate | undefined>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate());
      socket.end();
    });
    socket.on('error', reject);
  });
  expect(shown?.checkHost('localhost')).toBe('localhost');
  expect(shown?.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(shown?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(shown !== undefined && shown.verify(shown.publicKey)).toBe(true);
});

test('anybody may read health, and nothing else', async () => {
  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' });
  expect(await get('/livez')).toEqual({ status: 200, body: 'ok' });
  for (const path of ['/metrics', '/configz', '/healthz/ping', '/metrics/slis']) {
    const { status, body } = await get(path);
    expect([path, status]).toEqual([path, 403]);
    expect(JSON.parse(body)).toMatchObject({
      kind: 'Status',
      reason: 'Forbidden',
      code: 403,
      message: `forbidden: User "system:anonymous" cannot get path "${path}"`,
    });
  }
});

test('a token that the API server doesn’t know is refused, on open paths too', async () => {
  const headers = { authorization: 'Bearer nonsense' };
  for (const path of ['/healthz', '/metrics']) {
    const { status, body } = await get(path, headers);
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ reason: 'Unauthorized', code: 401 });
  }
});

test('who has the right may read what it is for', async () => {
  const metrics = await get('/metrics', bearer(READER.user));
  expect(metrics.status).toBe(200);
  expect(metrics.body).toContain('workqueue_depth');
  expect((await get('/configz', bearer(READER.user))).status).toBe(403);
  expect((await get('/metrics', bearer(STRANGER.user))).status).toBe(403);
});

test('the page is for whoever may get its path, and for nobody who may read metrics only', async () => {
  for (const path of ['/ui', '/ui/', '/ui/overview.json']) {
    expect([path, (await get(path, bearer(READER.user))).status]).toEqual([path, 403]);
    expect([path, (await get(path)).status]).toEqual([path, 403]);
    expect(await get(path, bearer(VIEWER.user))).toEqual({ status: 200, body: `page ${path}` });
  }
  expect((await get('/metrics', bearer(VIEWER.user))).status).toBe(403);
  // neither another way to write a path, nor one that only begins like it
  expect((await get('/ui/../metrics', bearer(VIEWER.user))).status).toBe(403);
  expect((await get('/uix', bearer(VIEWER.user))).status).toBe(403);
});

test('paths that are always open don’t open the page', async () => {
  const shared = port;
  const options = serving();
  const open = await start({ ...options, authorization: { ...options.authorization, alwaysAllowPaths: ['/*', '/ui', '/ui/*'] } }, api);
  try {
    expect((await get('/metrics')).status).toBe(200);
    for (const path of ['/ui', '/ui/', '/ui/overview.json']) expect([path, (await get(path)).status]).toEqual([path, 403]);
  } finally {
    await open.server.stop();
    port = shared;
  }
});

test('plain HTTP has no page', async () => {
  const health = new HealthChecks(silentLogger);
  const plain = new OperatorServer({ bindAddress: '127.0.0.1', port: 0, health, metrics: new Metrics(), page: PAGE, logger: silentLogger });
  const where = await plain.start();
  try {
    expect((await fetch(`http://127.0.0.1:${where.port}/ui/`)).status).toBe(404);
  } finally {
    await plain.stop();
  }
});

test('system:masters may read everything', async () => {
  const admin = { authorization: `Bearer ${cluster.token}` };
  expect(JSON.parse((await get('/configz', admin)).body)).toEqual({ 'cloudcontrollermanager.config.k8s.io': { Generic: { Port: 10258 } } });
  expect(await get('/healthz/ping', admin)).toEqual({ status: 200, body: 'ok' });
  expect((await get('/metrics/slis', admin)).body).toMatch(/kubernetes_healthcheck\{name="ping",type="healthz"\} 1/);
});

test('a right that is given takes effect once the no has gone from the cache', async () => {
  await cluster.kubectl(['create', 'clusterrolebinding', 'stranger', '--clusterrole=metrics-reader', `--user=${STRANGER.user}`]);
  const deadline = Date.now() + 15_000;
  let status = 403;
  while (status !== 200 && Date.now() < deadline) ({ status } = await get('/metrics', bearer(STRANGER.user)));
  expect(status).toBe(200);
});

test('without anybody to ask, tokens say nothing and only open paths are served', async () => {
  const shared = port;
  const alone = await start(serving(), undefined);
  try {
    expect(await get('/healthz', { authorization: 'Bearer nonsense' })).toEqual({ status: 200, body: 'ok' });
    expect((await get('/metrics', { authorization: `Bearer ${cluster.token}` })).status).toBe(403);
  } finally {
    await alone.server.stop();
    port = shared;
  }
});

describe('cloud-controller-manager', () => {
  let program: ChildProcess;
  let log = '';
  let directory: string;
  let args: string[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cloud-operator-ccm-'));
    writeFileSync(join(directory, 'local.yaml'), 'local: {endpoint: "http://127.0.0.1:1"}');
    ccmPort = await freePort();
    args = [
      ...[
        '--cloud-provider=local',
        `--cloud-config=${join(directory, 'local.yaml')}`,
        '--controllers=*,-route',
        '--route-reconciliation-period=30s',
        '--allocate-node-cidrs',
        '--cluster-cidr=10.244.0.0/16',
      ],
      ...[`--kubeconfig=${cluster.kubeconfigPath}`, `--authentication-kubeconfig=${cluster.kubeconfigPath}`],
      ...[`--authorization-kubeconfig=${cluster.kubeconfigPath}`, '--bind-address=127.0.0.1', `--secure-port=${ccmPort}`],
      ...[`--cert-dir=${join(directory, 'certs')}`, `--state-store=directory`, `--state-directory=${join(directory, 'state')}`],
    ];
    program = await run(args);
    program.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await waitFor(async () => (await get('/healthz', {}, { port: ccmPort })).body === 'ok', { timeoutMs: 60_000, what: 'its server' });
  });
  afterAll(() => {
    program.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  async function run(flags: string[]): Promise<ChildProcess> {
    return spawn(process.execPath, [join(PROJECT_ROOT, 'bin', 'cloud-controller-manager.js'), ...flags], {
      env: { ...minimalEnvironment(), HOME: directory, CLOUD_OPERATOR_PULUMI: (await ensureTools(['pulumi'])).pulumi },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  test('brings the CRDs, as the leader of a cluster that has none', async () => {
    const established = ['wait', '--for=condition=established', 'crd', ...KINDS.map(({ plural }) => `${plural}.${GROUP}`), '--timeout=60s'];
    await waitFor(() => cluster.kubectl(['get', 'crd', `${KINDS.at(-1)?.plural}.${GROUP}`]).catch(() => undefined), {
      timeoutMs: 60_000,
      what: 'the CRDs',
    });
    await cluster.kubectl(established);
    const stored = JSON.parse(await cluster.kubectl(['get', 'crds', '-o', 'json'])) as { items: CustomResourceDefinition[] };
    for (const kind of KINDS) expect(stored.items.find(({ spec }) => spec.names.kind === kind.kind)).toMatchObject(toCRD(kind));
    await cluster.kubectl(['wait', '--for=create', 'cloudprovider/local', '--timeout=60s']);
  });

  test('shows its configuration, and its lease is upstream’s', async () => {
    const { status, body } = await get('/configz', { authorization: `Bearer ${cluster.token}` }, { port: ccmPort });
    expect([status, log.includes('panic')]).toEqual([200, false]);
    expect(JSON.parse(body)).toMatchObject({
      'cloudcontrollermanager.config.k8s.io': {
        Generic: { Controllers: ['*', '-route'], MinResyncPeriod: '12h0m0s', LeaderElection: { ResourceName: 'cloud-controller-manager' } },
        KubeCloudShared: { RouteReconciliationPeriod: '30s', ClusterName: 'kubernetes', CloudProvider: { Name: 'local' } },
      },
    });
    const lease = ['-n', 'kube-system', 'get', 'lease', 'cloud-controller-manager', '-o', 'jsonpath={.spec.holderIdentity}'];
    await waitFor(async () => /_[0-9a-f-]{36}$/.test(await cluster.kubectl(lease)), { timeoutMs: 30_000, what: 'the lease' });
  });

  test('runs the controllers that were asked for, with a health check and metrics each', async () => {
    const admin = { authorization: `Bearer ${cluster.token}` };
    const check = async (name: string): Promise<number> => (await get(`/healthz/${name}`, admin, { port: ccmPort })).status;
    await waitFor(async () => (await check('service-lb-controller')) === 200, { timeoutMs: 30_000, what: 'the service controller' });
    expect(await check('cloud-node-controller')).toBe(200);
    expect(await check('node-route-controller')).toBe(404);
    const verbose = (await get('/healthz?verbose', {}, { port: ccmPort })).body.split('\n');
    const controllers = ['cloud-node', 'cloud-node-lifecycle', 'node-ipam', 'service-lb'].map((name) => `[+]${name}-controller ok`);
    expect(verbose.sort()).toEqual(['', ...controllers, '[+]leaderElection ok', 'healthz check passed'].sort());
    const { body } = await get('/metrics', admin, { port: ccmPort });
    expect(body.match(/^running_managed_controllers\{.*$/gm)?.sort()).toEqual(
      ['cloud-node', 'cloud-node-lifecycle', 'nodeipam', 'service'].map(
        (name) => `running_managed_controllers{name="${name}",manager="cloud-controller-manager"} 1`,
      ),
    );
    expect(body).toContain('leader_election_master_status{name="cloud-controller-manager"} 1');
    expect(body).toMatch(/^workqueue_depth\{name="service"\} 0$/m);
    expect(body).toMatch(/^workqueue_depth\{name="Nodes"\} 0$/m);
    expect(body).toMatch(/^workqueue_depth\{name="cidrallocator_node"\} 0$/m);
    expect(body).toContain('node_ipam_controller_cirdset_max_cidrs{clusterCIDR="10.244.0.0/16"} 256');
    expect(body).toMatch(/^rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} [1-9]/m);
    expect(body).toMatch(/^kubernetes_build_info\{.*git_version="v\d/m);
  });

  test('keeps its certificate in --cert-dir', () => {
    const cert = new X509Certificate(readFileSync(join(directory, 'certs', 'cloud-controller-manager.crt')));
    expect(cert.checkHost('localhost')).toBe('localhost');
    expect(statSync(join(directory, 'certs', 'cloud-controller-manager.key')).mode & 0o777).toBe(0o600);
  });

  test('ends in order when it is told to, and gives its lease back', async () => {
    const code = new Promise<number | null>((resolve) => program.once('exit', resolve));
    program.kill('SIGTERM');
    expect(await code).toBe(0);
    const lease = ['-n', 'kube-system', 'get', 'lease', 'cloud-controller-manager', '-o', 'jsonpath={.spec.holderIdentity}'];
    expect(await cluster.kubectl(lease)).toBe('');
  });

  test.each<[string, string[], string]>([
    [
      'flags of node IPAM that don’t fit',
      ['--node-cidr-mask-size=8'],
      'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be',
    ],
    ['a Node outside of --cluster-cidr', [], 'cidr 172.16.0.0/24 is out the range of cluster cidr 10.244.0.0/16'],
  ])('ends with 255 for %s', async (_what, more, message) => {
    if (more.length === 0) await api.create(NODES, undefined, { metadata: { name: 'outside' }, spec: { podCIDR: '172.16.0.0/24' } });
    program = await run([...args, '--leader-elect=false', ...more]);
    let said = '';
    program.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await new Promise<number | null>((resolve) => program.once('close', resolve))).toBe(255);
    expect(said.trim().split('\n').at(-1)).toContain(message);
  });
});

describe('with CAs in the ConfigMap of the cluster', () => {
  const users = new CertificateAuthority('users');
  const proxies = new CertificateAuthority('proxies');
  const admin = { 'x-remote-user': 'somebody', 'x-remote-group': 'system:masters' };

  beforeAll(async () => {
    const data = {
      'client-ca-file': users.cert,
      'requestheader-client-ca-file': proxies.cert,
      'requestheader-allowed-names': '["front-proxy"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    };
    await expect(secure.reload()).resolves.toBeUndefined();
    const metadata = { name: 'extension-apiserver-authentication', namespace: 'kube-system' };
    await api.apply(
      CONFIG_MAPS,
      'kube-system/extension-apiserver-authentication',
      { metadata, data },
      { fieldManager: 'test', force: true },
    );
    await secure.reload();
  });

  test('a certificate names its user and groups', async () => {
    expect((await get('/metrics', {}, users.client(READER.user))).status).toBe(200);
    expect((await get('/configz', {}, users.client('anybody', ['some', 'system:masters']))).status).toBe(200);
    const { status, body } = await get('/configz', {}, users.client('anybody'));
    expect(status).toBe(403);
    expect(body).toContain('User \\"anybody\\" cannot get path');
  });

  test('a certificate of another CA names nobody', async () => {
    const { status, body } = await get('/metrics', {}, new CertificateAuthority('strangers').client(READER.user, ['system:masters']));
    expect(status).toBe(403);
    expect(body).toContain('system:anonymous');
  });

  test('a proxy that may name users does, and others don’t', async () => {
    expect((await get('/configz', admin, proxies.client('front-proxy'))).status).toBe(200);
    expect((await get('/configz', admin, proxies.client('other-proxy'))).status).toBe(403);
    expect((await get('/configz', admin, users.client('front-proxy'))).status).toBe(403);
    expect((await get('/configz', admin)).status).toBe(403);
  });
});
