import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLOUD_ROUTES } from '../../../crds';
import { OPERATOR_IDENTITY, OPERATOR_NAMESPACE } from '../../../dev/cluster/operator';
import type { LoopAccount } from '../../../operator/flags/controllers';
import type { Lease } from '../../../operator/kube/lease';
import { LEASES } from '../../../operator/kube/object';
import { LOOP_ACCOUNTS, permissions, permissionsOfAccount } from '../../../operator/permissions';
import { manifests } from '../../../synth/manifests';
import { settingsOf } from '../../../synth/options';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster, type AuditEvent } from '../../harness/operator-cluster';
import { isSettled, Scene, serviceOf, type StoredRoute } from './scene';

/** Somebody else holds this Lease at first, which the migrated loops need too. */
const MIGRATION = { namespace: 'kube-system', name: 'moving' };
const MIGRATED: LoopAccount = 'service-controller';
const CONFIGURATION = `
kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1
leaderName: ${MIGRATION.name}
resourceLock: leases
controllerLeaders: [{name: service-lb-controller, component: '*'}]
`;
const FLAGS = ['--use-service-account-credentials', '--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16', '--node-cidr-mask-size=24'];
const RBAC = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-accounts-'));
const migrationFile = join(directory, 'migration.yaml');
let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ started: false, audit: true, provider: { routePeriod: '1s' } });
  writeFileSync(migrationFile, CONFIGURATION);
  const held = { holderIdentity: 'another', leaseDurationSeconds: 3600, renewTime: `${new Date().toISOString().slice(0, -1)}000Z` };
  await cluster.kube.create<Lease>(LEASES, MIGRATION.namespace, { metadata: { name: MIGRATION.name }, spec: held });
  const health = { host: '127.0.0.1', port: 10258 };
  const controllerManager = { workload: 'DaemonSet', flags: FLAGS, health, serviceAccountCredentials: true } as const;
  const leaderElection = { namespace: 'kube-system', name: 'cloud-controller-manager', migration: MIGRATION.name };
  const roles = manifests({ namespace: OPERATOR_NAMESPACE, leaderElection, controllerManager }).filter(({ object }) =>
    RBAC.includes(object.kind),
  );
  await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], roles.map(({ yaml }) => yaml).join('---\n'));
  const election = ['--leader-elect=true', '--enable-leader-migration', `--leader-migration-config=${migrationFile}`];
  await cluster.startOperator([...FLAGS, ...election, '--node-monitor-period=300ms', '--node-deletion-grace=1s']);
  scene = new Scene(cluster);
}, OPERATOR_CLUSTER_START_MS);

afterAll(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * Rights that this run needs only now and then: for an Event that is repeated, after a conflict, when something failed or went meanwhile. A CloudRoute
 * of a Node that is gone is deleted by the loop or by the garbage collector, whoever comes first.
 */
const SELDOM = ['/events create', '/events patch', '/nodes get', '/services get', 'cloud-operator.dev/cloudroutes delete'];

const userOf = (account: LoopAccount | undefined): string =>
  account === undefined ? OPERATOR_IDENTITY.user : `system:serviceaccount:kube-system:${account}`;

/** `cloud-operator.dev/cloudroutes patch`, of everything that one identity has asked for. */
function usedBy(account: LoopAccount | undefined): string[] {
  const rights = requestsOf(account).flatMap(({ verb, objectRef }) => {
    if (objectRef === undefined || objectRef.resource === 'selfsubjectaccessreviews') return [];
    const { apiGroup = '', resource, subresource } = objectRef;
    return [`${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${verb}`];
  });
  return [...new Set(rights)].sort();
}

function requestsOf(account: LoopAccount | undefined): AuditEvent[] {
  return cluster.auditLog().filter(({ user }) => user.username === userOf(account));
}

/**
 * The same, of what the table lets it do. Finalizers are asked for by an admission plugin, not by a request; the `create` of an apply is asked for
 * when the object is new, and logged as a patch.
 */
function allowedTo(account: LoopAccount | undefined): string[] {
  const table = permissions({ ...settingsOf({ namespace: OPERATOR_NAMESPACE }), serviceAccountCredentials: true });
  const rights = permissionsOfAccount(table, account).flatMap(({ group, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
  );
  const asked = (right: string): boolean => !right.includes('/finalizers ') && !/^cloud-operator.dev.* create$/.test(right);
  return [...new Set(rights)].filter(asked).sort();
}

/** Requests that change something, of the loops that wait for the second Lease. */
function migratedWrites(): AuditEvent[] {
  return requestsOf(MIGRATED).filter(
    ({ verb, objectRef }) => !['get', 'list', 'watch'].includes(verb) && objectRef?.resource !== 'selfsubjectaccessreviews',
  );
}

test('all loops do their work as ServiceAccounts of their own, which are made; those of a leader migration once they have the second Lease', async () => {
  await cluster.apply(serviceOf('web'));
  for (const name of ['n1', 'n2', 'n3']) await scene.addNode(name);
  for (const name of ['n1', 'n2', 'n3']) await scene.initialized(name);
  await scene.until('the routes of all Nodes', async () => {
    const routes = await Promise.all(
      ['n1', 'n2', 'n3'].map(async (name) => {
        const cidr = (await scene.node(name))?.spec.podCIDR;
        return cidr === undefined ? undefined : scene.route(`${name}-${cidr.replace('/', '-')}`);
      }),
    );
    return routes.every((route) => route !== undefined && isSettled(route));
  });
  // The others have long begun.
  expect(migratedWrites()).toEqual([]);
  await cluster.kube.patch(LEASES, `${MIGRATION.namespace}/${MIGRATION.name}`, 'merge', { spec: { holderIdentity: '' } });
  await scene.ready('web');
  await scene.published('web');
  await scene.deleteServices('web');
  await scene.setReady('n3', false);
  const gone = (await cluster.resources.list('instances')).find(({ name }) => name === 'n3');
  await cluster.resources.remove('instances', gone?.id ?? '', {});
  await scene.gone('Node n3', () => scene.node('n3'));
  await scene.gone('its CloudRoute', async () => (await scene.list<StoredRoute>(CLOUD_ROUTES)).find(({ spec }) => spec.nodeName === 'n3'));
  const made = await cluster.kubectl(['-n', 'kube-system', 'get', 'serviceaccounts', ...LOOP_ACCOUNTS, '-o', 'name']);
  expect(made.trim().split('\n')).toEqual(LOOP_ACCOUNTS.map((account) => `serviceaccount/${account}`));
});

const IDENTITIES: [string, LoopAccount | undefined][] = [
  ['the operator itself', undefined],
  ...LOOP_ACCOUNTS.map((account): [string, LoopAccount] => [account, account]),
];

test.each(IDENTITIES)('%s has asked for nothing that the table does not let it do, and was refused nothing', (_title, account) => {
  const used = usedBy(account);
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((right) => !allowedTo(account).includes(right))).toEqual([]);
  expect(requestsOf(account).filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0))).toEqual([]);
});

test.each(LOOP_ACCOUNTS)('%s needs all that the table lets it do', (account) => {
  const used = usedBy(account);
  expect(allowedTo(account).filter((right) => !used.includes(right) && !SELDOM.includes(right))).toEqual([]);
});

// Contract 7.8: a user agent for each client, which shows in the API server's audit log.
test.each<[LoopAccount, string[]]>([
  ['node-controller', ['cloud-node-controller', 'cloud-node-lifecycle-controller', 'cidrAllocator']],
  ['service-controller', ['service-controller']],
  ['route-controller', ['route_controller']],
])('%s says which of its loops is asking', (account, components) => {
  const agents = new Set(requestsOf(account).map(({ userAgent = '' }) => userAgent.replace(/^cloud-operator\/[^/]+\/?/, '')));
  expect([...agents]).toEqual(expect.arrayContaining(components));
});
