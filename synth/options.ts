/** What may differ between two installations. */
export interface ManifestOptions {
  /** Namespace of the operator. Default `cloud-operator-system`. */
  namespace?: string;
  /** Image of the operator, best by digest. */
  image?: string;
  /** Default 2: one leads, one stands by. */
  replicas?: number;
  /** What runs the operator as `run`. Default `Deployment`. */
  workload?: Workload;
  /** Whose network the Pods use. Default `Host`: they run before there is any other. `Pod` is for a Deployment as `run`. */
  network?: 'Host' | 'Pod';
  /** Where the Pods reach the API server; absent = at the Service `kubernetes`, which needs what routes to Services. */
  apiServer?: Endpoint;
  /** Metrics over HTTPS for the cluster, and what Prometheus and Grafana need to use them. Default false. */
  monitoring?: boolean;
  /** The operator's page, over HTTPS, and who may see it. Default false. */
  ui?: boolean;
  /** The default CloudProvider to make where there is none; absent = people write the CloudProvider objects. */
  provider?: FlagProvider;
  /** The extension in code; absent = none. */
  extension?: Extension;
  /** The lease that is held by the leader. Default: upstream's, `cloud-controller-manager` in `kube-system`. */
  leaderElection?: LeaseName;
  /** Run as `controller-manager`, in place of a cloud-controller-manager; absent = as `run`. */
  controllerManager?: ControllerManager;
  /** Beside somebody's own manifest of a cloud-controller-manager, which only changes its image: all but the Pods. */
  dropIn?: DropIn;
  /** Namespace of the Secrets that hold the stacks' state; made when it is not the operator's own. Default: the operator's. */
  stateNamespace?: string;
  /** What protects the data keys of the state. Default: the Secret that they are in. */
  secretsProvider?: string;
  /** Admission webhooks that the operator hosts; absent = none. */
  webhooks?: Webhooks;
  /** Only the CRDs. Default false. */
  crdsOnly?: boolean;
}

/** A CloudProvider given by flags. */
export interface FlagProvider {
  /** Name of the cloud: `--cloud-provider`. */
  kind: string;
  /** Text of the file `--cloud-config`: YAML or JSON with the fields of CloudProvider.spec. Names Secrets, holds none. */
  config: string;
}

/** One file, which a ConfigMap brings into the Pods, or a module that the image has: a path in it, or the name of a package. */
export type Extension = { file: string; text: string } | { module: string };

export interface LeaseName {
  namespace: string;
  name: string;
  /** Name of the second lease, in the same namespace, where controllers migrate between managers. */
  migration?: string;
}

/** A DaemonSet runs on the control-plane Nodes; a static Pod where somebody puts its file into a kubelet's folder. */
export type Workload = 'Deployment' | 'DaemonSet' | 'StaticPod';

export interface Endpoint {
  host: string;
  port: number;
}

/** How upstream's manifests run a cloud-controller-manager. */
export interface ControllerManager {
  workload: Workload;
  /** Flags of upstream's, passed on as they are; those of the leases too. */
  flags: string[];
  /** Where these flags say that health is served, over HTTPS. */
  health: Endpoint;
  /** Whether they say `--use-service-account-credentials`: each loop's rights are then those of its own ServiceAccount. */
  serviceAccountCredentials: boolean;
  /** Text of the file `--leader-migration-config`; absent = none is given. */
  migrationConfig?: string;
}

/** A manifest that is not ours, as far as rights depend on it. */
export interface DropIn {
  /** The one that its Pods work as. It exists. */
  serviceAccount: { namespace: string; name: string };
  /** Whether its flags say `--use-service-account-credentials`. */
  serviceAccountCredentials: boolean;
}

/** As `--webhooks` of the operator has them. */
export type WebhookName = 'persistent-volume-label';

/** Webhooks, and by what the API server believes the certificate of their Secret. */
export interface Webhooks {
  names: WebhookName[];
  /** PEM of the CA that signed what somebody puts into the Secret, or cert-manager makes and injects both. */
  trust: { caBundle: string } | 'cert-manager';
  /** On which the operator serves them. */
  port: number;
}

type Absent = 'webhooks' | 'provider' | 'extension' | 'secretsProvider' | 'controllerManager' | 'dropIn' | 'apiServer';
export type Settings = Required<Omit<ManifestOptions, Absent>> & Pick<ManifestOptions, Absent>;

/** Name of the operator's Deployment, ServiceAccount and roles. */
export const OPERATOR_NAME = 'cloud-operator';

/** Of health and metrics; upstream's. */
export const HEALTH_PORT = 10258;

const DEFAULTS = {
  namespace: 'cloud-operator-system',
  image: 'cloud-operator:dev',
  replicas: 2,
  workload: 'Deployment' as const,
  network: 'Host' as const,
  monitoring: false,
  ui: false,
  leaderElection: { namespace: 'kube-system', name: 'cloud-controller-manager' },
  crdsOnly: false,
};

/** Fills in the defaults. */
export function settingsOf(options: ManifestOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ManifestOptions;
  const settings = { ...DEFAULTS, ...given };
  const { namespace } = settings;
  return { stateNamespace: namespace, ...settings };
}

/** What runs the operator. */
export function workloadOf({ workload, controllerManager }: Settings): Workload {
  return controllerManager?.workload ?? workload;
}

/** Whether health and metrics are served over HTTPS, on an address that others reach too. */
export function servesHttps({ controllerManager, network, monitoring, ui }: Settings): boolean {
  return controllerManager !== undefined || monitoring || ui || network === 'Pod';
}

/** Labels of an object of ours. None is a label that a GitOps tool tracks by. */
export function labels(component: string): Record<string, string> {
  return { 'app.kubernetes.io/name': OPERATOR_NAME, 'app.kubernetes.io/component': component };
}
