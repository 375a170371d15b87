import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../dev/cluster/free-port';
import { minimalEnvironment, ProcessGuard, type GuardedProcess } from '../../../dev/cluster/process-guard';
import { compiled } from '../../../operator/entry';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import type { Lease } from '../../../operator/kube/lease';
import { EVENTS, LEASES, type KubeObject } from '../../../operator/kube/object';
import { ensureTools } from '../../../tools/ensure';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { waitFor } from '../../harness/wait-for';

/**
 * Hand-over from an upstream manager and back, with leader migration. The other side is a real kube-controller-manager under the
 * Lease of a cloud-controller-manager: it elects with client-go, and migrates with upstream's own code.
 */

const MAIN = 'kube-system/cloud-controller-manager';
const MIGRATION = 'kube-system/moving';
const LEASE_SECONDS = 6;
const ELECTION = [
  `--leader-elect-lease-duration=${LEASE_SECONDS}s`,
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=400ms',
  '--enable-leader-migration',
];
const CONFIGURATION = `
kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1beta1
leaderName: moving
resourceLock: leases
controllerLeaders:
  - {name: service-lb-controller, component: '*'}
`;
/** Generous, for a busy machine. */
const SOON_MS = 40_000;
jest.setTimeout(150_000);

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-handover-'));
const migrationFile = join(directory, 'migration.yaml');
let cluster: TestCluster;
let kube: KubeClient;
let guard: ProcessGuard;
let tools: Record<string, string>;
let port: number;

beforeAll(async () => {
  writeFileSync(migrationFile, CONFIGURATION);
  tools = await ensureTools(['kube-controller-manager', 'pulumi']);
  cluster = await startTestCluster({ controllerManager: false });
  kube = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
  guard = ProcessGuard.open();
  port = await freePort();
}, CLUSTER_START_MS);

afterAll(async () => {
  await guard?.close();
  await kube?.close();
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(name: string, command: string, args: string[]): Promise<GuardedProcess> {
  const common = [`--kubeconfig=${cluster.kubeconfigPath}`, '--secure-port=0', `--leader-migration-config=${migrationFile}`];
  return guard.start({
    ...{ name, command, args: [...args, ...common, ...ELECTION], cwd: directory, graceMs: 15_000 },
    environment: { ...minimalEnvironment(), HOME: directory, CLOUD_OPERATOR_PULUMI: tools.pulumi ?? '' },
    log: join(directory, `${name}.log`),
  });
}

function startOurs(): Promise<GuardedProcess> {
  const flags = ['--cloud-provider=external', `--port=${port}`, '--controllers=cloud-node,service'];
  return start('ours', process.execPath, [compiled('operator/cli/main'), 'controller-manager', ...flags]);
}

/** What counts is how it leads; the second controller is what its migration waits for, with its key. */
function startUpstream(): Promise<GuardedProcess> {
  const key = `--service-account-private-key-file=${join(cluster.directory, 'pki', 'service-account.key')}`;
  const flags = [
    `--leader-elect-resource-name=${MAIN.split('/')[1]}`,
    '--controllers=ttl-after-finished-controller,serviceaccount-token-controller',
  ];
  return start('upstream', tools['kube-controller-manager'] ?? '', [...flags, key]);
}

const until = <T>(what: string, condition: () => Promise<T | undefined | false>): Promise<T> =>
  waitFor(condition, { what, timeoutMs: SOON_MS, pollMs: 100 });

async function leaseOf(name: string): Promise<NonNullable<Lease['spec']>> {
  return (await kube.get<Lease>(LEASES, name))?.spec ?? {};
}

async function holderOf(name: string): Promise<string> {
  return (await leaseOf(name)).holderIdentity ?? '';
}

/** Whoever holds both Leases and is not `other`. */
function holderOfBoth(other = ''): Promise<string> {
  return until('one holder of both Leases', async () => {
    const [main, migration] = await Promise.all([holderOf(MAIN), holderOf(MIGRATION)]);
    return main !== '' && main !== other && main === migration ? main : undefined;
  });
}

/** The metrics' lines of ours that matter here; undefined while it doesn't listen. */
async function shown(): Promise<Record<'main' | 'migration' | 'nodes' | 'services', string> | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  const text = (await response?.text()) ?? '';
  const value = (series: string): string => text.match(new RegExp(`^${series} (\\d)$`, 'm'))?.[1] ?? '';
  if (response === undefined) return undefined;
  return {
    main: value('leader_election_master_status\\{name="cloud-controller-manager"\\}'),
    migration: value('leader_election_master_status\\{name="moving"\\}'),
    nodes: value('running_managed_controllers\\{name="cloud-node",manager="cloud-controller-manager"\\}'),
    services: value('running_managed_controllers\\{name="service",manager="cloud-controller-manager"\\}'),
  };
}

const STANDBY = { main: '0', migration: '0', nodes: '', services: '' };
const LEADS = { main: '1', migration: '1', nodes: '1', services: '1' };

function untilShown(wanted: Awaited<ReturnType<typeof shown>>): Promise<true> {
  return until(JSON.stringify(wanted), async () => {
    const now = await shown();
    if (JSON.stringify(now) === JSON.stringify(wanted)) return true;
    throw new Error(`it shows ${JSON.stringify(now)}`);
  });
}

let ours: GuardedProcess;
let upstream: GuardedProcess;

test('from a running upstream manager: we stand by, and take over both Leases when it has gone', async () => {
  upstream = await startUpstream();
  const theirs = await holderOfBoth();
  expect(theirs).toMatch(new RegExp(`^${hostname()}_[0-9a-f-]{36}$`));
  ours = await startOurs();
  await untilShown(STANDBY);
  await upstream.stop();
  expect(await holderOf(MAIN)).toBe(theirs); // it gives nothing back
  expect(await holderOfBoth(theirs)).toMatch(new RegExp(`^${hostname()}_[0-9a-f-]{36}$`));
  await untilShown(LEADS);
});

test('and back: given both Leases at once, with the loops at rest before', async () => {
  const identity = await holderOf(MAIN);
  const transitions = (await leaseOf(MAIN)).leaseTransitions ?? 0;
  upstream = await startUpstream();
  await until('the other one to wait', () =>
    Promise.resolve(readFileSync(upstream.log, 'utf8').includes('Attempting to acquire leader lease')),
  );
  expect(await holderOf(MAIN)).toBe(identity);
  const exit = await ours.stop();
  expect(exit).toEqual({ code: 0, signal: null });
  // Nobody renews any more, and yet no Lease has to run out.
  await holderOfBoth(identity);
  expect((await leaseOf(MAIN)).leaseTransitions).toBe(transitions + 1);
  const told = await until('the Events', async () => {
    const events = await kube.list<KubeObject & { reason: string; message: string; source: { component: string } }>(EVENTS);
    const own = events.filter(({ message }) => message.startsWith(identity));
    return own.length >= 4 && own;
  });
  expect(told.map(({ reason, message, source }) => [source.component, reason, message.replace(`${identity} `, '')]).sort()).toEqual([
    ['cloud-controller-manager', 'LeaderElection', 'became leader'],
    ['cloud-controller-manager', 'LeaderElection', 'became leader'],
    ['cloud-controller-manager', 'LeaderElection', 'stopped leading'],
    ['cloud-controller-manager', 'LeaderElection', 'stopped leading'],
  ]);
});

test('while another manager holds the second Lease only the loops of the first one run; losing it ends the process', async () => {
  await upstream.stop();
  const kept = { holderIdentity: 'kube-controller-manager-of-old', leaseDurationSeconds: 3600 };
  await kube.patch(LEASES, MIGRATION, 'merge', { spec: kept });
  await kube.patch(LEASES, MAIN, 'merge', { spec: { holderIdentity: '' } });
  ours = await startOurs();
  await untilShown({ main: '1', migration: '0', nodes: '1', services: '' });
  await kube.patch(LEASES, MIGRATION, 'merge', { spec: { holderIdentity: '' } });
  await untilShown(LEADS);
  await kube.patch(LEASES, MIGRATION, 'merge', { spec: kept });
  expect((await ours.ended).code).toBe(1);
  expect(readFileSync(ours.log, 'utf8')).toContain(`leaderelection lost: somebody else holds ${MIGRATION}`);
  expect(await holderOf(MIGRATION)).toBe(kept.holderIdentity);
  expect(await holderOf(MAIN)).toBe(''); // given back: the rest ended in order
});
