import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { cloudConfigMap } from '../cloud-config';
import { controllerManagerPod, migrationConfigMap } from '../controller-manager';
import { extensionConfigMap, extensionPod } from '../extension';
import { labels, OPERATOR_NAME, workloadOf, type Settings } from '../options';
import { podSpec } from '../pod';
import { servedPorts } from '../serving';

/**
 * What runs the operator, from the plain classes of the API: the friendlier ones set defaults (no token, a start-up probe, a pull policy, required
 * anti-affinity, hashed selectors) that an operator would have to undo one by one.
 */
export class OperatorChart extends Chart {
  constructor(scope: Construct, settings: Settings) {
    super(scope, 'operator', { disableResourceNameHashes: true });
    const { namespace, provider, extension, controllerManager, network } = settings;
    const shared = { namespace, labels: labels('operator') };
    if (provider !== undefined) new k8s.KubeConfigMap(this, 'config', cloudConfigMap(provider, shared));
    const extensionProps = extension && extensionConfigMap(extension, shared);
    if (extensionProps !== undefined) new k8s.KubeConfigMap(this, 'extension', extensionProps);
    const migrationProps = controllerManager && migrationConfigMap(controllerManager, shared);
    if (migrationProps !== undefined) new k8s.KubeConfigMap(this, 'migration', migrationProps);
    if (network === 'Pod') this.networkPolicy(settings);
    const workload = workloadOf(settings);
    if (workload === 'StaticPod') return;
    if (workload === 'Deployment') this.disruptionBudget(settings);
    this.workload(settings);
  }

  private workload(settings: Settings): void {
    const { namespace, replicas, network } = settings;
    const metadata = { name: OPERATOR_NAME, namespace, labels: labels('operator') };
    const selector = { matchLabels: labels('operator') };
    // On the host's network a new Pod can only take the port when an old one has gone.
    const [surge, unavailable] = network === 'Host' ? [0, 1] : [1, 0];
    const rollingUpdate = { maxUnavailable: k8s.IntOrString.fromNumber(unavailable), maxSurge: k8s.IntOrString.fromNumber(surge) };
    const strategy = { type: 'RollingUpdate', rollingUpdate };
    const template = { metadata: podMetadata(settings), spec: podSpec(settings) };
    if (workloadOf(settings) === 'DaemonSet') {
      new k8s.KubeDaemonSet(this, 'daemon-set', { metadata, spec: { selector, updateStrategy: strategy, template } });
    } else {
      new k8s.KubeDeployment(this, 'deployment', { metadata, spec: { replicas, selector, strategy, template } });
    }
  }

  /** A drain takes one Pod after the other, and waits for none that is not well anyway. */
  private disruptionBudget({ namespace }: Settings): void {
    new k8s.KubePodDisruptionBudget(this, 'disruption-budget', {
      metadata: { name: OPERATOR_NAME, namespace, labels: labels('operator') },
      spec: {
        maxUnavailable: k8s.IntOrString.fromNumber(1),
        selector: { matchLabels: labels('operator') },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    });
  }

  /**
   * Who may come in: whoever asks for health, metrics or webhooks, which have an authorization of their own. What goes out is not limited: the
   * addresses of clouds are not known beforehand. On the host's network a policy has no effect.
   */
  private networkPolicy(settings: Settings): void {
    const ports = servedPorts(settings).map(({ port }) => ({ port: k8s.IntOrString.fromNumber(port), protocol: 'TCP' }));
    new k8s.KubeNetworkPolicy(this, 'network-policy', {
      metadata: { name: OPERATOR_NAME, namespace: settings.namespace, labels: labels('operator') },
      spec: { podSelector: { matchLabels: labels('operator') }, policyTypes: ['Ingress'], ingress: [{ ports }] },
    });
  }
}

/** The file for the folder of a kubelet on the control plane; the API server only gets a mirror of it. */
export class StaticPodChart extends Chart {
  constructor(scope: Construct, settings: Settings) {
    super(scope, 'static-pod', { disableResourceNameHashes: true });
    const metadata = { name: OPERATOR_NAME, namespace: settings.namespace, ...podMetadata(settings) };
    new k8s.KubePod(this, 'pod', { metadata, spec: podSpec(settings) });
  }
}

function podMetadata({ extension, controllerManager }: Settings): k8s.ObjectMeta {
  const annotations = {
    ...(extension && extensionPod(extension).annotations),
    ...(controllerManager && controllerManagerPod(controllerManager).annotations),
  };
  return { labels: labels('operator'), ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
}
