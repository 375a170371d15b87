import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { NODE_FLAGS } from '../../operator/base/node-flags';
import { controllerManagerPod, migrationConfigMap } from '../controller-manager';
import { extensionConfigMap, extensionPod } from '../extension';
import { labels, OPERATOR_NAME, type Settings } from '../options';
import { webhooksPod } from '../webhooks';

const HEALTH_PORT = 10258;
const UID = 65532;
const SCRATCH = '/tmp';
const CONFIG_MAP = 'cloud-operator-cloud-config';
const CONFIG_FOLDER = '/etc/cloud-operator';
const CONFIG_FILE = 'cloud.yaml';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

/**
 * The operator's Deployment or DaemonSet, from the plain classes of the API: the friendlier ones set defaults (no token, a start-up probe, a pull
 * policy, required anti-affinity, hashed selectors) that an operator would have to undo one by one.
 */
export class OperatorChart extends Chart {
  constructor(scope: Construct, settings: Settings) {
    super(scope, 'operator', { disableResourceNameHashes: true });
    const { namespace, provider, extension, controllerManager } = settings;
    if (provider !== undefined) {
      const metadata = { name: CONFIG_MAP, namespace, labels: labels('operator') };
      new k8s.KubeConfigMap(this, 'config', { metadata, data: { [CONFIG_FILE]: provider.config } });
    }
    const extensionProps = extension && extensionConfigMap(extension, { namespace, labels: labels('operator') });
    if (extensionProps !== undefined) new k8s.KubeConfigMap(this, 'extension', extensionProps);
    const migrationProps = controllerManager && migrationConfigMap(controllerManager, { namespace, labels: labels('operator') });
    if (migrationProps !== undefined) new k8s.KubeConfigMap(this, 'migration', migrationProps);
    this.workload(settings);
  }

  private workload(settings: Settings): void {
    const { namespace, replicas, controllerManager } = settings;
    const metadata = { name: OPERATOR_NAME, namespace, labels: labels('operator') };
    const selector = { matchLabels: labels('operator') };
    // On the host's network a new Pod can only take the port when an old one has gone.
    const rollingUpdate = { maxUnavailable: k8s.IntOrString.fromNumber(1), maxSurge: k8s.IntOrString.fromNumber(0) };
    const strategy = { type: 'RollingUpdate', rollingUpdate };
    const template = { metadata: podMetadata(settings), spec: podSpec(settings) };
    if (controllerManager?.workload === 'DaemonSet') {
      new k8s.KubeDaemonSet(this, 'daemon-set', { metadata, spec: { selector, updateStrategy: strategy, template } });
    } else {
      new k8s.KubeDeployment(this, 'deployment', { metadata, spec: { replicas, selector, strategy, template } });
    }
  }
}

function podMetadata({ extension, controllerManager }: Settings): k8s.ObjectMeta {
  const annotations = {
    ...(extension && extensionPod(extension).annotations),
    ...(controllerManager && controllerManagerPod(controllerManager).annotations),
  };
  return { labels: labels('operator'), ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
}

function podSpec(settings: Settings): k8s.PodSpec {
  return {
    serviceAccountName: OPERATOR_NAME,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    priorityClassName: 'system-cluster-critical',
    // Nodes get their network from what this Pod does.
    hostNetwork: true,
    dnsPolicy: 'Default',
    terminationGracePeriodSeconds: 60,
    tolerations: tolerations(),
    ...(settings.controllerManager?.workload === 'DaemonSet' ? { nodeSelector: { [CONTROL_PLANE]: '' } } : { affinity: affinity() }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: UID,
      runAsGroup: UID,
      fsGroup: UID,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(settings)],
    volumes: volumes(settings),
  };
}

/** The taints of a cluster that has just begun: nothing else runs before the operator has taken them away. */
function tolerations(): k8s.Toleration[] {
  return [
    'node.cloudprovider.kubernetes.io/uninitialized',
    'node.kubernetes.io/not-ready',
    'node.kubernetes.io/network-unavailable',
    CONTROL_PLANE,
  ].map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
}

/** Control-plane Nodes where there are some, and not two replicas on one Node where it can be helped. */
function affinity(): k8s.Affinity {
  const controlPlane = { matchExpressions: [{ key: CONTROL_PLANE, operator: 'Exists' }] };
  const term = { labelSelector: { matchLabels: labels('operator') }, topologyKey: 'kubernetes.io/hostname' };
  return {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, preference: controlPlane }] },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
  };
}

function container(settings: Settings): k8s.Container {
  return {
    name: 'operator',
    image: settings.image,
    imagePullPolicy: 'IfNotPresent',
    args: args(settings),
    // The engine and its plugins write below HOME and TMPDIR; nothing there is needed after the Pod.
    env: [
      { name: 'HOME', value: SCRATCH },
      { name: 'TMPDIR', value: SCRATCH },
      { name: 'NODE_OPTIONS', value: NODE_FLAGS.join(' ') },
    ],
    livenessProbe: { ...probe('/livez', settings), initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz', settings), periodSeconds: 5 },
    resources: {
      requests: { cpu: k8s.Quantity.fromString('100m'), memory: k8s.Quantity.fromString('512Mi') },
      limits: { memory: k8s.Quantity.fromString('1536Mi') },
    },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: volumeMounts(settings),
  };
}

/** As `run`, the health server listens on the host's loopback, where only the Node's own kubelet reaches it. */
function probe(path: string, { controllerManager }: Settings): k8s.Probe {
  const { host, port } = controllerManager?.health ?? { host: '127.0.0.1', port: HEALTH_PORT };
  const scheme = controllerManager === undefined ? 'HTTP' : 'HTTPS';
  return { httpGet: { host, path, port: k8s.IntOrString.fromNumber(port), scheme }, timeoutSeconds: 5 };
}

function volumes({ provider, extension, controllerManager, webhooks }: Settings): k8s.Volume[] {
  return [
    { name: 'tmp', emptyDir: {} },
    ...(provider === undefined ? [] : [{ name: 'config', configMap: { name: CONFIG_MAP } }]),
    ...(extension === undefined ? [] : extensionPod(extension).volumes),
    ...(controllerManager === undefined ? [] : controllerManagerPod(controllerManager).volumes),
    ...(webhooks === undefined ? [] : webhooksPod(webhooks).volumes),
  ];
}

function volumeMounts({ provider, extension, controllerManager, webhooks }: Settings): k8s.VolumeMount[] {
  return [
    { name: 'tmp', mountPath: SCRATCH },
    ...(provider === undefined ? [] : [{ name: 'config', mountPath: CONFIG_FOLDER, readOnly: true }]),
    ...(extension === undefined ? [] : extensionPod(extension).mounts),
    ...(controllerManager === undefined ? [] : controllerManagerPod(controllerManager).mounts),
    ...(webhooks === undefined ? [] : webhooksPod(webhooks).mounts),
  ];
}

function args(settings: Settings): string[] {
  const { namespace, stateNamespace, secretsProvider, leaderElection, provider, extension, controllerManager, webhooks } = settings;
  const protector = secretsProvider === undefined ? [] : [`--secrets-provider=${secretsProvider}`];
  // They are applied by whoever applies these.
  const state = ['--install-crds=false', '--state-store=cluster', `--state-namespace=${stateNamespace}`, ...protector];
  const lease = [`--leader-elect-resource-namespace=${leaderElection.namespace}`, `--leader-elect-resource-name=${leaderElection.name}`];
  const cloud = provider === undefined ? [] : [`--cloud-provider=${provider.kind}`, `--cloud-config=${CONFIG_FOLDER}/${CONFIG_FILE}`];
  const extended = [
    ...(extension === undefined ? [] : extensionPod(extension).args),
    ...(webhooks === undefined ? [] : webhooksPod(webhooks).args),
  ];
  if (controllerManager !== undefined) {
    // Upstream wants the flag: "external" leaves the clouds to CloudProvider objects.
    const clouds = provider === undefined ? ['--cloud-provider=external'] : cloud;
    const { args: upstreams } = controllerManagerPod(controllerManager);
    return ['controller-manager', `--namespace=${namespace}`, ...state, ...clouds, ...extended, ...upstreams];
  }
  return ['run', `--namespace=${namespace}`, `--port=${HEALTH_PORT}`, ...state, ...lease, ...cloud, ...extended];
}
