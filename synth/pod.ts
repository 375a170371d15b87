import { k8s } from 'cdk8s-plus-27';
import { NODE_FLAGS } from '../operator/base/node-flags';
import { cloudConfigPod } from './cloud-config';
import { controllerManagerPod } from './controller-manager';
import { extensionPod } from './extension';
import { labels, OPERATOR_NAME, servesHttps, workloadOf, type Settings } from './options';
import { podArgs } from './pod-args';
import { healthEndpoint, hostPorts } from './serving';
import { staticPodAccess } from './static-pod';
import { webhooksPod } from './webhooks';

const UID = 65532;
const SCRATCH = '/tmp';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const NOT_READY = 'node.kubernetes.io/not-ready';
/** What the image is for. */
const LINUX = { 'kubernetes.io/os': 'linux' };

/** The operator's Pod. All of it that a namespace of pod security `restricted` would refuse is the host's network with its ports, probes at its loopback, and a static Pod's file of the host. */
export function podSpec(settings: Settings): k8s.PodSpec {
  const { network } = settings;
  return {
    ...accountOf(settings),
    enableServiceLinks: false,
    priorityClassName: workloadOf(settings) === 'Deployment' ? 'system-cluster-critical' : 'system-node-critical',
    // Nodes get their network from what this Pod does.
    ...(network === 'Host' ? { hostNetwork: true } : {}),
    // The cluster's DNS may wait for what this Pod does.
    dnsPolicy: 'Default',
    terminationGracePeriodSeconds: 60,
    ...placeOf(settings),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: UID,
      runAsGroup: UID,
      fsGroup: UID,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(settings)],
    volumes: parts(settings).flatMap(({ volumes }) => volumes),
  };
}

function accountOf(settings: Settings): Pick<k8s.PodSpec, 'serviceAccountName' | 'automountServiceAccountToken'> {
  if (workloadOf(settings) === 'StaticPod') return { automountServiceAccountToken: false };
  return { serviceAccountName: OPERATOR_NAME, automountServiceAccountToken: true };
}

/** A static Pod is where its file is, whatever taints its Node has. */
function placeOf(settings: Settings): Pick<k8s.PodSpec, 'tolerations' | 'nodeSelector' | 'affinity'> {
  switch (workloadOf(settings)) {
    case 'StaticPod':
      return { tolerations: [{ operator: 'Exists' }] };
    case 'DaemonSet':
      return { tolerations: tolerations(settings), nodeSelector: { ...LINUX, [CONTROL_PLANE]: '' } };
    case 'Deployment':
      return { tolerations: tolerations(settings), nodeSelector: LINUX, affinity: affinity() };
  }
}

/**
 * The taints of a cluster that has just begun: nothing else runs before the operator has taken them away. Without a network a Pod can't use it.
 * A Node without a network is not ready either, for as long as it takes: who doesn't tolerate that is evicted after five minutes
 * (DefaultTolerationSeconds). From a Node that is unreachable the operator goes: another one has to take over.
 */
function tolerations({ network }: Settings): k8s.Toleration[] {
  const onHost = network === 'Host';
  const withoutNetwork = onHost ? [NOT_READY, 'node.kubernetes.io/network-unavailable'] : [];
  const toRun = ['node.cloudprovider.kubernetes.io/uninitialized', ...withoutNetwork, CONTROL_PLANE];
  const toStay = onHost ? [NOT_READY] : [];
  return [...toRun.map((key) => tolerated(key, 'NoSchedule')), ...toStay.map((key) => tolerated(key, 'NoExecute'))];
}

function tolerated(key: string, effect: 'NoSchedule' | 'NoExecute'): k8s.Toleration {
  return { key, operator: 'Exists', effect };
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
  const ports = hostPorts(settings);
  return {
    name: 'operator',
    image: settings.image,
    imagePullPolicy: 'IfNotPresent',
    args: podArgs(settings),
    ...(ports.length === 0 ? {} : { ports }),
    env: environment(settings),
    livenessProbe: { ...probe('/livez', settings), initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz', settings), periodSeconds: 5 },
    resources: {
      requests: { cpu: k8s.Quantity.fromString('100m'), memory: k8s.Quantity.fromString('512Mi') },
      limits: { memory: k8s.Quantity.fromString('1536Mi') },
    },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: parts(settings).flatMap(({ mounts }) => mounts),
  };
}

function environment({ apiServer }: Settings): k8s.EnvVar[] {
  return [
    // The engine and its plugins write below HOME and TMPDIR; nothing there is needed after the Pod.
    { name: 'HOME', value: SCRATCH },
    { name: 'TMPDIR', value: SCRATCH },
    { name: 'NODE_OPTIONS', value: NODE_FLAGS.join(' ') },
    // They win over those that the kubelet sets.
    ...(apiServer === undefined
      ? []
      : [
          { name: 'KUBERNETES_SERVICE_HOST', value: apiServer.host },
          { name: 'KUBERNETES_SERVICE_PORT', value: String(apiServer.port) },
        ]),
  ];
}

function probe(path: string, settings: Settings): k8s.Probe {
  const { host, port } = healthEndpoint(settings);
  const scheme = servesHttps(settings) ? 'HTTPS' : 'HTTP';
  return {
    httpGet: { ...(host === undefined ? {} : { host }), path, port: k8s.IntOrString.fromNumber(port), scheme },
    timeoutSeconds: 5,
  };
}

/** What is mounted, and why. */
function parts(settings: Settings): { volumes: k8s.Volume[]; mounts: k8s.VolumeMount[] }[] {
  const { provider, extension, controllerManager, webhooks } = settings;
  return [
    { volumes: [{ name: 'tmp', emptyDir: {} }], mounts: [{ name: 'tmp', mountPath: SCRATCH }] },
    ...(provider === undefined ? [] : [cloudConfigPod(provider)]),
    ...(extension === undefined ? [] : [extensionPod(extension)]),
    ...(controllerManager === undefined ? [] : [controllerManagerPod(controllerManager)]),
    ...(webhooks === undefined ? [] : [webhooksPod(webhooks)]),
    ...(workloadOf(settings) === 'StaticPod' ? [staticPodAccess(servesHttps(settings))] : []),
  ];
}
