import { APPROVAL_POLICY, GROUP, KINDS } from '../crds';
import { ACCOUNT_NAMESPACE, accountOf, LOOP_ACCOUNTS, type ControllerName, type LoopAccount } from './flags/controllers';

export { ACCOUNT_NAMESPACE, LOOP_ACCOUNTS };

/** One thing that one part of the operator does at the API server. */
export interface Permission {
  /** The part that does it. */
  part: Loop | 'cloud' | 'updates' | 'leader election' | 'events' | 'service accounts' | 'serving';
  /** `caches`: the loop needs it, but the caches that all parts share do it. */
  by?: 'caches';
  why: string;
  group: string;
  resources: string[];
  verbs: Verb[];
  /** Only these objects. */
  names?: string[];
  /** Only in this namespace; absent = in the whole cluster. */
  namespace?: string;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

type Loop = keyof typeof CONTROLLER_OF;

const CONTROLLER_OF = {
  service: 'service-lb-controller',
  'cloud-node': 'cloud-node-controller',
  'cloud-node-lifecycle': 'cloud-node-lifecycle-controller',
  route: 'node-route-controller',
  'node-ipam': 'node-ipam-controller',
} satisfies Record<string, ControllerName>;
const LOOPS = Object.keys(CONTROLLER_OF) as Loop[];

const FOLLOW: Verb[] = ['list', 'watch'];
const READ: Verb[] = ['get', ...FOLLOW];
/** Server-side apply asks for `patch`, and for `create` where the object is new; owner references need `delete` on the object itself. */
const OWN: Verb[] = [...READ, 'create', 'patch', 'delete'];
/** The same, of objects that caches follow. */
const WRITE: Verb[] = ['get', 'create', 'patch', 'delete'];
const TELLS = {
  why: 'tells people; Events of Nodes go to the namespace default',
  group: '',
  resources: ['events'],
  verbs: ['create', 'patch'] as Verb[],
};
const CRD_NAMES = KINDS.map(({ plural }) => `${plural}.${GROUP}`);

/** Where an installation keeps what is its own. */
export interface PermissionPlaces {
  /** Of the operator. */
  namespace: string;
  /** Of the Secrets that hold the stacks' state. */
  stateNamespace: string;
  /** The lease, and the second one of a leader migration, in the same namespace. */
  leaderElection: { namespace: string; name: string; migration?: string };
  /** `--use-service-account-credentials`; default false. */
  serviceAccountCredentials?: boolean;
}

/** Everything that the operator may do, and nothing else: the one table that the roles are made from, and that it checks its own rights by. */
export function permissions(settings: PermissionPlaces): Permission[] {
  const accounts = settings.serviceAccountCredentials === true ? accountPermissions() : [];
  return [...loopPermissions(), ...cloudPermissions(settings), ...statePermissions(settings), ...commonPermissions(settings), ...accounts];
}

/** What the HTTPS server asks the API server about a request's sender. The cluster's own roles have it (contract 7.8), so that no role of ours does. */
export function authenticationPermissions({ looksUpCAs }: { looksUpCAs: boolean }): Permission[] {
  const lookUp: Permission = {
    part: 'serving',
    why: 'whose certificates count (Role extension-apiserver-authentication-reader)',
    group: '',
    resources: ['configmaps'],
    verbs: ['get'],
    names: ['extension-apiserver-authentication'],
    namespace: 'kube-system',
  };
  const why = 'whose a token is (ClusterRole system:auth-delegator)';
  const tokens: Permission = { part: 'serving', why, group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'] };
  return looksUpCAs ? [lookUp, tokens] : [tokens];
}

/** What it asks about what a sender may do. */
export function authorizationPermissions(): Permission[] {
  const why = 'what somebody may do (ClusterRole system:auth-delegator)';
  return [{ part: 'serving', why, group: 'authorization.k8s.io', resources: ['subjectaccessreviews'], verbs: ['create'] }];
}

/** The controller that a row is for; undefined = the operator as a whole. */
export function controllerOf({ part }: Pick<Permission, 'part'>): ControllerName | undefined {
  return part in CONTROLLER_OF ? CONTROLLER_OF[part as Loop] : undefined;
}

/** With `--use-service-account-credentials`: the rows of one ServiceAccount; undefined = what is left for the operator's own. */
export function permissionsOfAccount(table: readonly Permission[], account: LoopAccount | undefined): Permission[] {
  return table.filter((row) => {
    const controller = row.by === 'caches' ? undefined : controllerOf(row);
    return (controller === undefined ? undefined : accountOf(controller)) === account;
  });
}

/** What upstream's loops may do (contract 7.8), less what ours never do, plus the kinds that they write. */
function loopPermissions(): Permission[] {
  return [
    { part: 'service', by: 'caches', why: 'follows Services', group: '', resources: ['services'], verbs: FOLLOW },
    { part: 'service', by: 'caches', why: 'by whose labels a cloud may choose', group: '', resources: ['namespaces'], verbs: FOLLOW },
    { part: 'service', why: 'looks before it tells of an end', group: '', resources: ['services'], verbs: ['get'] },
    { part: 'service', why: 'finalizer and status', group: '', resources: ['services/status'], verbs: ['patch'] },
    // OwnerReferencesPermissionEnforcement asks for it where an owner's deletion is blocked: routes and mirrors of Nodes block none.
    { part: 'service', why: 'blocks the deletion of Services', group: '', resources: ['services/finalizers'], verbs: ['update'] },
    { part: 'service', why: 'writes what is wanted', group: GROUP, resources: ['cloudloadbalancers'], verbs: WRITE },
    { part: 'cloud-node', by: 'caches', why: 'follows Nodes', group: '', resources: ['nodes'], verbs: FOLLOW },
    { part: 'cloud-node', why: 'initializes Nodes', group: '', resources: ['nodes'], verbs: ['get', 'patch'] },
    { part: 'cloud-node', why: 'addresses', group: '', resources: ['nodes/status'], verbs: ['patch'] },
    { part: 'cloud-node-lifecycle', by: 'caches', why: 'follows Nodes', group: '', resources: ['nodes'], verbs: FOLLOW },
    { part: 'cloud-node-lifecycle', why: 'taints and deletes Nodes', group: '', resources: ['nodes'], verbs: ['get', 'patch', 'delete'] },
    { part: 'node-ipam', by: 'caches', why: 'follows Nodes', group: '', resources: ['nodes'], verbs: FOLLOW },
    { part: 'node-ipam', why: 'gives Nodes their pod CIDRs', group: '', resources: ['nodes'], verbs: ['get', 'list', 'patch'] },
    { part: 'route', by: 'caches', why: 'follows Nodes', group: '', resources: ['nodes'], verbs: FOLLOW },
    { part: 'route', why: 'NetworkUnavailable', group: '', resources: ['nodes/status'], verbs: ['patch'] },
    { part: 'route', why: 'writes what is wanted', group: GROUP, resources: ['cloudroutes'], verbs: WRITE },
    ...LOOPS.map((part): Permission => ({ part, ...TELLS })),
  ];
}

/** With `--use-service-account-credentials`: the operator makes the ServiceAccounts of its loops where they are absent, and their tokens. */
function accountPermissions(): Permission[] {
  const accounts = { part: 'service accounts' as const, group: '', namespace: ACCOUNT_NAMESPACE };
  const names = [...LOOP_ACCOUNTS];
  return [
    { ...accounts, why: 'makes them', resources: ['serviceaccounts'], verbs: ['create'] },
    { ...accounts, why: 'whether they are there', resources: ['serviceaccounts'], verbs: ['get'], names },
    { ...accounts, why: 'works as them', resources: ['serviceaccounts/token'], verbs: ['create'], names },
  ];
}

function cloudPermissions({ namespace }: PermissionPlaces): Permission[] {
  const inputs = ['cloudproviders', 'cloudloadbalancers', 'cloudroutes'];
  const outputs = ['cloudstacks', 'cloudinstances'];
  const all = [...inputs, ...outputs];
  return [
    { part: 'cloud', why: 'reads what is wanted, puts our finalizer on', group: GROUP, resources: inputs, verbs: [...READ, 'patch'] },
    { part: 'cloud', why: 'the CloudProvider of the flags', group: GROUP, resources: ['cloudproviders'], verbs: ['create'] },
    { part: 'cloud', why: 'writes stacks and mirrors', group: GROUP, resources: outputs, verbs: OWN },
    { part: 'cloud', why: 'status', group: GROUP, resources: all.map((plural) => `${plural}/status`), verbs: ['patch'] },
    { part: 'cloud', why: 'targets and instances', group: '', resources: ['nodes'], verbs: READ },
    { part: 'cloud', why: 'the cluster id', group: '', resources: ['namespaces'], verbs: ['get'], names: ['kube-system'] },
    {
      part: 'cloud',
      why: 'waits for the kinds, and holds deletes while they go',
      group: 'apiextensions.k8s.io',
      resources: ['customresourcedefinitions'],
      verbs: ['get'],
      names: CRD_NAMES,
    },
    {
      part: 'cloud',
      why: 'whether approvals are guarded',
      group: 'admissionregistration.k8s.io',
      resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
      verbs: ['get'],
      names: [APPROVAL_POLICY],
    },
    { part: 'cloud', why: 'credentials', group: '', resources: ['secrets'], verbs: ['get'], namespace },
  ];
}

/** A list of Secrets can't be limited to those of one type: that is why state may live in a namespace of its own. */
function statePermissions({ stateNamespace }: PermissionPlaces): Permission[] {
  const secrets = { part: 'updates' as const, group: '', resources: ['secrets'], namespace: stateNamespace };
  return [
    { ...secrets, why: 'reads stacks and their data key', verbs: ['get', 'list'] },
    { ...secrets, why: 'writes stacks', verbs: ['create', 'patch', 'delete'] },
  ];
}

function commonPermissions({ leaderElection }: PermissionPlaces): Permission[] {
  const { name, migration } = leaderElection;
  const lease = {
    part: 'leader election',
    group: 'coordination.k8s.io',
    resources: ['leases'],
    namespace: leaderElection.namespace,
  } as const;
  return [
    // a request to create names no object yet, so that it cannot be limited to one
    { ...lease, resources: ['leases'], why: 'the first leader makes the lease', verbs: ['create'] },
    {
      ...lease,
      resources: ['leases'],
      why: 'holds it',
      verbs: ['get', 'update'],
      names: migration === undefined ? [name] : [name, migration],
    },
    { part: 'events', ...TELLS },
  ];
}
