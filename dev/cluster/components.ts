import type { Credentials } from './credentials';

/** Unix sockets, relative to the control plane's folder: only its owner can open it, there is no port, and no path is too long. */
const ETCD_SOCKET = 'unix://etcd.sock';
const ETCD_PEER_SOCKET = 'unix://etcd-peer.sock';

/**
 * What a control plane without kubelets needs: a namespace's content is deleted with it, objects go with their owner, namespaces
 * have a ServiceAccount, and aggregated ClusterRoles (view, edit, admin) are filled.
 */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
];

/** What Pods on real machines need besides. */
const POD_CONTROLLERS = [
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'root-ca-certificate-publisher-controller',
  'taint-eviction-controller',
];

/** @param fsync false only where losing the data in a power failure is fine: tests */
export function etcdArguments(fsync: boolean): string[] {
  return [
    '--name=default',
    '--data-dir=etcd',
    `--listen-client-urls=${ETCD_SOCKET}`,
    `--listen-peer-urls=${ETCD_PEER_SOCKET}`,
    // Nobody else ever joins, so nobody dials these; they only have to look like addresses.
    '--advertise-client-urls=http://localhost:2379',
    '--initial-advertise-peer-urls=http://localhost:2380',
    '--initial-cluster=default=http://localhost:2380',
    '--auto-compaction-retention=1h',
    '--log-level=warn',
    ...(fsync ? [] : ['--unsafe-no-fsync']),
  ];
}

export interface ApiServerOptions {
  address: string;
  port: number;
  credentials: Credentials;
  /** Without it there is no ServiceAccount in a namespace, so Pods must be admitted without one. */
  controllerManager: boolean;
  /** Policy and log of who asked for what; absent = none is kept. */
  audit?: { policy: string; log: string };
}

export function apiServerArguments({ address, port, credentials, controllerManager, audit }: ApiServerOptions): string[] {
  return [
    `--etcd-servers=${ETCD_SOCKET}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    '--kubelet-preferred-address-types=InternalIP', // nobody here resolves the names of Nodes
    `--secure-port=${port}`,
    `--cert-dir=${credentials.certificateDirectory}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=RBAC',
    // Some clusters have it, and it asks for rights that nothing else does.
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    // Both families, so that a Service may ask for both; one that doesn't ask gets the first.
    '--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    '--endpoint-reconciler-type=none', // a loopback address may not stand in the kubernetes Service's endpoints
    '--allow-privileged=true',
    '--profiling=false',
    ...(controllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(audit === undefined ? [] : [`--audit-policy-file=${audit.policy}`, `--audit-log-path=${audit.log}`]),
  ];
}

/** Judges Nodes by their heartbeats: condition Ready=Unknown, and the taints not-ready and unreachable. */
const NODE_LIFECYCLE = 'node-lifecycle-controller';

export interface ControllerManagerOptions {
  kubeconfig: string;
  /** false where Nodes are mere objects that nobody posts heartbeats for. */
  nodeLifecycle: boolean;
  /** The CA that Pods trust; absent where no kubelet runs any. */
  podCA?: string;
}

export function controllerManagerArguments({ kubeconfig, nodeLifecycle, podCA }: ControllerManagerOptions): string[] {
  const more = [...(nodeLifecycle ? [NODE_LIFECYCLE] : []), ...(podCA === undefined ? [] : POD_CONTROLLERS)];
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${[...CONTROLLERS, ...more].join(',')}`,
    ...(podCA === undefined ? [] : [`--root-ca-file=${podCA}`]),
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--profiling=false',
  ];
}
