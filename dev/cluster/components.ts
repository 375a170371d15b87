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
  port: number;
  credentials: Credentials;
  /** Without it there is no ServiceAccount in a namespace, so Pods must be admitted without one. */
  controllerManager: boolean;
  /** Policy and log of who asked for what; absent = none is kept. */
  audit?: { policy: string; log: string };
}

export function apiServerArguments({ port, credentials, controllerManager, audit }: ApiServerOptions): string[] {
  return [
    `--etcd-servers=${ETCD_SOCKET}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${credentials.certificateDirectory}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=RBAC',
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

/** @param nodeLifecycle false where Nodes are mere objects that nobody posts heartbeats for */
export function controllerManagerArguments(kubeconfig: string, nodeLifecycle: boolean): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${[...CONTROLLERS, ...(nodeLifecycle ? [NODE_LIFECYCLE] : [])].join(',')}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--profiling=false',
  ];
}
